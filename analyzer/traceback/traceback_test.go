package traceback

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer/line"
)

// feed gives the lines of a log to a joiner and returns what each line was.
func feed(j *Joiner, log string) []Part {
	var parts []Part
	offset := int64(0)
	for n, raw := range strings.Split(strings.TrimSuffix(log, "\n"), "\n") {
		for _, piece := range line.Decode([]byte(raw), line.Layout{}) {
			part, _ := j.Add(line.Placed{Piece: piece, Path: "x.log", Number: int64(n + 1), Start: offset, Length: len(raw)})
			parts = append(parts, part)
		}
		offset += int64(len(raw)) + 1
	}
	return parts
}

// summaries tell of tracebacks in one line each: who, which lines, what was
// raised on which line, the frames, and how it is chained.
func summaries(log string) string {
	j := NewJoiner()
	feed(j, log)
	var out []string
	for _, tb := range j.Done() {
		s := fmt.Sprintf("%d-%d", tb.First.Number, tb.Last.Number)
		if name := tb.Origin.Name(); name != "" {
			s = name + ": " + s
		}
		if tb.Headless {
			s += " headless"
		}
		if tb.Complete() {
			s += fmt.Sprintf(" %s at %d", tb.Exception, tb.Stated.Number)
		}
		for _, f := range tb.Frames {
			s += fmt.Sprintf(", %s:%d %s", f.Path[strings.LastIndexByte(f.Path, '/')+1:], f.Line, f.Function)
			if f.Text != "" {
				s += " `" + f.Text + "`"
			}
		}
		if tb.Above != nil {
			s += fmt.Sprintf(", %s of line %d", tb.Link, tb.Above.First.Number)
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestTracebacks(t *testing.T) {
	tests := []struct{ name, log, want string }{
		{"plain", `
Traceback (most recent call last):
  File "/app/train.py", line 88, in <module>
    main()
  File "/app/train.py", line 41, in capture
    with torch.cuda.graph(g):
RuntimeError: CUDA error: out of memory
step 12`,
			"2-7 RuntimeError at 7, train.py:88 <module> `main()`, train.py:41 capture `with torch.cuda.graph(g):`"},
		{"carets of Python 3.11", `
Traceback (most recent call last):
  File "/app/train.py", line 88, in <module>
    out = model(batch["x"])
          ^^^^^^^^^^^^^^^^^
torch.OutOfMemoryError: CUDA out of memory.`,
			"2-6 torch.OutOfMemoryError at 6, train.py:88 <module> `out = model(batch[\"x\"])`"},
		{"carets and left-out lines of Python 3.13", `
Traceback (most recent call last):
  File "/app/train.py", line 88, in <module>
    run(
    ~~~^
        model,
        ^^^^^^
    ...<5 lines>...
    )
    ^
ValueError: x`,
			"2-11 ValueError at 11, train.py:88 <module> `run(`"},
		{"an exception without a text", `
Traceback (most recent call last):
  File "/app/a.py", line 1, in f
    assert x
AssertionError`,
			"2-5 AssertionError at 5, a.py:1 f `assert x`"},
		{"an exception of a class with a plain name", `
Traceback (most recent call last):
  File "/app/a.py", line 1, in f
    raise Full
queue.Full`,
			"2-5 queue.Full at 5, a.py:1 f `raise Full`"},
		{"frames without source lines", `
Traceback (most recent call last):
  File "/app/a.py", line 1, in f
  File "<string>", line 2, in g
KeyError: 'x'`,
			"2-5 KeyError at 5, a.py:1 f, <string>:2 g"},
		{"all lines prefixed", `
[rank3]: Traceback (most recent call last):
[rank3]:   File "/app/a.py", line 1, in f
[rank3]:     x()
[rank3]: ValueError: x`,
			"rank 3: 2-5 ValueError at 5, a.py:1 f `x()`"},
		{"two ranks interleaved", `
[rank0]: Traceback (most recent call last):
[rank1]: Traceback (most recent call last):
[rank0]:   File "/app/a.py", line 1, in f
[rank1]:   File "/app/b.py", line 2, in g
[rank1]:     y()
[rank0]:     x()
[rank1]: KeyError: 'y'
[rank0]: ValueError: x`,
			"rank 0: 2-9 ValueError at 9, a.py:1 f `x()`\nrank 1: 3-8 KeyError at 8, b.py:2 g `y()`"},
		{"two ranks and lines of others between", `
[rank0]: Traceback (most recent call last):
[rank2]: step 12
[rank0]:   File "/app/a.py", line 1, in f
free text
[rank0]:     x()
[rank0]: ValueError: x`,
			"rank 0: 2-7 ValueError at 7, a.py:1 f `x()`"},
		{"SGLang: the prefix on the first line only", `
[2026-10-30 07:03:54 TP6] Scheduler hit an exception: Traceback (most recent call last):
  File "/opt/sglang/scheduler.py", line 2222, in run_scheduler_process
    scheduler = Scheduler(
  File "/opt/sglang/cuda_graph_runner.py", line 375, in __init__
    self.capture()
RuntimeError: CUDA error: out of memory
[2026-10-30 07:03:54 TP7] x`,
			"TP6: 2-7 RuntimeError at 7, scheduler.py:2222 run_scheduler_process `scheduler = Scheduler(`, cuda_graph_runner.py:375 __init__ `self.capture()`"},
		{"SGLang, chained", `
[2026-10-30 07:03:54 TP6] Scheduler hit an exception: Traceback (most recent call last):
  File "/opt/sglang/a.py", line 1, in f
    x()
torch.OutOfMemoryError: CUDA out of memory.

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/opt/sglang/b.py", line 2, in g
    y()
Exception: Capture cuda graph failed: CUDA out of memory.
Possible solutions:
1. set --mem-fraction-static to a smaller value`,
			"TP6: 2-5 torch.OutOfMemoryError at 5, a.py:1 f `x()`\nTP6: 9-12 Exception at 12, b.py:2 g `y()`, during handling of line 2"},
		{"vLLM: the logger's prefix on all lines", `
(Worker_TP2 pid=143) ERROR 11-30 01:02:03 [multiproc_executor.py:671] WorkerProc hit an exception.
(Worker_TP2 pid=143) ERROR 11-30 01:02:03 [multiproc_executor.py:671] Traceback (most recent call last):
(Worker_TP2 pid=143) ERROR 11-30 01:02:03 [multiproc_executor.py:671]   File "/opt/vllm/a.py", line 1, in capture_model
(Worker_TP2 pid=143) ERROR 11-30 01:02:03 [multiproc_executor.py:671]     x()
(Worker_TP2 pid=143) ERROR 11-30 01:02:03 [multiproc_executor.py:671] torch.OutOfMemoryError: CUDA out of memory.
(EngineCore pid=99) ERROR 11-30 01:02:04 [core.py:1] x`,
			"Worker_TP2 pid 143: 3-6 torch.OutOfMemoryError at 6, a.py:1 capture_model `x()`"},
		{"kubectl's times on all lines", `
2025-12-02T06:31:48.301100004Z Traceback (most recent call last):
2025-12-02T06:31:48.301100005Z   File "/app/a.py", line 1, in f
2025-12-02T06:31:48.301100006Z     with torch.cuda.graph(g):
2025-12-02T06:31:48.301100007Z ValueError: x`,
			"2-5 ValueError at 5, a.py:1 f `with torch.cuda.graph(g):`"},
		{"chained: during handling", `
Traceback (most recent call last):
  File "/app/a.py", line 1, in f
    x()
ValueError: x

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/b.py", line 2, in g
    y()
KeyError: 'y'`,
			"2-5 ValueError at 5, a.py:1 f `x()`\n9-12 KeyError at 12, b.py:2 g `y()`, during handling of line 2"},
		{"chained: direct cause", `
[rank1]: Traceback (most recent call last):
[rank1]:   File "/app/a.py", line 1, in f
[rank1]:     x()
[rank1]: ValueError: x

[rank1]: The above exception was the direct cause of the following exception:

[rank1]: Traceback (most recent call last):
[rank1]:   File "/app/b.py", line 2, in g
[rank1]:     y()
[rank1]: KeyError: 'y'`,
			"rank 1: 2-5 ValueError at 5, a.py:1 f `x()`\nrank 1: 9-12 KeyError at 12, b.py:2 g `y()`, direct cause of line 2"},
		{"chains of two ranks interleaved", `
[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/a.py", line 1, in f
[rank0]: ValueError: 0
[rank1]: Traceback (most recent call last):
[rank1]:   File "/app/a.py", line 1, in f
[rank1]: ValueError: 1
[rank0]: During handling of the above exception, another exception occurred:
[rank1]: During handling of the above exception, another exception occurred:
[rank1]: Traceback (most recent call last):
[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/b.py", line 2, in g
[rank1]:   File "/app/b.py", line 2, in g
[rank1]: KeyError: 1
[rank0]: KeyError: 0`,
			"rank 0: 2-4 ValueError at 4, a.py:1 f\nrank 1: 5-7 ValueError at 7, a.py:1 f\n" +
				"rank 1: 10-14 KeyError at 14, b.py:2 g, during handling of line 5\nrank 0: 11-15 KeyError at 15, b.py:2 g, during handling of line 2"},
		{"two of one process, not chained", `
[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/a.py", line 1, in f
[rank0]: ValueError: x
[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/b.py", line 2, in g
[rank0]: KeyError: 'y'`,
			"rank 0: 2-4 ValueError at 4, a.py:1 f\nrank 0: 5-7 KeyError at 7, b.py:2 g"},
		{"the log starts within it", `
  File "/app/a.py", line 1, in f
    x()
  File "/app/b.py", line 2, in g
    y()
ValueError: x`,
			"2-6 headless ValueError at 6, a.py:1 f `x()`, b.py:2 g `y()`"},
		{"the log ends within it", `
Traceback (most recent call last):
  File "/app/a.py", line 1, in f
    x()`,
			"2-4, a.py:1 f `x()`"},
		{"a log record of the same process within", `
[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/a.py", line 1, in f
[rank0]:[W1204 11:22:33.444555666 CUDAGraph.cpp:145] Warning: x (function reset)
[rank0]:     x()
[rank0]: ValueError: x`,
			"rank 0: 2-6 ValueError at 6, a.py:1 f `x()`"},
		{"endless recursion", `
Traceback (most recent call last):
  File "/app/a.py", line 1, in f
    f()
  [Previous line repeated 996 more times]
RecursionError: maximum recursion depth exceeded`,
			"2-6 RecursionError at 6, a.py:1 f `f()`"},
		{"an exception group", `
  + Exception Group Traceback (most recent call last):
  |   File "/app/a.py", line 1, in f
  |     x()
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/app/b.py", line 2, in g
    |     y()
    | ValueError: x`,
			"2-5 ExceptionGroup at 5, a.py:1 f `x()`\n7-10 ValueError at 10, b.py:2 g `y()`"},
		{"IPython", `
---------------------------------------------------------------------------
OutOfMemoryError                          Traceback (most recent call last)
Cell In[12], line 15
     13     scaler.scale(loss).backward()
     14     scaler.unscale_(optimizer)
---> 15     scaler.step(optimizer)

File /opt/env/lib/python3.11/site-packages/torch/amp/grad_scaler.py:452, in GradScaler.step(self, optimizer, *args, **kwargs)
    450 if optimizer_state["stage"] is OptState.READY:
--> 452     self.unscale_(optimizer)

OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB.`,
			"3-13 OutOfMemoryError at 13, grad_scaler.py:452 GradScaler.step(self, optimizer, *args, **kwargs) `self.unscale_(optimizer)`"},
		{"IPython of old", `
RuntimeError                              Traceback (most recent call last)
/tmp/ipykernel_31/1234.py in <module>
     14 with torch.cuda.graph(g):
---> 15     scaler.step(optimizer)

/opt/conda/lib/python3.7/site-packages/torch/optim/adam.py in step(self, closure)
    107             loss = closure()
--> 108         x()

RuntimeError: CUDA out of memory. Tried to allocate 64.00 MiB`,
			"2-11 RuntimeError at 11, 1234.py:15 <module> `scaler.step(optimizer)`, adam.py:108 step(self, closure) `x()`"},
		{"faulthandler: frames without a header", `
Fatal Python error: Segmentation fault

Current thread 0x00007f00 (most recent call first):
  File "/opt/torch/cuda/graphs.py", line 88 in replay
  File "/app/a.py", line 1 in f`,
			""},
		{"pin-memory thread: the original traceback within the message", `
Traceback (most recent call last):
  File "/app/a.py", line 1, in f
    x()
RuntimeError: Caught RuntimeError in pin memory thread for device 0.
Original Traceback (most recent call last):
  File "/opt/torch/pin_memory.py", line 33, in do_one_step
    y()
RuntimeError: CUDA error: out of memory`,
			"2-5 RuntimeError at 5, a.py:1 f `x()`\n6-9 RuntimeError at 9, pin_memory.py:33 do_one_step `y()`"},
		{"loguru's marker", `
Traceback (most recent call last):
> File "/app/a.py", line 1, in f
    x()
ValueError: x`,
			"2-5 ValueError at 5, a.py:1 f `x()`"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := summaries(tt.log); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestParts(t *testing.T) {
	j := NewJoiner()
	got := feed(j, `step 12
[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/a.py", line 1, in f
[rank0]:     raise ValueError("CUDA error: out of memory")
[rank1]: step 12
[rank0]: ValueError: x
[rank0]: more of the message
[rank0]: 
[rank0]: During handling of the above exception, another exception occurred:
`)
	want := []Part{None, Head, Frame, Source, None, Stated, Tail, Tail, Tail}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRoot(t *testing.T) {
	j := NewJoiner()
	feed(j, `Traceback (most recent call last):
  File "/app/a.py", line 1, in f
ValueError: x
During handling of the above exception, another exception occurred:
Traceback (most recent call last):
  File "/app/b.py", line 2, in g
KeyError: 'y'
The above exception was the direct cause of the following exception:
Traceback (most recent call last):
  File "/app/c.py", line 3, in h
OSError: z
`)
	if tbs := j.Done(); len(tbs) != 3 || tbs[2].Root() != tbs[0] || tbs[0].Root() != tbs[0] {
		t.Errorf("%d tracebacks", len(tbs))
	}
}

// A traceback keeps the frames next to its ends, however deep it is.
func TestDeepTraceback(t *testing.T) {
	var b strings.Builder
	b.WriteString(Header + ":\n")
	for i := range 3 * MaxFrames {
		fmt.Fprintf(&b, "  File \"/app/a.py\", line %d, in f\n    f()\n", i+1)
	}
	b.WriteString("RecursionError: maximum recursion depth exceeded\n")
	j := NewJoiner()
	feed(j, b.String())
	frames := j.Done()[0].Frames
	if len(frames) != MaxFrames || frames[0].Line != 1 || frames[MaxFrames-1].Line != 3*MaxFrames || frames[MaxFrames-1].Text != "f()" {
		t.Errorf("%d frames, %+v to %+v", len(frames), frames[0], frames[len(frames)-1])
	}
}

// What is open must not grow with the log.
func TestSilentTracebacksAreClosed(t *testing.T) {
	j := NewJoiner()
	feed(j, "[rank0]: "+Header+":\n"+strings.Repeat("[rank1]: step\n", 5000))
	if j.Waiting() {
		t.Error("a process that fell silent is still waited for")
	}
	if j = NewJoiner(); true {
		feed(j, "[rank0]: "+Header+":\n[rank0]:   File \"/app/a.py\", line 1, in f\n"+strings.Repeat("[rank0]: step 1\n", 100))
	}
	if j.Waiting() {
		t.Error("a process that went on is still waited for")
	}
}

func TestManyProcessesAtOnce(t *testing.T) {
	var b strings.Builder
	for i := range 2 * maxOpen {
		fmt.Fprintf(&b, "[rank%d]: %s:\n", i, Header)
	}
	j := NewJoiner()
	feed(j, b.String())
	if len(j.streams) > maxOpen || len(j.Done()) != 2*maxOpen {
		t.Errorf("%d open, %d tracebacks", len(j.streams), len(j.Done()))
	}
}

func FuzzJoiner(f *testing.F) {
	for _, s := range []string{
		"Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x()\nValueError: x\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"b.py\", line 2, in g\nKeyError\n",
		"[rank0]: Traceback (most recent call last):\n[rank1]: Traceback (most recent call last):\n[rank0]:   File \"a.py\", line 1, in f\n[rank1]: x\n",
		"[2026-10-30 07:03:54 TP6] x: Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nE: x\n",
		"OutOfMemoryError    Traceback (most recent call last)\nFile /a.py:3, in f(x)\n---> 3 y\n   4 z\nOutOfMemoryError: x\n",
		"  File \"a.py\", line 99999999999999999999, in f\n", "  + Exception Group Traceback (most recent call last):\n  | E: x\n",
		"---> 99999999999999999999 x", "Traceback (most recent call last)\n/a.py in f\n---> 99999999999999999999 x\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, log string) {
		j := NewJoiner()
		feed(j, log)
		last := int64(0)
		for _, tb := range j.Done() {
			if tb.First.Number < last {
				t.Fatal("tracebacks are not in the order of their first lines")
			}
			last = tb.First.Number
			if tb.Last.Before(tb.First) {
				t.Fatalf("ends at line %d before it starts at %d", tb.Last.Number, tb.First.Number)
			}
			if len(tb.Frames) > MaxFrames {
				t.Fatalf("%d frames", len(tb.Frames))
			}
			if tb.Complete() != (tb.Stated.Number > 0) {
				t.Fatal("an exception without its line")
			}
			for _, f := range tb.Frames {
				if f.Line < 0 {
					t.Fatalf("frame at line %d", f.Line)
				}
			}
			for above, n := tb, 0; above != nil; above, n = above.Above, n+1 {
				if n > len(j.Done()) {
					t.Fatal("a chain without an end")
				}
			}
		}
	})
}
