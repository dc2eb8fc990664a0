package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphtrap/graphtrap/analyzer/line"
)

// placed is a decoded line of a log; of a line with progress bars, the last piece.
func placed(raw string, n int) line.Placed {
	p := line.Decode([]byte(raw), line.Layout{})
	return line.Placed{Piece: p[len(p)-1], Path: "x.log", Number: int64(n), Start: int64(1000 * n), Length: len(raw)}
}

// read returns the readings of a log's lines.
func read(log string) []Reading {
	var r Reader
	var out []Reading
	for n, raw := range strings.Split(log, "\n") {
		out = append(out, r.Read(placed(raw, n+1))...)
	}
	return out
}

// tell prints readings as the tables below expect them: what, how much, and what
// else the line says of it.
func tell(readings []Reading) string {
	var all []string
	for _, r := range readings {
		s := fmt.Sprintf("%s %s", r.Metric, Format(r.Size.Bytes))
		if r.NoUnit {
			s = fmt.Sprintf("%s %s without unit", r.Metric, r.Printed)
		}
		if r.Step != nil {
			s += fmt.Sprintf(" step %d", *r.Step)
		}
		if r.Graph != nil {
			s += fmt.Sprintf(" graph %d", *r.Graph)
		}
		if r.Captured {
			s += " captured"
		}
		if r.Card {
			s += " of"
			if r.Origin.Device != nil {
				s += fmt.Sprintf(" GPU %d", *r.Origin.Device)
			}
			if r.Origin.PID != nil {
				s += fmt.Sprintf(" pid %d", *r.Origin.PID)
			}
		}
		all = append(all, s)
	}
	return strings.Join(all, ", ")
}

// What programs print.
func TestReadFormats(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"N-1 Megatron", "[Rank 8] (after 1 iterations) memory (MB) | allocated: 41205.87 | max allocated: 55873.02 | reserved: 57344.0 | max reserved: 57344.0",
			"allocated 40.24 GiB step 1, reserved 56.00 GiB step 1"},
		{"N-1 with the device's total", "[Rank 0] (before save_checkpoint for iteration 40) memory (MB) | allocated: 1024.00 | max allocated: 2048.00 | reserved: 4096.00 | max reserved: 4096.00 | total device memory used: 6144.00",
			"allocated 1.00 GiB step 40, reserved 4.00 GiB step 40, used 6.00 GiB step 40"},
		{"Megatron Bridge", "memory (GB) | mem-allocated-gigabytes: 41.2 | mem-active-gigabytes: 41.3 | mem-inactive-gigabytes: 1.0 | mem-reserved-gigabytes: 57.5 | mem-alloc-retires: 0",
			"allocated 41.20 GiB, reserved 57.50 GiB"},
		{"N-2 Megatron's local graphs", "create cuda graphs | mem: alloc 1.2 gb, res 3.4 gb:  50%|#####     | 12/24 [00:01<00:01, 11.9it/s]",
			"allocated 1.20 GiB graph 12 captured, reserved 3.40 GiB graph 12 captured"},
		{"N-2 without tqdm", "100/960. create cuda graphs | mem: alloc 40.1 gb, res 61.2 gb", "allocated 40.10 GiB graph 100 captured, reserved 61.20 GiB graph 100 captured"},
		{"N-3 Megatron's inference graphs", "  [graph 3/12] [16] | pool reserved=1.2 gb (Δiter=10.0 mb) pool allocated=410.0 mb (Δiter=2.0 mb)",
			"private_pools 1.20 GiB graph 3 captured"},
		{"X-6 the pool is a level, the process-wide delta is none", "> built cuda graph(s) in 20.01 sec. Mempool: reserved 30.5 gb, allocated 10.2 gb. Process-wide delta: allocated 10.2 gb, reserved 30.5 gb.",
			"private_pools 30.50 GiB"},
		{"X-3 is a difference", "> built 96 cuda graph(s) in 20.01 sec, with total memory usage: allocated 10.2 gb, reserved 30.5 gb.", ""},
		{"N-4 DeepSpeed", "[2026-09-22 10:11:04,121] [INFO] [utils.py:782:see_memory_usage] MA 10.12 GB         Max_MA 11.02 GB         CA 14.55 GB         Max_CA 15 GB ",
			"allocated 10.12 GiB, reserved 14.55 GiB"},
		{"N-4: the host's memory is not the card's", "[2026-09-22 10:11:04,121] [INFO] [utils.py:789:see_memory_usage] CPU Virtual Memory:  used = 36.79 GB, percent = 3.7%", ""},
		{"N-5 DeepSpeed's throughput", "epoch=0/micro_step=100/global_step=50, RunningAvgSamplesPerSec=2.1, CurrSamplesPerSec=2.2, MemAllocated=10.12GB, MaxMemAllocated=11.02GB",
			"allocated 10.12 GiB step 50"},
		{"N-6 DeepSpeed's timers", " | mem_allocated: 10.1234 GB | max_mem_allocated: 11.0234 GB | cache_allocated: 14.5512 GB | max_cache_allocated: 15.0000 GB",
			"allocated 10.12 GiB, reserved 14.55 GiB"},
		{"N-7 vLLM", "(Worker_TP0 pid=311) INFO 07-19 02:44:22 [gpu_model_runner.py:3118] Graph capturing finished in 21 secs, took 0.62 GiB", "taken 634.88 MiB captured"},
		{"N-7 the estimate", "INFO 07-19 02:44:22 [gpu_model_runner.py:3018] Estimated CUDA graph memory: 1.84 GiB total", "estimated 1.84 GiB"},
		{"N-7 the pool", "CUDA graph pool memory: 2.10 GiB (actual), 1.84 GiB (estimated), difference: 0.26 GiB (12.4%).", "private_pools 2.10 GiB, estimated 1.84 GiB"},
		{"N-8 SGLang, before the capture", "[2026-10-30 07:03:54 TP6] Capture cuda graph begin. This can take up to several minutes. avail mem=3.50 GB",
			"available 3.50 GiB captured"},
		{"N-8 SGLang, each batch", "Capturing batches (bs=48 avail_mem=40.33 GB):  17%|#7        | 6/35 [00:05<00:24,  1.17it/s]",
			"available 40.33 GiB graph 6 captured"},
		{"N-8 SGLang, the end", "[2026-10-30 07:03:54 TP6] Capture cuda graph end. Time elapsed: 12.31 s. mem usage=1.20 GB. avail mem=8.70 GB.",
			"available 8.70 GiB captured, taken 1.20 GiB captured"},
		{"N-8 SGLang, weights", "[2026-10-30 07:03:54 TP6] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=22.10 GB, mem usage=55.91 GB.",
			"available 22.10 GiB"},
		{"N-9 transformers", "  train_mem_gpu_alloc_delta   =      693MB", "allocated_delta 693.00 MiB"},
		{"N-9 as a dict, in bytes", "{'train_mem_cpu_alloc_delta': 12, 'train_mem_gpu_alloc_delta': 726663168, 'train_mem_gpu_peaked_delta': 1048576}", "allocated_delta 693.00 MiB"},
		{"N-10 Lightning", "{'DeviceStatsMonitor.on_train_batch_end/allocated_bytes.all.current': 1073741824.0, 'DeviceStatsMonitor.on_train_batch_end/allocated_bytes.all.peak': 9e9, 'DeviceStatsMonitor.on_train_batch_end/reserved_bytes.all.current': 2147483648.0}",
			"allocated 1.00 GiB, reserved 2.00 GiB"},
		{"memory_stats with a counter for each pool", "step 5 reserved_bytes.all.current: 6442450944, reserved_bytes_by_private_pools.0_1.all.current: 1073741824, reserved_bytes_by_private_pools.0_2.all.current: 2147483648, reserved_bytes_by_private_pools.0_2.all.peak: 9",
			"reserved 6.00 GiB step 5, private_pools 3.00 GiB step 5"},
		{"N-11 a call", "torch.cuda.memory_reserved()=19.9 GiB torch.cuda.memory_allocated()=7.25 GiB", "reserved 19.90 GiB, allocated 7.25 GiB"},
		{"N-12 memory_summary", "| GPU reserved memory   |  57344 MiB |  57344 MiB |   1024 GiB |    968 GiB |", "reserved 56.00 GiB"},
		{"N-12 memory_summary, old units", "| Allocated memory      |   1234 MB  |   2345 MB  |    123 GB  |    122 GB  |", "allocated 1.21 GiB"},
		{"N-12 a size class is no pool of a graph", "|       from large pool |   1234 MiB |   2345 MiB |    123 GiB |    122 GiB |", ""},
		{"N-13 a process in nvidia-smi", "|    0   N/A  N/A      4242      C   /usr/bin/python3                          78012MiB |", "used 76.18 GiB of GPU 0 pid 4242"},
		{"N-13 the desktop's process", "|    0   N/A  N/A      1201      G   /usr/lib/xorg/Xorg                            4MiB |", ""},
		{"N-14 list_gpu_processes", "process       4242 uses    78012.000 MB GPU memory", "used 76.18 GiB of pid 4242"},
		{"N-15 distinct sizes", "CUDAGraph supports dynamic shapes by recording a new graph for each distinct input size. Recording too many CUDAGraphs may lead to extra overhead. We have observed 51 distinct sizes. Please consider the following options for better performance: a) padding inputs",
			"graphs 51 without unit graph 51 captured"},
		{"N-16 vLLM's budget", "INFO 07-19 02:44:22 [gpu_worker.py:298] Available KV cache memory: -41.07 GiB", "kv_cache -41.07 GiB"},
		{"the driver's free memory", "torch.cuda.mem_get_info()=(1073741824, 84942979072)", "free 1.00 GiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tell(read(tt.raw)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if tt.want != "" && !holdsAny(tt.raw, Anchors()) {
				t.Errorf("no anchor stands in %q: the scan would not find it", tt.raw)
			}
		})
	}
}

// What people print.
func TestReadHandWritten(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"at captures", "[graphs] captured signature (4, 3, 320, 320) in 0.76s | reserved 7.8 GiB | allocated 3.5 GiB | graphs held 2",
			"reserved 7.80 GiB graph 2 captured, allocated 3.50 GiB graph 2 captured"},
		{"graphs numbered", "graph entry 12/96 layer=06 kind=attn reserved= 36.80 GiB allocated= 31.16 GiB",
			"reserved 36.80 GiB graph 12 captured, allocated 31.16 GiB graph 12 captured"},
		{"at steps", "step 64 seq_len= 704 reserved=42110 MB", "reserved 41.12 GiB step 64"},
		{"graphs counted", "step=12 cuda alloc=52.31 GiB reserved=62.50 GiB graphs=6", "allocated 52.31 GiB step 12 graph 6 captured, reserved 62.50 GiB step 12 graph 6 captured"},
		{"graphs counted, none yet", "step=1 cuda alloc=52.31 GiB reserved=62.50 GiB graphs=0", "allocated 52.31 GiB step 1 graph 0, reserved 62.50 GiB step 1 graph 0"},
		{"a counter at the end", "[mem] step 30 allocated 31.2 GiB reserved 58.9 GiB graphs 11", "allocated 31.20 GiB step 30 graph 11 captured, reserved 58.90 GiB step 30 graph 11 captured"},
		{"the change behind it", "[step 20] reserved 41.3 GiB (+9.8 GiB since step 1), distinct padded lengths seen: 19", "reserved 41.30 GiB step 20"},
		{"a bare name and a unit", "reserved 6.4 GiB", "reserved 6.40 GiB"},
		{"bytes behind an equals sign", "memory_reserved=123456789", "reserved 117.74 MiB"},
		{"bytes behind a colon", "torch.cuda.memory_reserved: 6872367104", "reserved 6.40 GiB"},
		{"bytes of a device", "torch.cuda.memory_reserved(0) = 6872367104", "reserved 6.40 GiB"},
		{"bytes with commas", "memory_reserved=6,872,367,104", "reserved 6.40 GiB"},
		{"bytes behind a blank", "memory_reserved 6872367104", "reserved 6.40 GiB"},
		{"whole segments, so bytes", "after step 3 reserved: 6872367104", "reserved 6.40 GiB step 3"},
		{"a whole number too small for bytes", "memory_reserved: 123456", "reserved 123456 without unit"},
		{"the unit in brackets", "mem reserved (GB): 12.3", "reserved 12.30 GiB"},
		{"the unit in square brackets", "gpu_mem_reserved[MiB]=512", "reserved 512.00 MiB"},
		{"the unit in the name", `{"step": 20, "memory_reserved_gb": 41.3, "memory_allocated_gb": 30.5}`, "reserved 41.30 GiB step 20, allocated 30.50 GiB step 20"},
		{"bytes in the name", `{"iteration": 7, "cuda/reserved_bytes": 2097152}`, "reserved 2.00 MiB step 7"},
		{"short names", "[mem] alloc=1.2GB rsv=3.4GB", "allocated 1.20 GiB, reserved 3.40 GiB"},
		{"short units", "alloc: 1.2G | rsvd: 3.4G", "allocated 1.20 GiB, reserved 3.40 GiB"},
		{"an f-string that prints its expression", "torch.cuda.memory_reserved()/1e9=6.872367104", "reserved 6.40 GiB"},
		{"an f-string divided by a power of two", "torch.cuda.memory_allocated() / 1024**3 = 6.4", "allocated 6.40 GiB"},
		{"a debug print", "[MEMDEBUG] step 4 allocated=12.500GB reserved=14.250GB max_allocated=13.100GB", "allocated 12.50 GiB step 4, reserved 14.25 GiB step 4"},
		{"one line each, 1", "  Allocated: 12.34 GB", "allocated 12.34 GiB"},
		{"one line each, 2", "  Reserved: 14.00 GB", "reserved 14.00 GiB"},
		{"cached, as it was called", "Memory cached: 14.00 GB", "reserved 14.00 GiB"},
		{"the figure first", "GPU memory: 12.30 GB allocated, 14.00 GB reserved", "allocated 12.30 GiB, reserved 14.00 GiB"},
		{"no unit at all", "[after compile ] alloc: 61.00341796875, reserved: 98.0, max reserved: 98.0", "allocated 61.00341796875 without unit, reserved 98.0 without unit"},
		{"both in a dict", "{'reserved': 12.3, 'allocated': 4.5, 'step': 9}", "reserved 12.3 without unit step 9, allocated 4.5 without unit step 9"},
		{"the peak is no level", "max_memory_reserved=80.0 GiB memory_reserved=40.0 GiB", "reserved 40.00 GiB"},
		{"the peak is no level, in words", "peak reserved: 80.0 GiB, reserved: 40.0 GiB", "reserved 40.00 GiB"},
		{"a place in the program", "reserved 10.0 GiB after step 3", "reserved 10.00 GiB step 3"},
		{"another figure behind", "before warm-up reserved 10.0 GiB loss 2.31", "reserved 10.00 GiB"},
		{"what is left, at captures", "[step 3] captured bucket 64, avail mem=20.10 GB", "available 20.10 GiB step 3 captured"},
		{"with commas and blanks", "graph[bs= 96] warmup 3 + capture in 2.19s   alloc=  5,105,977,344   resv= 15,787,360,256", "allocated 4.76 GiB captured, reserved 14.70 GiB captured"},
		{"of a total", "graphs: captured 512/2048, reserved 71.36GiB, driver free 3.96GiB", "reserved 71.36 GiB graph 512 captured"},
		{"recordings counted", "[sft][mem] step 10 rank 0: alloc 33.14 GiB, reserved 42.20 GiB, cudagraph recordings 3", "allocated 33.14 GiB step 10 graph 3 captured, reserved 42.20 GiB step 10 graph 3 captured"},
		{"in columns", "[rl][mem] round 1, graphs captured               allocated  20.90 GiB | reserved  33.87 GiB | live CUDAGraph objects 160", "allocated 20.90 GiB graph 160 captured, reserved 33.87 GiB graph 160 captured"},
		{"a shape is no pool", "captured signature (4, 320) reserved 7.8 GiB", "reserved 7.80 GiB captured"},
		{"by pool, one a line", "pool (0, 1): reserved 130 MiB, live 0 MiB, idle 130 MiB, 3 segments", "private_pools 130.00 MiB"},
		{"by pool, the default one is no graph's", "pool (0, 0): reserved 4096 MiB, live 4000 MiB, idle 96 MiB, 30 segments", ""},
		{"by pool, in one line", "[rl][mem] segments by pool: (0, 0) reserved 21.04 GiB live 20.09 GiB; (0, 1) reserved 12.75 GiB live 0.06 GiB; (4, 0) reserved 12.75 GiB live 0.06 GiB", "private_pools 25.50 GiB"},
		{"by pool, as a dict", "step 40 pools reserved {(0, 0): 22590521344, (0, 1): 13690208256}", "private_pools 12.75 GiB step 40"},
		{"a line about something that was built", "built 3 engines, captured all: reserved 6.4 GiB", "reserved 6.40 GiB captured"},
		{"a logger's field", `level=info msg="step 3 reserved 6.4 GiB"`, "reserved 6.40 GiB step 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tell(read(tt.raw)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if !holdsAny(tt.raw, Anchors()) {
				t.Errorf("no anchor stands in %q: the scan would not find it", tt.raw)
			}
		})
	}
}

// Prose, advice, configuration, source code and other memory look alike.
func TestReadNothing(t *testing.T) {
	for _, raw := range []string{
		// prose
		"all rights reserved 2024",
		"the rest of the memory reserved for KV Cache is 12.00GiB.",
		"reserved 3.0 GiB for KV cache",
		"PyTorch has reserved 12.3 GiB of it",
		"we reserved 3.0 GiB, see the guide",
		"the driver reserved 2 GiB of memory for 3 graphs",
		"In total the allocator reserved 14.44 GiB while live tensors took less",
		"If memory_reserved is 80 GiB, restart the job",
		"2.21 GiB is reserved by PyTorch but unallocated",
		"with 41.30 GiB allocated in private pools (e.g., CUDA Graphs)",
		"Of the allocated memory 74.01 GiB is allocated by PyTorch",
		"14.44 GiB reserved in total by PyTorch)",
		"allocated by PyTorch, with 1.20 GiB allocated in private pools (e.g., CUDA Graphs),",
		// advice
		"If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.",
		"If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
		"CUDA graphs can take additional 1~3 GiB memory per GPU. If you are running out of memory, consider decreasing `gpu_memory_utilization`",
		"keep some memory free (e.g., reserved=4GiB) for NCCL",
		// configuration and commands
		"ServerArgs(model_path='m', mem_reserved=3.5, disable_cuda_graph=False)",
		"mem_reserved_gb=3.5 use_graphs=True",
		"python train.py --memory-reserved=4GB --alloc=2GB",
		"export MEM_RESERVED=4GB",
		"grep -n 'reserved 6.4 GiB' train.log",
		`grep "memory_reserved=123456789" train.log`,
		"/sys/fs/cgroup/memory.reserved: 123456789",
		"gpu_memory_reserved_ratio: 0.85",
		"reserved_tokens=4096",
		"PYTORCH_ALLOC_CONF=expandable_segments:True",
		// source code
		`print(f"reserved {torch.cuda.memory_reserved()/1e9:.2f} GB")`,
		`assert torch.cuda.memory_reserved() == 123456789`,
		"`memory_reserved=123456789`",
		// other memory
		"host memory allocated: 12.00 GiB",
		"cpu mem: alloc=1.2GB rsv=3.4GB",
		"host: allocated 3.0 GiB, reserved 4.0 GiB",
		"pinned memory allocated: 4.0 GiB",
		"object store memory allocated: 200.00 GB",
		"reserved: 12.0 GiB disk",
		"KV Cache is allocated. #tokens: 412345, K size: 12.58 GB, V size: 12.59 GB",
		"kv cache allocated: 12.58 GB",
		"shm reserved: 64 MiB",
		// other things
		"slurm: Granted job allocation 12345678",
		"allocated 16 CPUs, reserved 2 GPUs",
		"reserved: 3 slots",
		"ports reserved=29500",
		"res=512 alloc_steps=3",
		"input res 512, alloc steps 3",
		"address=12.5 MiB pressure: 1.0 GB",
		"preallocated 512 MiB, deallocated 12 MiB, unreserved 3.0 GiB",
		"allocator=native reserved=yes",
		"reserved 6.4e+09",
		"reserved: 95 %",
		"memory_reserved=95%",
		"total allocated: 120.0 TiB",
		"Δ reserved delta: 1.0 GiB",
		"reserved +1.2 GiB",
		"MA 10.12 GB         Max_MA unknown",
		"avail_mem=unknown GB",
		"Graph capturing finished in 14 secs.",
		"Estimated CUDA graph memory: 300 MiB first-capture + (12-1) × 4 MiB per-graph",
		"create cuda graphs | mem: alloc unknown",
		"observed many distinct sizes",
		"it uses 3 MB GPU memory",
		"|  0    7   0   0  |   1234MiB / 20096MiB  | 42      0 |  1   0    0    0    0 |", // a slice's row has no card's index
		"| reserved | 6.4 GiB |",
		"reserved 17179869184.00 GiB", // an underflow
		"reserved 3.0 GiB " + strings.Repeat("x", maxLine),
		"",
	} {
		if got := tell(read(raw)); got != "" {
			t.Errorf("%.120q: read %s", raw, got)
		}
	}
}

// Figures whose line says only half.
func TestReadOverLines(t *testing.T) {
	const smi = `|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
| N/A   35C    P0             118W / 700W |   12345MiB /  81559MiB |      0%      Default |
|   1  Tesla V100-PCIE...  Off  | 00000000:3B:00.0 Off |                    0 |
| 30%   40C    P0    55W / 250W |  31194MiB / 32480MiB |     44%      Default |`
	tests := []struct{ name, log, want string }{
		{"DeepSpeed's title is on the line before", "[2026-09-22 10:11:04,120] [INFO] [utils.py:781:see_memory_usage] after capture of graph 3, step 12\nother\n[2026-09-22 10:11:04,121] [INFO] [utils.py:782:see_memory_usage] MA 12.5 GB         Max_MA 13.0 GB         CA 14.0 GB         Max_CA 14 GB",
			"allocated 12.50 GiB step 12 graph 3 captured, reserved 14.00 GiB step 12 graph 3 captured"},
		{"a title of another process", "[rank1]: [INFO] [utils.py:781:see_memory_usage] after capture\n[rank0]: [INFO] [utils.py:782:see_memory_usage] MA 12.5 GB         Max_MA 13.0 GB         CA 14.0 GB         Max_CA 14 GB",
			"allocated 12.50 GiB, reserved 14.00 GiB"},
		{"a title too far away", "[INFO] [utils.py:781:see_memory_usage] after capture\n" + strings.Repeat("x\n", nearTitle) + "[INFO] [utils.py:782:see_memory_usage] MA 12.5 GB         Max_MA 13.0 GB         CA 14.0 GB         Max_CA 14 GB",
			"allocated 12.50 GiB, reserved 14.00 GiB"},
		{"nvidia-smi: the index is on the row before", smi, "used 12.06 GiB of GPU 0, used 30.46 GiB of GPU 1"},
		{"nvidia-smi: a row alone names no card", strings.Split(smi, "\n")[1], ""},
		{"csv", "index, memory.used [MiB], memory.total [MiB]\n0, 12345 MiB, 81559 MiB\n1, 400 MiB, 81559 MiB", "used 12.06 GiB of GPU 0, used 400.00 MiB of GPU 1"},
		{"csv with other lines between", "index, memory.used [MiB]\nstep 1\n0, 12345 MiB\nstep 2, loss 3\n0, 12347 MiB", "used 12.06 GiB of GPU 0, used 12.06 GiB of GPU 0"},
		{"csv that ended", "index, memory.used [MiB]\n" + strings.Repeat("step\n", maxMisses+1) + "0, 12345 MiB", ""},
		{"csv without a header, as a program calls it", "running nvidia-smi --query-gpu=timestamp,index,memory.used,memory.free --format=csv,noheader,nounits\n2026/09/22 10:11:04.120, 3, 1024, 80535",
			"used 1.00 GiB of GPU 3, free 78.65 GiB of GPU 3"},
		{"csv of processes", "pid, process_name, used_gpu_memory [MiB]\n4242, /usr/bin/python3, 78012 MiB", "used 76.18 GiB of pid 4242"},
		{"csv that does not name the card", "memory.used [MiB]\n12345 MiB\n12346 MiB", ""},
		{"csv of other columns", "index, utilization.gpu [%]\n0, 45 %", ""},
		{"rows that do not fit", "index, memory.used [MiB]\nzero, 12345 MiB\n0, many", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tell(read(tt.log)); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// A shell's command line prints no figure but says what its rows are.
func TestCommandGivesColumns(t *testing.T) {
	var r Reader
	r.Command("+ nvidia-smi --query-gpu=index,memory.used --format=csv,noheader")
	if !r.Waiting() {
		t.Fatal("rows are not waited for")
	}
	if got := tell(r.Read(placed("0, 512 MiB", 1))); got != "used 512.00 MiB of GPU 0" {
		t.Error(got)
	}
	for _, command := range []string{"+ nvidia-smi -L", "+ nvidia-smi --query-gpu=index,memory.used --format=xml", "+ nvidia-smi --query-gpu=memory.used --format=csv", "$ ls --query-gpu=index,memory.used"} {
		var r Reader
		if r.Command(command); r.Waiting() {
			t.Errorf("%q: rows are waited for", command)
		}
	}
}

func TestWaitingEnds(t *testing.T) {
	var r Reader
	r.Read(placed("index, memory.used [MiB]", 1))
	for n := range maxMisses + 1 {
		if !r.Waiting() {
			t.Fatalf("no longer waiting after %d lines", n)
		}
		r.Read(placed("step 1 loss 2.31", n+2))
	}
	if r.Waiting() {
		t.Error("still waiting")
	}
}

// GB of two programs are not the same: figures compare within one format.
func TestFormats(t *testing.T) {
	log := "[Rank 0] (after 1 iterations) memory (MB) | allocated: 1024.00 | max allocated: 1024.00 | reserved: 2048.00 | max reserved: 2048.00\n" +
		"step 1 reserved 2.1 GB\nstep 1 reserved 2.0 GiB\nmemory_reserved=2147483648\ntorch.cuda.memory_reserved()/1e9=2.147"
	var got []string
	for _, r := range read(log) {
		if r.Metric == Reserved {
			got = append(got, r.Format)
		}
	}
	want := []string{"megatron mb", "printed gb", "printed gib", "printed bytes", "printed 1e9 bytes"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// memory_summary cuts to whole units where the others round.
func TestRoundedAndCut(t *testing.T) {
	cut := read("| GPU reserved memory   |    100 MiB |    100 MiB |   1024 GiB |    968 GiB |")[0].Size
	if cut.Low != 100*MiB || cut.High != 101*MiB-1 {
		t.Errorf("cut: %+v", cut)
	}
	dropped := read("MA 12.5 GB         Max_MA 13.0 GB         CA 14.0 GB         Max_CA 14 GB")[0].Size
	if dropped.Low != gib(12.5-eps) || dropped.High != gib(12.5+eps) {
		t.Errorf("two decimals: %+v", dropped)
	}
}

func TestSummaryOfTwoCards(t *testing.T) {
	const table = "|                  PyTorch CUDA memory summary, device ID %d                 |\n| GPU reserved memory   |  57344 MiB |  57344 MiB |   1024 GiB |    968 GiB |\n"
	readings := read(fmt.Sprintf(table, 0) + fmt.Sprintf(table, 1))
	if len(readings) != 2 || readings[0].Format == readings[1].Format {
		t.Errorf("%+v", readings)
	}
}

// Lines of one print statement share a site, whatever their numbers.
func TestSite(t *testing.T) {
	same := func(a, b string) bool { return read(a)[0].Site == read(b)[0].Site }
	if !same("[after compile ] alloc: 61.0, reserved: 98.0", "[after compile ] alloc: 122.5, reserved: 194.0") {
		t.Error("two prints of one statement")
	}
	if same("[after compile ] alloc: 61.0, reserved: 98.0", "[after delete] alloc: 61.0, reserved: 98.0") {
		t.Error("two statements")
	}
	if !same("Capturing batches (bs=48 avail_mem=40.33 GB):  17%|#7        | 6/35 [00:05<00:24,  1.17it/s]", "Capturing batches (bs=40 avail_mem=40.13 GB):  20%|##        | 7/35 [00:05<00:24,  1.17s/it]") {
		t.Error("two states of one bar")
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"[Rank 8] (after 1 iterations) memory (MB) | allocated: 41205.87 | max allocated: 55873.02 | reserved: 57344.0 | max reserved: 57344.0",
		"create cuda graphs | mem: alloc 1.2 gb, res 3.4 gb:  50%|#####     | 12/24 [00:01<00:01, 11.9it/s]",
		"[INFO] [utils.py:781:see_memory_usage] after capture\nx\n[INFO] [utils.py:782:see_memory_usage] MA 12.5 GB         Max_MA 13.0 GB         CA 14.0 GB         Max_CA 14 GB",
		"  [graph 3/12] [16] | pool reserved=1.2 gb (Δiter=10.0 mb) pool allocated=410.0 mb (Δiter=2.0 mb)",
		"{\"step\": 20, \"memory_reserved_gb\": 41.3}\n{'reserved': 12.3, 'allocated': 4.5}",
		"torch.cuda.memory_reserved()/1e9=6.872367104 memory_allocated(0) = 6,872,367,104",
		"[after compile ] alloc: 61.00341796875, reserved: 98.0, max reserved: 98.0",
		"index, memory.used [MiB]\n0, 12345 MiB\n99999999999999999999, 1 MiB",
		"nvidia-smi --query-gpu=timestamp,index,memory.used --format=csv\nx, 3, 1024",
		"|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |\n| N/A   35C    P0             118W / 700W |   12345MiB /  81559MiB |      0%      Default |",
		"PyTorch CUDA memory summary, device ID 0 \n| GPU reserved memory   |  57344 MiB |  57344 MiB |   1024 GiB |    968 GiB |",
		"reserved_bytes_by_private_pools.0_1.all.current: 9223372036854775807, reserved_bytes_by_private_pools.0_2.all.current: 9223372036854775807",
		"pool (0, 1): reserved 130 MiB, live 0 MiB\n(0, 0) reserved 21.04 GiB live; (0, 1) reserved 12.75 TiB; (4, 0) reserved 63 TiB\npools reserved {(0, 0): 1, (0, 1): 2.5}",
		"12.30 GB allocated, 14.00 GB reserved", "cpu alloc=1.2/reserved=3", "host allocated 3reserved=4;reserved 5 GiB", "reserved=99999999999999999999999", "alloc=0.0.0GB rsv=\xff", "step 99999999999999999 reserved 1 GiB", "train_mem_gpu_alloc_delta = -0MB",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, log string) {
		var c Recorder
		for _, r := range read(log) {
			if r.Size.Low > r.Size.Bytes || r.Size.Bytes > r.Size.High || r.Size.High > 2*MaxSize || r.Size.Low < -2*MaxSize {
				t.Fatalf("%s: %+v", r.Metric, r.Size)
			}
			if r.Format == "" || r.Metric == "" || r.Printed == "" {
				t.Fatalf("%+v", r)
			}
			c.Add(r)
		}
		for _, track := range c.Tracks() {
			s := track.Series()
			if len(s.Samples)+s.SamplesDropped < 1 {
				t.Fatalf("%+v", s)
			}
			if g := Grown(track, track); g != nil && len(g.Rises) == 0 {
				t.Fatal("growth without a rise")
			}
		}
	})
}
