package cause_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/signatures"
)

// frameOf is one frame of a traceback with its source line.
func frameOf(path, function, source string) string {
	return fmt.Sprintf("  File %q, line 10, in %s\n    %s\n", path, function, source)
}

// tracebackOf is a traceback of these frames that ends in an error.
func tracebackOf(err string, frames ...string) string {
	return "Traceback (most recent call last):\n" + strings.Join(frames, "") + err + "\n"
}

// oomText is the allocator's message; pools is empty where the clause is not printed.
func oomText(requested, allocated, pools, unallocated string) string {
	if pools != "" {
		pools = "with " + pools + " allocated in private pools (e.g., CUDA Graphs), "
	}
	return fmt.Sprintf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %s. GPU 0 has a total capacity of 79.11 GiB of which 1.02 GiB is free. Including non-PyTorch memory, this process has 78.08 GiB memory in use. Of the allocated memory %s is allocated by PyTorch, %sand %s is reserved by PyTorch but unallocated.", requested, allocated, pools, unallocated)
}

// Frames of programs, as they stand in tracebacks.
var (
	inUser       = frameOf("/app/train.py", "step", "loss = model(batch)")
	inUserGraph  = frameOf("/app/graphs.py", "capture", "with torch.cuda.graph(g):")
	inUserPool   = frameOf("/app/graphs.py", "capture", "with torch.cuda.graph(g, pool=self.pool):")
	inCaptureEnd = frameOf("/opt/env/lib/python3.12/site-packages/torch/cuda/graphs.py", "capture_end", "super().capture_end()")
	inCallables  = frameOf("/opt/env/lib/python3.12/site-packages/torch/cuda/graphs.py", "make_graphed_callables", "outputs = func(*args)")
	inTrees      = frameOf("/opt/env/lib/python3.12/site-packages/torch/_inductor/cudagraph_trees.py", "_record", "static_outputs = model(inputs)")
	inCompiled   = frameOf("/opt/env/lib/python3.12/site-packages/torch/_inductor/codecache.py", "call", "return self.current_callable(inputs)")
	inBackward   = frameOf("/opt/env/lib/python3.12/site-packages/torch/_tensor.py", "backward", "torch.autograd.backward(")
	inVllm       = frameOf("/opt/env/lib/python3.12/site-packages/vllm/v1/worker/gpu_model_runner.py", "capture_model", "self._capture_cudagraphs(")
	inVllmRun    = frameOf("/opt/env/lib/python3.12/site-packages/vllm/v1/worker/gpu_worker.py", "execute_model", "output = self.model_runner.execute_model(")
	inVllmV0     = frameOf("/opt/env/lib/python3.10/site-packages/vllm/worker/model_runner.py", "capture_model", "graph_runner.capture(**capture_inputs)")
	inSglang     = frameOf("/sgl-workspace/sglang/python/sglang/srt/model_executor/cuda_graph_runner.py", "capture_one_batch_size", "run_once()")
	inSglangRun  = frameOf("/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", "run_batch", "self.tp_worker.forward_batch_generation(")
	inTrtllm     = frameOf("/opt/env/lib/python3.12/site-packages/tensorrt_llm/_torch/pyexecutor/cuda_graph_runner.py", "capture", "with torch.cuda.graph(graph, pool=self.memory_pool):")
	inTgi        = frameOf("/opt/server/text_generation_server/models/flash_causal_lm.py", "cuda_graph_warmup", "with torch.cuda.graph(graph, pool=MEM_POOL):")
	inLmdeploy   = frameOf("/opt/env/lib/python3.9/site-packages/lmdeploy/pytorch/backends/cuda/graph_runner.py", "capture", "with torch.cuda.graph(self._graph, pool=self.pool):")
	inDeepspeed  = frameOf("/opt/env/lib/python3.10/site-packages/deepspeed/inference/engine.py", "_create_cuda_graph", "with get_accelerator().capture_to_graph(self._cuda_graphs):")
	inMegatron   = frameOf("/opt/megatron/core/transformer/cuda_graphs.py", "create_fwd_graph", "self.fwd_graph_outputs = self.func(*args)")
	inMegaRun    = frameOf("/opt/megatron/core/transformer/transformer_layer.py", "forward", "output = self.mlp(x)")
	inIteration  = frameOf("/opt/megatron/core/full_cuda_graph.py", "__call__", "with torch.cuda.graph(g, pool=get_pool()):")
	inTe         = frameOf("/opt/env/lib/python3.12/site-packages/transformer_engine/pytorch/graph.py", "_make_graphed_callables", "outputs = func(*args)")
	inTrainer    = frameOf("/opt/env/lib/python3.12/site-packages/transformers/trainer.py", "training_step", "self.accelerator.backward(loss)")
	inBatching   = frameOf("/opt/env/lib/python3.12/site-packages/transformers/generation/continuous_batching/continuous_api.py", "_generation_step", "self.model_runner.compute_batch(model)")
	inGenerate   = frameOf("/app/serve.py", "answer", "out = model.generate(**inputs)")
	inPrepared   = frameOf("/opt/env/lib/python3.12/site-packages/accelerate/utils/operations.py", "forward", "return model_forward(*args)")
	inLightning  = frameOf("/opt/env/lib/python3.12/site-packages/lightning/pytorch/trainer/trainer.py", "fit", "call._call_and_handle_interrupt(")
	inZero       = frameOf("/opt/env/lib/python3.12/site-packages/deepspeed/runtime/engine.py", "backward", "self.optimizer.backward(loss)")
)

// Lines that tell of versions and settings.
const (
	advice2024      = "Possible solutions:\n1. disable cuda graph by --disable-cuda-graph\n2. set --mem-fraction-static to a smaller value\n3. disable torch compile by not using --enable-torch-compile\n"
	advice2025      = "Possible solutions:\n1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)\n2. set --cuda-graph-max-bs to a smaller value (e.g., 16)\n"
	advice2026      = "Possible solutions:\n1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)\n2. set --cuda-graph-max-bs-decode to a smaller value (e.g., 16)\n"
	advicePiecewise = "Possible solutions:\n1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)\n2. set --piecewise-cuda-graph-max-tokens to a smaller value (e.g., 512)\n"
	advicePrefill   = "Possible suggestions:\n1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)\n2. set --cuda-graph-max-bs-prefill to a smaller value (e.g., 512)\n"
	distinct        = "CUDAGraph supports dynamic shapes by recording a new graph for each distinct input size. Recording too many CUDAGraphs may lead to extra overhead. We have observed 51 distinct sizes. Please consider the following options for better performance: a) padding inputs to a few fixed number of shapes; or b) set torch._inductor.config.triton.cudagraph_skip_dynamic_graphs=True. Set torch._inductor.config.triton.cudagraph_dynamic_shape_warn_limit=None to silence this warning.\n"
	dropped         = "[eval 2] graphs dropped, recapture for 4 shapes\n"
	recording       = "[__cudagraphs] Recording function 3 of graph recording id 17\n"
	forbidden       = "torch.AcceleratorError: CUDA error: operation not permitted when stream is capturing"
	legacy          = "torch.AcceleratorError: CUDA error: operation would make the legacy stream depend on a capturing blocking stream"
	broken          = "torch.AcceleratorError: CUDA error: operation failed due to a previous error during capture"
	refused         = "[11:42:07.318][139912224974400][CUDA][E] Returning 900 (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) from cuMemHostAlloc\n"
	driver          = "RuntimeError: CUDA error: out of memory"
	stale           = `RuntimeError: it->second->use_count > 0 INTERNAL ASSERT FAILED at "/pytorch/c10/cuda/CUDACachingAllocator.cpp":2225, please report a bug to PyTorch. `
	underway        = `RuntimeError: captures_underway.empty() INTERNAL ASSERT FAILED at "/pytorch/c10/cuda/CUDACachingAllocator.cpp":3010, please report a bug to PyTorch. `
	watchdog        = "[rank0]:[E624 22:12:40.310223437 ProcessGroupNCCL.cpp:2057] [PG ID 2 PG GUID 3 Rank 0] Process group watchdog thread terminated with exception: CUDA error: operation not permitted when stream is capturing\n"
	overwritten     = "RuntimeError: Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run. Stack trace: "
)

func serving(version string) string { return "INFO vLLM API server version " + version + "\n" }

// fixTests are small logs of one failure in one stack and version, and the fixes that
// they must get; "asks x" where none fits.
var fixTests = []struct{ name, log, want string }{
	// ---- a capture runs out of memory
	{"raw: idle in other pools", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inUserGraph), "cuda-graph-capture-oom: share-graph-pool"},
	{"raw: captures before it", captures(10, 14, 18) + tracebackOf(oomText("2.00 GiB", "76.00 GiB", "0.90 GiB", "200.00 MiB"), inUserGraph), "cuda-graph-capture-oom: share-graph-pool"},
	{"raw: one large graph, nothing to share", tracebackOf(oomText("2.00 GiB", "77.00 GiB", "300.00 MiB", "120.00 MiB"), inUserGraph), "cuda-graph-capture-oom: room-for-capture"},
	{"raw: it shares a pool already", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inUserPool), "cuda-graph-capture-oom: bound-captures"},
	{"raw: the driver is out of memory", tracebackOf(driver, inUserGraph, inCaptureEnd), "cuda-graph-capture-oom: fewer-graphs"},
	{"raw: the driver is out of memory, and the pool is shared", tracebackOf(driver, inUserPool, inCaptureEnd), "cuda-graph-capture-oom: fewer-graphs"},
	{"callables: idle in the pools of other calls", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inUser, inCallables), "cuda-graph-capture-oom: share-callables-pool"},
	{"callables: PyTorch 2.4 in the log", "PyTorch version: 2.4.1+cu121\n" + captures(10, 14, 18) + tracebackOf(strings.Replace(oomText("2.00 GiB", "76.00 GiB", "", "200.00 MiB"), "torch.Out", "torch.cuda.Out", 1), inUser, inCallables), "cuda-graph-capture-oom: share-callables-pool"},
	{"callables: PyTorch 2.2 has no pool=", "PyTorch version: 2.2.0+cu121\n" + captures(10, 14, 18) + tracebackOf(strings.Replace(oomText("2.00 GiB", "76.00 GiB", "", "200.00 MiB"), "torch.Out", "torch.cuda.Out", 1), inUser, inCallables), "cuda-graph-capture-oom: one-callables-call"},
	{"callables: a release that nobody knows", captures(10, 14, 18) + tracebackOf(strings.Replace(oomText("2.00 GiB", "76.00 GiB", "", "200.00 MiB"), "torch.Out", "torch.cuda.Out", 1), inUser, inCallables), "cuda-graph-capture-oom: one-callables-call"},

	{"vLLM of no known version", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inVllm), "cuda-graph-capture-oom: vllm-any-graph-budget"},
	{"vLLM 0.8 takes the sizes in a configuration only", serving("0.8.4") + tracebackOf(driver, inVllm, inCaptureEnd), "cuda-graph-capture-oom: vllm-any-graph-budget"},
	{"vLLM 0.11", serving("0.11.0") + tracebackOf(driver, inVllm, inCaptureEnd), "cuda-graph-capture-oom: vllm-old-graph-budget"},
	{"vLLM 0.13", serving("0.13.0") + tracebackOf(driver, inVllm, inCaptureEnd), "cuda-graph-capture-oom: vllm-graph-budget"},
	{"a candidate of vLLM 0.12 may be either", serving("0.12.0rc1") + tracebackOf(driver, inVllm, inCaptureEnd), "cuda-graph-capture-oom: vllm-any-graph-budget"},
	{"vLLM 0.26 counts its graphs", serving("0.26.1rc1.dev926+g018fe847a") + tracebackOf(driver, inVllm, inCaptureEnd), "cuda-graph-capture-oom: vllm-counted-graph-budget"},
	{"vLLM says that it counts its graphs", "INFO CUDA graph memory profiling is enabled (default since v0.21.0). The current --gpu-memory-utilization=0.90 is equivalent to --gpu-memory-utilization=0.88 without CUDA graph memory profiling.\n" + tracebackOf(driver, inVllm, inCaptureEnd), "cuda-graph-capture-oom: vllm-counted-graph-budget"},
	{"two versions that disagree", serving("0.11.0") + "[pip3] vllm==0.13.0\n" + tracebackOf(driver, inVllm, inCaptureEnd), "cuda-graph-capture-oom: vllm-any-graph-budget"},
	{"vLLM's old engine", tracebackOf(oomText("256.00 MiB", "20.00 GiB", "64.00 MiB", "40.00 MiB"), inVllmV0), "cuda-graph-capture-oom: vllm-v0-graph-budget"},
	{"vLLM with compiled pieces is vLLM", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "1.10 GiB", "200.00 MiB"), inVllm, inCompiled, inTrees), "cuda-graph-capture-oom: vllm-any-graph-budget"},
	{"vLLM whose ranks captured different things", "[rank0]: Registering 4270 cuda graph addresses\n[rank1]: Registering 0 cuda graph addresses\n" + rank(1, tracebackOf(driver, inVllm, inCaptureEnd)), "cuda-graph-capture-oom: asks what-each-rank-captured"},

	{"SGLang of 2024", tracebackOf(driver, inSglang, inCaptureEnd) + tracebackOf("Exception: Capture cuda graph failed: CUDA error: out of memory\n"+advice2024, inSglangRun), "cuda-graph-capture-oom: sglang-graph-budget"},
	{"SGLang of 2025", tracebackOf(driver, inSglang, inCaptureEnd) + tracebackOf("Exception: Capture CUDA graph failed: CUDA error: out of memory\n"+advice2025, inSglangRun), "cuda-graph-capture-oom: sglang-graph-budget"},
	{"SGLang of 2026", tracebackOf(driver, inSglang, inCaptureEnd) + tracebackOf("Exception: Capture CUDA graph failed: CUDA error: out of memory\n"+advice2026, inSglangRun), "cuda-graph-capture-oom: sglang-decode-budget"},
	{"SGLang of 2026, by its arguments", "server_args=ServerArgs(model_path='/m', tp_size=1, mem_fraction_static=0.9, cuda_graph_max_bs_decode=None)\n" + tracebackOf(driver, inSglang, inCaptureEnd), "cuda-graph-capture-oom: sglang-decode-budget"},
	{"SGLang's piecewise graphs", tracebackOf(driver, inSglang, inCaptureEnd) + tracebackOf("Exception: Piecewise CUDA graph failed\n"+advicePiecewise, inSglangRun), "cuda-graph-capture-oom: sglang-piecewise-budget"},
	{"SGLang's prefill graphs", tracebackOf(driver, inSglang, inCaptureEnd) + tracebackOf("Exception: Breakable CUDA graph failed.\n"+advicePrefill, inSglangRun), "cuda-graph-capture-oom: sglang-prefill-budget"},

	{"TensorRT-LLM before 1.0", "[TensorRT-LLM] TensorRT-LLM version: 0.20.0\n" + tracebackOf(driver, inTrtllm), "cuda-graph-capture-oom: trtllm-kv-budget"},
	{"TensorRT-LLM 1.0", "[TensorRT-LLM] TensorRT-LLM version: 1.0.0\n" + tracebackOf(driver, inTrtllm), "cuda-graph-capture-oom: trtllm-graph-budget"},
	{"TensorRT-LLM of no known version", tracebackOf(driver, inTrtllm), "cuda-graph-capture-oom: trtllm-graph-budget"},
	{"Text Generation Inference", tracebackOf(driver, inTgi), "cuda-graph-capture-oom: tgi-graph-budget"},
	{"LMDeploy", tracebackOf(driver, inLmdeploy), "cuda-graph-capture-oom: lmdeploy-graph-budget"},
	{"DeepSpeed inference", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "1.10 GiB", "200.00 MiB"), inDeepspeed, inCaptureEnd), "cuda-graph-capture-oom: deepspeed-no-graph"},

	{"Megatron", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inMegatron), "cuda-graph-capture-oom: megatron-narrow-capture"},
	{"Megatron that names its scope", "  cuda_graph_impl ................................. local\n  cuda_graph_scope ................................ full\n" + tracebackOf(oomText("2.00 GiB", "76.00 GiB", "1.10 GiB", "200.00 MiB"), inMegatron), "cuda-graph-capture-oom: megatron-narrow-capture"},
	{"Megatron that names its modules", "  cuda_graph_impl ................................. local\n  cuda_graph_modules .............................. ['attn', 'mlp']\n" + tracebackOf(oomText("2.00 GiB", "76.00 GiB", "1.10 GiB", "200.00 MiB"), inMegatron), "cuda-graph-capture-oom: megatron-fewer-modules"},
	{"Megatron's whole iteration", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "1.10 GiB", "200.00 MiB"), inIteration), "cuda-graph-capture-oom: megatron-no-full-iteration"},
	{"Megatron without weak references", "Could not create weak ref for tensor with dtype torch.float8_e4m3fn; keeping strong ref with a potential memory overhead.\n" + tracebackOf(oomText("2.00 GiB", "76.00 GiB", "1.10 GiB", "200.00 MiB"), inMegatron), "cuda-graph-capture-oom: megatron-weak-references"},
	{"Transformer Engine under Megatron is Megatron", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inMegaRun, inTe), "cuda-graph-capture-oom: megatron-narrow-capture"},
	{"Transformer Engine", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inUser, inTe), "cuda-graph-capture-oom: te-one-call"},

	{"torch.compile", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inUser, inTrees), "cuda-graph-capture-oom: inductor-fewer-graphs"},
	{"torch.compile in the Trainer", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inTrainer, inPrepared, inTrees), "cuda-graph-capture-oom: trainer-compile-mode"},
	{"torch.compile in Accelerate", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inUser, inPrepared, inTrees), "cuda-graph-capture-oom: accelerate-compile-mode"},
	{"torch.compile in Lightning", tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inLightning, inTrees), "cuda-graph-capture-oom: lightning-compile-mode"},
	{"the frames show who captures, whatever else the process prints", "[Rank 0] (after 2 iterations) memory (MB) | allocated: 40123.45 | max allocated: 52011.10 | reserved: 61000.00 | max reserved: 61000.00\n" + tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inUserGraph), "cuda-graph-capture-oom: share-graph-pool"},

	// ---- pools hold what an allocation outside lacked
	{"growth, raw", tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inUser), "cuda-graph-pool-growth: share-graph-pool"},
	{"growth, nothing failed", captures(10, 14, 18, 22), "cuda-graph-pool-growth: share-graph-pool"},
	{"growth, and nobody knows which of several processes captures with SGLang", "[rank0]: x\n[rank1]: y\nCapture cuda graph end. Time elapsed: 12.31 s. mem usage=1.20 GB. avail mem=8.70 GB.\n" + rank(1, tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inUser)), "cuda-graph-pool-growth: asks per-pool-bytes"},
	{"growth, another process uses SGLang", "[rank0]: Capture cuda graph end. Time elapsed: 12.31 s. mem usage=1.20 GB. avail mem=8.70 GB.\n" + rank(1, tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inUser)), "cuda-graph-pool-growth: share-graph-pool"},
	{"growth, vLLM", tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inVllmRun), "cuda-graph-pool-growth: vllm-fewer-sizes"},
	{"growth, SGLang", tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inSglangRun), "cuda-graph-pool-growth: sglang-fewer-sizes"},
	{"growth, TensorRT-LLM", "[TensorRT-LLM] TensorRT-LLM version: 1.1.0\n" + tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inUser), "cuda-graph-pool-growth: trtllm-fewer-sizes"},
	{"growth, TensorRT-LLM of which no setting is known", "[TensorRT-LLM] TensorRT-LLM version: 0.20.0\n" + tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inUser), "cuda-graph-pool-growth: asks per-pool-bytes"},
	{"growth, Megatron", tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inMegaRun), "cuda-graph-pool-growth: megatron-narrow-capture"},
	{"growth, Megatron that names its modules", "  cuda_graph_modules .............................. ['attn', 'mlp']\n" + tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inMegaRun), "cuda-graph-pool-growth: megatron-fewer-modules"},
	{"growth, Transformer Engine", tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inUser, frameOf("/opt/env/lib/python3.12/site-packages/transformer_engine/pytorch/module/linear.py", "forward", "out = general_gemm(x, w)")), "cuda-graph-pool-growth: te-one-call"},
	{"growth, continuous batching", tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inBatching), "cuda-graph-pool-growth: generation-fewer-graphs"},
	{"growth, torch.compile by its messages", recording + tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inUser), "cuda-graph-pool-growth: inductor-bound-shapes"},
	{"growth, torch.compile in the Trainer", recording + tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inTrainer), "cuda-graph-pool-growth: trainer-compile-mode"},
	{"growth, torch.compile in Accelerate", recording + tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inUser, inPrepared), "cuda-graph-pool-growth: accelerate-compile-mode"},
	{"growth, torch.compile in Lightning", recording + tracebackOf(oomText("2.00 GiB", "74.00 GiB", "45.80 GiB", "80.00 MiB"), inLightning), "cuda-graph-pool-growth: lightning-compile-mode"},

	// ---- graphs were dropped, their pools stay
	{"dropped, raw", dropped + tracebackOf(oomText("2.00 GiB", "77.30 GiB", "52.10 GiB", "120.00 MiB"), inUser), "cuda-graph-pool-not-released: release-graphs-and-workspaces share-graph-pool"},
	{"dropped, PyTorch 2.12 clears workspaces", "[pip3] torch==2.12.0\n" + dropped + tracebackOf(oomText("2.00 GiB", "77.30 GiB", "52.10 GiB", "120.00 MiB"), inUser), "cuda-graph-pool-not-released: release-graphs share-graph-pool"},
	{"dropped, torch.compile", recording + dropped + tracebackOf(oomText("2.00 GiB", "77.30 GiB", "52.10 GiB", "120.00 MiB"), inUser), "cuda-graph-pool-not-released: inductor-release"},
	{"dropped, Megatron", dropped + tracebackOf(oomText("2.00 GiB", "77.30 GiB", "52.10 GiB", "120.00 MiB"), inMegaRun), "cuda-graph-pool-not-released: megatron-release"},
	{"dropped, Megatron without a reset", dropped + "Rank 0: 10 graphs deleted with explicit reset, 2 graphs deleted without explicit reset.\n" + tracebackOf(oomText("2.00 GiB", "77.30 GiB", "52.10 GiB", "120.00 MiB"), inMegaRun), "cuda-graph-pool-not-released: megatron-explicit-reset"},
	{"dropped, Megatron with an old Transformer Engine", dropped + "transformer_engine==2.3.0\n" + tracebackOf(oomText("2.00 GiB", "77.30 GiB", "52.10 GiB", "120.00 MiB"), inMegaRun), "cuda-graph-pool-not-released: megatron-explicit-reset"},
	{"dropped, vLLM: none fits", dropped + tracebackOf(oomText("2.00 GiB", "77.30 GiB", "52.10 GiB", "120.00 MiB"), inVllmRun), "cuda-graph-pool-not-released: asks what-holds-the-pool"},

	// ---- the allocator's record of pools
	{"stale handle, raw", tracebackOf(stale, inUserPool), "cuda-graph-pool-state: fresh-handle"},
	{"stale handle, vLLM", tracebackOf(stale, inVllm), "cuda-graph-pool-state: vllm-no-graph-profiling"},
	{"stale handle, continuous batching", tracebackOf(stale, inBatching), "cuda-graph-pool-state: generation-without-graphs"},
	{"stale handle, SGLang: none fits", tracebackOf(stale, inSglang), "cuda-graph-pool-state: asks capture-and-reset-order"},
	{"capture under way", tracebackOf(underway, inUser), "cuda-graph-pool-state: restart-after-failed-capture"},
	{"capture under way, PyTorch 2.9", "PyTorch version: 2.9.1+cu128\n" + tracebackOf(underway, inUser), "cuda-graph-pool-state: restart-and-upgrade"},
	{"capture under way, PyTorch 2.13", "PyTorch version: 2.13.0+cu130\n" + tracebackOf(underway, inUser), "cuda-graph-pool-state: restart-after-failed-capture"},
	{"checkpoint of a broken pool", tracebackOf(`RuntimeError: head->prev == nullptr && head->pool != nullptr INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":747, please report a bug to PyTorch. `, inUser, inTrees), "cuda-graph-pool-state: compile-without-graphs"},
	{"released twice: none fits", tracebackOf(`RuntimeError: uc >= 0 INTERNAL ASSERT FAILED at "/pytorch/c10/cuda/CUDACachingAllocator.cpp":2190, please report a bug to PyTorch. `, inUser), "cuda-graph-pool-state: asks capture-and-reset-order"},

	// ---- sizes that never repeat
	{"many sizes", distinct + tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inUser, inTrees), "cuda-graph-recapture-dynamic-shapes: bound-input-sizes"},
	{"many sizes in the Trainer", distinct + tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inTrainer, inPrepared, inTrees), "cuda-graph-recapture-dynamic-shapes: trainer-fixed-shapes"},
	{"many sizes in Accelerate", distinct + tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inUser, inPrepared, inTrees), "cuda-graph-recapture-dynamic-shapes: accelerate-fixed-shapes"},
	{"many sizes in Lightning", distinct + tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inLightning, inTrees), "cuda-graph-recapture-dynamic-shapes: lightning-fixed-shapes"},
	{"many sizes in generation", distinct + tracebackOf(oomText("2.00 GiB", "76.00 GiB", "40.10 GiB", "200.00 MiB"), inGenerate, inTrees), "cuda-graph-recapture-dynamic-shapes: static-cache-shapes"},

	// ---- overwritten outputs
	{"overwritten", tracebackOf(overwritten+`File "/app/model.py", line 9, in forward. To prevent overwriting, clone the tensor outside of torch.compile() or call torch.compiler.cudagraph_mark_step_begin() before each model invocation.`, inUser), "cuda-graph-output-overwritten: clone-or-mark-step"},
	{"overwritten, the advice on a line of its own", tracebackOf(overwritten+"File \"/app/model.py\", line 9, in forward\n    return x + 1. To prevent overwriting, clone the tensor outside of torch.compile() or call torch.compiler.cudagraph_mark_step_begin() before each model invocation.", inUser), "cuda-graph-output-overwritten: clone-or-mark-step"},
	{"overwritten, PyTorch 2.1 has no mark", tracebackOf(overwritten+`File "/app/model.py", line 9, in forward. To prevent overwriting, clone the tensor outside of torch.compile() before running the model again.`, inUser), "cuda-graph-output-overwritten: clone-kept-outputs"},
	{"overwritten gradients", tracebackOf(overwritten+"[Could not find stack trace]. To prevent overwriting, clone the tensor outside of torch.compile() or call torch.compiler.cudagraph_mark_step_begin() before each model invocation.", inUser, inBackward), "cuda-graph-output-overwritten: clone-gradients"},

	// ---- NCCL and captures
	{"watchdog, raw", watchdog, "cuda-graph-nccl: watchdog-out-of-capture"},
	{"watchdog, vLLM", "[rank0]: Capturing CUDA graph shapes:   9%|▊         | 3/35 [00:01<00:18,  1.71it/s]\n" + watchdog, "cuda-graph-nccl: vllm-watchdog"},
	{"watchdog, SGLang", "[rank0]: Capture cuda graph begin. This can take up to several minutes. avail mem=9.90 GB\n" + watchdog, "cuda-graph-nccl: sglang-watchdog"},
	{"watchdog, ROCm", "[rank0]:[E624 22:12:40.310223437 ProcessGroupNCCL.cpp:2057] [PG ID 2 PG GUID 3 Rank 0] Process group watchdog thread terminated with exception: HIP error: operation not permitted on an event last recorded in a capturing stream\n", "cuda-graph-nccl: rocm-watchdog"},
	{"an NCCL that cannot be captured", "node-0:41200:41500 [0] enqueue.cc:120 NCCL WARN NCCL cannot be captured in a graph if either it wasn't built with CUDA runtime >= 11.3 or if the installed CUDA driver < R465.\n", "cuda-graph-nccl: capturable-nccl"},
	{"a capture that waits: none fits", "[rank0]:[W1204 11:22:33.444555666 CUDAGraph.cpp:145] Warning: Waiting for pending NCCL work to finish before starting graph capture. (function operator())\n", "cuda-graph-nccl: asks blocking-wait"},

	// ---- captures that others broke
	{"another thread, raw", tracebackOf("torch.AcceleratorError: CUDA error: operation not permitted on an event last recorded in a capturing stream", inUserGraph), "cuda-graph-capture-invalidated: thread-local-capture"},
	{"another thread, ROCm: none fits", tracebackOf("torch.AcceleratorError: HIP error: operation not permitted on an event last recorded in a capturing stream", inUserGraph), "cuda-graph-capture-invalidated: asks first-capture-error"},
	{"another thread, that CUDA's own log shows", refused + tracebackOf(broken, inUserGraph), "cuda-graph-capture-invalidated: thread-local-capture"},
	{"another thread, callables", refused + tracebackOf(broken, inUser, inCallables), "cuda-graph-capture-invalidated: capture-before-threads"},
	{"another thread that asks for events, callables: none fits", strings.Replace(refused, "cuMemHostAlloc", "cuEventQuery", 1) + tracebackOf(broken, inUser, inCallables), "cuda-graph-capture-invalidated: asks first-capture-error"},
	{"907 in callables: none fits", tracebackOf("torch.AcceleratorError: CUDA error: operation not permitted on an event last recorded in a capturing stream", inUser, inCallables), "cuda-graph-capture-invalidated: asks first-capture-error"},
	{"901 alone, callables: none fits", tracebackOf(broken, inUser, inCallables), "cuda-graph-capture-invalidated: asks first-capture-error"},
	{"901 alone: none fits", tracebackOf(broken, inUserGraph, inCaptureEnd), "cuda-graph-capture-invalidated: asks first-capture-error"},
	{"901 in an engine: none fits", tracebackOf(broken, inLmdeploy, inCaptureEnd), "cuda-graph-capture-invalidated: asks first-capture-error"},
	{"a random state in capture mode: none fits", tracebackOf("RuntimeError: Offset increment outside graph capture encountered unexpectedly.", inUser), "cuda-graph-capture-invalidated: asks first-capture-error"},

	// ---- calls that a capture forbids
	{"forbidden, raw", tracebackOf(forbidden, frameOf("/app/graphs.py", "capture", "n = lengths.max().item()")), "cuda-graph-unsafe-op-in-capture: move-call-out-of-capture"},
	{"forbidden, vLLM of no known version", tracebackOf(forbidden, inVllm, frameOf("/opt/env/lib/python3.12/site-packages/vllm/ops/index.py", "f", "n = x.tolist()")), "cuda-graph-unsafe-op-in-capture: vllm-piecewise"},
	{"forbidden, vLLM 0.11", serving("0.11.0") + tracebackOf(forbidden, inVllm, frameOf("/opt/env/lib/python3.12/site-packages/vllm/ops/index.py", "f", "n = x.tolist()")), "cuda-graph-unsafe-op-in-capture: vllm-piecewise"},
	{"forbidden, vLLM 0.9", serving("0.9.1") + tracebackOf(forbidden, inVllm, frameOf("/opt/env/lib/python3.12/site-packages/vllm/ops/index.py", "f", "n = x.tolist()")), "cuda-graph-unsafe-op-in-capture: vllm-eager"},
	{"forbidden, SGLang", tracebackOf(forbidden, inSglang, frameOf("/sgl-workspace/sglang/python/sglang/srt/models/m.py", "forward", "n = x.cpu()")), "cuda-graph-unsafe-op-in-capture: sglang-no-graphs"},
	{"forbidden, an engine and no such call in sight: none fits", tracebackOf(forbidden, inLmdeploy, frameOf("/opt/env/lib/python3.9/site-packages/lmdeploy/pytorch/kernels/cuda/rms_norm.py", "rms_norm", "out = torch.empty_like(hidden_states)")), "cuda-graph-unsafe-op-in-capture: asks who-made-the-call"},
	{"forbidden, Megatron", tracebackOf(forbidden, inMegatron, frameOf("/opt/megatron/core/transformer/moe/router.py", "forward", "n = counts.tolist()")), "cuda-graph-unsafe-op-in-capture: megatron-leave-module-out"},
	{"forbidden, DeepSpeed inference", tracebackOf(forbidden, inDeepspeed), "cuda-graph-unsafe-op-in-capture: deepspeed-no-graph"},
	{"the legacy stream, of gradient nodes", "graph.py:841: UserWarning: The AccumulateGrad node's stream does not match the stream of the node that produced the incoming gradient. This may incur unnecessary synchronization\n" + tracebackOf(legacy, inUserGraph), "cuda-graph-unsafe-op-in-capture: build-on-capture-stream"},
	{"the legacy stream", tracebackOf(legacy, inUserGraph), "cuda-graph-unsafe-op-in-capture: no-default-stream"},
	{"the default stream", tracebackOf("RuntimeError: CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on the default stream.)", inUser), "cuda-graph-unsafe-op-in-capture: no-default-stream"},
	{"uncaptured work of another stream", tracebackOf("torch.AcceleratorError: CUDA error: dependency created on uncaptured work in another stream", inUserGraph), "cuda-graph-unsafe-op-in-capture: join-side-streams"},
	{"a random state that is read", tracebackOf("RuntimeError: Cannot call CUDAGeneratorImpl::current_seed during CUDA graph capture. If you need this call to be captured, please file an issue. Current cudaStreamCaptureStatus: cudaStreamCaptureStatusActive", inUserGraph), "cuda-graph-unsafe-op-in-capture: no-rng-state-in-capture"},

	// ---- memory in pieces
	{"pieces, raw", tracebackOf(oomText("2.00 GiB", "58.10 GiB", "1.20 GiB", "18.90 GiB"), inUser), "cuda-oom-fragmentation: expandable-segments"},
	{"pieces, graphs were captured", captures(10, 14) + tracebackOf(oomText("2.00 GiB", "58.10 GiB", "1.20 GiB", "18.90 GiB"), inUser), "cuda-oom-fragmentation: expandable-segments-and-graphs"},
	{"pieces, Megatron", tracebackOf(oomText("2.00 GiB", "58.10 GiB", "1.20 GiB", "18.90 GiB"), inMegaRun), "cuda-oom-fragmentation: expandable-segments-and-graphs"},
	{"pieces, vLLM", tracebackOf(oomText("2.00 GiB", "58.10 GiB", "1.20 GiB", "18.90 GiB"), inVllmRun), "cuda-oom-fragmentation: vllm-headroom"},
	{"pieces, SGLang", tracebackOf(oomText("2.00 GiB", "58.10 GiB", "1.20 GiB", "18.90 GiB"), inSglangRun), "cuda-oom-fragmentation: sglang-headroom"},
	{"pieces, although segments grow: none fits", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n" + tracebackOf(oomText("2.00 GiB", "58.10 GiB", "1.20 GiB", "18.90 GiB"), inUser), "cuda-oom-fragmentation: asks largest-free-block"},

	// ---- plain lack of memory
	{"live tensors, raw", tracebackOf(oomText("2.00 GiB", "77.30 GiB", "79.00 MiB", "120.00 MiB"), inUser), "cuda-oom: less-memory"},
	{"live tensors, the Trainer", tracebackOf(oomText("2.00 GiB", "77.30 GiB", "79.00 MiB", "120.00 MiB"), inTrainer, inPrepared), "cuda-oom: trainer-less-memory"},
	{"live tensors, DeepSpeed", tracebackOf(oomText("2.00 GiB", "77.30 GiB", "79.00 MiB", "120.00 MiB"), inUser, inZero), "cuda-oom: deepspeed-less-memory"},
	{"live tensors, Lightning", tracebackOf(oomText("2.00 GiB", "77.30 GiB", "79.00 MiB", "120.00 MiB"), inLightning), "cuda-oom: lightning-less-memory"},
	{"live tensors, Megatron", tracebackOf(oomText("2.00 GiB", "77.30 GiB", "79.00 MiB", "120.00 MiB"), inMegaRun), "cuda-oom: megatron-less-memory"},
	{"live tensors, vLLM", tracebackOf(oomText("2.00 GiB", "77.30 GiB", "79.00 MiB", "120.00 MiB"), inVllmRun), "cuda-oom: vllm-headroom"},
	{"live tensors, SGLang", tracebackOf(oomText("2.00 GiB", "77.30 GiB", "79.00 MiB", "120.00 MiB"), inSglangRun), "cuda-oom: sglang-headroom"},
	{"live tensors, TensorRT-LLM", tracebackOf(oomText("2.00 GiB", "77.30 GiB", "79.00 MiB", "120.00 MiB"), frameOf("/opt/env/lib/python3.12/site-packages/tensorrt_llm/_torch/pyexecutor/model_engine.py", "forward", "return self.model(**inputs)")), "cuda-oom: trtllm-headroom"},
	{"another process holds the card", tracebackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.02 GiB is free. Process 4711 has 40.00 GiB memory in use. Including non-PyTorch memory, this process has 38.00 GiB memory in use. Of the allocated memory 37.00 GiB is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated.", inUser), "cuda-oom: free-the-card"},
	{"a fraction that the process set", tracebackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 40.00 GiB is free. Including non-PyTorch memory, this process has 39.00 GiB memory in use. 39.50 GiB allowed; Of the allocated memory 38.00 GiB is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated.", inUser), "cuda-oom: raise-memory-fraction"},
	{"NCCL's buffers", "node-0:41200:41500 [0] include/alloc.h:160 NCCL WARN Cuda failure 'out of memory'\n", "cuda-oom: room-for-nccl"},
	{"the driver's text: none fits", tracebackOf(driver, inUser), "cuda-oom: asks per-pool-bytes"},

	// ---- host memory
	{"killed by the kernel", "[12345.678901] Out of memory: Killed process 4417 (python) total-vm:81234567kB, anon-rss:61234567kB, file-rss:0kB, shmem-rss:0kB\n", "host-oom: less-host-memory"},
	{"killed in Slurm's limit", "slurmstepd: error: Detected 1 oom_kill event in StepId=90211.0. Some of the step tasks have been OOM Killed.\n", "host-oom: slurm-memory less-host-memory"},
	{"killed in the pod's limit", "    Reason:       OOMKilled\n", "host-oom: pod-memory less-host-memory"},
	{"killed by Ray", "2 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: abc, IP: 10.0.0.4) over the last time period.\n", "host-oom: ray-memory less-host-memory"},

	// ---- hardware, and failures whose mechanism no log shows
	{"a card's own error", "[Thu Mar 11 20:02:51 2021] NVRM: Xid (PCI:0000:af:00): 79, pid=11873, GPU has fallen off the bus.\n", "xid: take-card-out"},
	{"an error of CUDA, and a card that the driver names", tracebackOf("RuntimeError: CUDA error: uncorrectable ECC error encountered", inUser) + "[Mon Oct  5 13:22:09 2026] NVRM: Xid (PCI:0000:c3:00): 94, pid=118873, name=python, Contained: SM (0x1). RST: No, D-RST: No\n", "xid: take-failing-card-out"},
	{"an error of CUDA that names no card: none fits", tracebackOf("RuntimeError: CUDA error: uncorrectable ECC error encountered", inUser), "xid: asks xid-record"},
	{"a fault of a kernel: none fits", tracebackOf("RuntimeError: CUDA error: an illegal memory access was encountered", inUser), "cuda-error-async: asks faulting-kernel"},
	{"a kernel's assertion: none fits", tracebackOf("RuntimeError: CUDA error: device-side assert triggered", inUser), "cuda-error-async: asks assert-index"},
	{"a fault in a replay: none fits", tracebackOf("torch.AcceleratorError: CUDA error: an illegal memory access was encountered", frameOf("/app/serve.py", "step", "self.graph.replay()")), "cuda-graph-replay-fault: asks faulting-kernel"},
	{"a fault in a replay after vLLM slept: none fits", "Sleep mode freed 27.41 GiB memory, 1.63 GiB memory is still in use.\n" + tracebackOf("torch.AcceleratorError: CUDA error: an illegal memory access was encountered", frameOf("/opt/env/lib/python3.12/site-packages/vllm/compilation/cuda_graph.py", "__call__", "entry.cudagraph.replay()")), "cuda-graph-replay-fault: asks buffers-of-the-graph"},
	{"no shared memory left for a loader", "RuntimeError: DataLoader worker (pid 512) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n", "shared-memory-full: larger-shm"},
	{"no room for vLLM's cache", tracebackOf("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", inVllmRun), "kv-cache-does-not-fit: larger-engine-share"},
	{"a card that was not free", tracebackOf("ValueError: Free memory on device (10.20/79.10 GiB) on startup is less than desired GPU memory utilization (0.9, 71.19 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.", inVllmRun), "card-not-free: free-the-card-first"},
	{"a full disk", tracebackOf("OSError: [Errno 28] No space left on device", inUser), "storage-write-failed: room-on-the-disk"},
	{"a checkpoint that could not be written, for no reason given: none fits", tracebackOf("RuntimeError: [enforce fail at inline_container.cc:858] . PytorchStreamWriter failed writing file data/211: file write failed", inUser), "storage-write-failed: asks state-of-the-file-system"},
	{"a port that is taken", "INFO:     Application startup complete.\nERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use\n", "port-in-use: free-the-port"},
	{"a loader's worker that is gone: none fits", tracebackOf("RuntimeError: DataLoader worker (pid(s) 4242) exited unexpectedly", inUser), "data-loader-worker-died: asks how-the-worker-ended"},
	{"NCCL that first connects inside a capture", "[rank3]: node1:2841:3393 [3] include/alloc.h:228 NCCL WARN Cuda failure 900 'operation not permitted when stream is capturing'\n" +
		"[rank3]: torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:77, unhandled cuda error, NCCL version 2.26.2\n", "cuda-graph-nccl: connect-before-capture"},
	{"no shared memory left for NCCL", "node1:2841:3393 [3] misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-qXrT8a to 9637892 bytes, error: No space left on device (28)\n", "nccl-error: more-shared-memory"},
	{"a segment that NCCL could not make, for no reason given: none fits", "node1:2841:3393 [3] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-KLxr0P to 9637892 bytes\n", "nccl-error: asks shared-memory"},
	{"no network interface: none fits", "gn17:214410:214410 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found\n", "nccl-error: asks interfaces"},
	{"a peer that is gone: none fits", "[rank3]:[E1118 03:45:21.900220621 ProcessGroupNCCL.cpp:554] [Rank 3] Collective WorkNCCL(SeqNum=412, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) raised the following async exception: NCCL error: remote process exited or there was a network error, NCCL version 2.26.5\n", "nccl-error: asks peer-log"},
}

// offered tells of a verdict's failure and fixes on one line.
func offered(v *incident.Verdict) string {
	s := "no failure"
	if v.Signature != nil {
		s = *v.Signature
	}
	for i, f := range v.Fixes {
		if i == 0 {
			s += ":"
		}
		s += " " + f.ID
	}
	if len(v.Fixes) == 0 && v.MissingFact != nil {
		s += ": asks " + v.MissingFact.ID
	}
	return s
}

func TestFixes(t *testing.T) {
	for _, tt := range fixTests {
		t.Run(tt.name, func(t *testing.T) {
			v := diagnose(t, tt.log).Verdict
			if got := offered(&v); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Each fix of each failure is what some log gets: one that nothing chooses is
// either wrong or in the way.
func TestEveryFixIsOffered(t *testing.T) {
	seen := map[string]bool{}
	for _, tt := range fixTests {
		v := diagnose(t, tt.log).Verdict
		for _, f := range v.Fixes {
			seen[*v.Signature+" "+f.ID] = true
		}
	}
	for _, f := range builtin(t).Failures() {
		for _, x := range f.Fixes {
			if !seen[f.ID+" "+x.ID] {
				t.Errorf("%s: no log is offered the fix %s", f.ID, x.ID)
			}
		}
	}
}

// What a fix says holds for every log that gets it: nothing is left to fill in, and
// nothing is offered that the stack forbids.
func TestNoWrongFix(t *testing.T) {
	for _, tt := range fixTests {
		v := diagnose(t, tt.log).Verdict
		sharing := slices.ContainsFunc([]string{inVllm, inVllmRun, inVllmV0, inSglang, inSglangRun, inTrtllm, inTgi, inLmdeploy, inMegatron, inMegaRun, inIteration, inTrees, recording, distinct},
			func(mark string) bool { return strings.Contains(tt.log, mark) })
		for _, f := range v.Fixes {
			text := strings.Join([]string{f.Title, f.Why, f.Code, f.Precondition, f.Risk, f.Rollback}, "\n")
			switch {
			case strings.Contains(f.Code, "graph_pool_handle") && sharing:
				t.Errorf("%s: %s shares a pool in a stack that does so already", tt.name, f.ID)
			case strings.Contains(f.Code, "CUDA_LAUNCH_BLOCKING"):
				t.Errorf("%s: %s only finds where it fails", tt.name, f.ID)
			case strings.Contains(f.Code, "expandable_segments:True") && *v.Signature != "cuda-oom-fragmentation":
				t.Errorf("%s: %s grows segments where pieces are not the reason", tt.name, f.ID)
			case strings.Contains(text, "{requested}") || strings.Contains(text, "{pci}") || strings.Contains(text, "{live}"):
				t.Errorf("%s: %s leaves a fact open: %s", tt.name, f.ID, text)
			}
		}
		if len(v.Fixes) > 0 && len(v.Verify) == 0 {
			t.Errorf("%s: no check for the fix", tt.name)
		}
	}
}

func builtin(t *testing.T) *signatures.Set {
	t.Helper()
	set, err := signatures.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Every failure says what it is, what speaks for and against it and what to ask for,
// and tells of each ruling which kind of run it is for.
func TestFailuresAreComplete(t *testing.T) {
	for _, f := range builtin(t).Failures() {
		weights := map[string]int{}
		for _, e := range f.Evidence {
			weights[e.For]++
		}
		switch {
		case f.Title == "" || f.Summary == "":
			t.Errorf("%s: no title or summary", f.ID)
		case len(f.Evidence) < 2 || weights["supports"] == 0 || weights["refutes"] == 0:
			t.Errorf("%s: its evidence must have two items, one that supports and one that refutes: %v", f.ID, weights)
		case len(f.Missing) == 0 || f.Missing[len(f.Missing)-1].When != nil:
			t.Errorf("%s: its last missing fact must hold without a condition", f.ID)
		case len(f.Yes) == 0 || len(f.No) == 0:
			t.Errorf("%s: no sample logs", f.ID)
		}
		text, err := fs.ReadFile(signatures.Files(), "failures/"+f.ID+".toml")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i, l := range lines {
			if l == "[[graph_pool]]" && !strings.HasPrefix(lines[i-1], "#") {
				t.Errorf("%s: line %d: say above the ruling which kind of run it is for", f.ID, i+1)
			}
		}
	}
}
