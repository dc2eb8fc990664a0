package message

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/scan"
	"github.com/graphtrap/graphtrap/signatures"
)

// builtin are the signatures and their scanner, loaded once.
var builtin = sync.OnceValues(func() (*signatures.Set, *scan.Scanner) {
	set, err := signatures.Builtin()
	if err != nil {
		panic(err)
	}
	return set, scan.New(Anchors(set))
})

// read recognises the messages of a log.
func read(t testing.TB, log string) *Found {
	t.Helper()
	set, scanner := builtin()
	data, size := strings.NewReader(log), int64(len(log))
	scanned, err := scanner.Scan(context.Background(), data, size)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Read(context.Background(), Source{Path: "x.log", Data: data, Size: size, Layout: scanned.Layout}, scanned.Hits, set)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// told lists the events: "4 torch-oom initiator, rank 3".
func told(found *Found) string {
	var out []string
	for _, e := range found.Events {
		s := fmt.Sprintf("%d %s %s", e.At.Number, e.ID, e.Role)
		if name := e.Origin.Name(); name != "" {
			s += ", " + name
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestEvents(t *testing.T) {
	tests := []struct{ name, log, want string }{
		{"nothing", "step 1\nstep 2\n", ""},
		{"a message of a rank", "[rank3]: RuntimeError: CUDA error: out of memory\n", "1 cuda-oom initiator, rank 3"},
		{"told as information: the run went on", "INFO 11-30 01:02:03 [a.py:1] CUDA error: out of memory\n", "1 cuda-oom symptom"},
		{"told as an error", "ERROR 11-30 01:02:03 [a.py:1] CUDA error: out of memory\n", "1 cuda-oom initiator"},
		{"the source line of a frame is no message", `[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/a.py", line 1, in f
[rank0]:     raise RuntimeError("CUDA error: out of memory")
[rank0]: ValueError: x
`, "4 python-exception initiator, rank 0"},
		{"SGLang's exception has the origin of its first line", `[2026-10-30 07:03:54 TP6] Scheduler hit an exception: Traceback (most recent call last):
  File "/sgl/a.py", line 1, in f
    x()
RuntimeError: CUDA error: out of memory
`, "1 sglang-scheduler-exception echo, TP6\n4 cuda-oom initiator, TP6"},
		{"an exception that no message knows", "Traceback (most recent call last):\n  File \"/app/a.py\", line 1, in f\nqueue.Full\n", "3 python-exception initiator"},
		{"being told to leave is no failure", "Traceback (most recent call last):\n  File \"/app/a.py\", line 1, in f\nKeyboardInterrupt\n", "3 python-interrupted collateral"},
		{"an exit is no failure", "Traceback (most recent call last):\n  File \"/app/a.py\", line 1, in f\nSystemExit: 0\n", ""},
		{"Composer's blocks give the rank", "----------Begin global rank 3 STDERR----------\nRuntimeError: CUDA error: out of memory\n----------End global rank 3 STDERR----------\nRuntimeError: CUDA error: out of memory\n",
			"2 cuda-oom initiator, rank 3\n4 cuda-oom initiator"},
		{"a line that a container runtime split", "2026-05-05T22:09:25.01Z stderr P [rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to all\n2026-05-05T22:09:25.02Z stdout F step 3\n2026-05-05T22:09:25.02Z stderr F ocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB\n", "1 torch-oom initiator, rank 2"},
		{"an exception group only holds the failure", "  + Exception Group Traceback (most recent call last):\n  |   File \"/app/a.py\", line 1, in f\n  |     x()\n  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/app/b.py\", line 2, in g\n    |     y()\n    | RuntimeError: CUDA error: out of memory\n",
			"9 cuda-oom initiator"},
		{"Ray raises a worker's error again: it is the worker's", `Traceback (most recent call last):
  File "/app/main.py", line 12, in <module>
    ray.get(runner.run.remote())
ray.exceptions.RayTaskError(RuntimeError): ray::Runner.run() (pid=901, ip=10.0.0.4, actor_id=abc, repr=<x>)
  File "/app/main.py", line 40, in run
ray.exceptions.RayTaskError(RuntimeError): ray::Worker.update() (pid=4242, ip=10.0.0.5, actor_id=abd, repr=<y>)
  File "/app/worker.py", line 88, in update
RuntimeError: CUDA error: out of memory
`, "4 ray-task-error echo, pid 901 on 10.0.0.4\n6 ray-task-error echo, pid 4242 on 10.0.0.5\n8 cuda-oom initiator, pid 4242 on 10.0.0.5"},
		{"so does torch.multiprocessing", `Traceback (most recent call last):
  File "/app/main.py", line 12, in <module>
    mp.spawn(run, nprocs=4)
torch.multiprocessing.spawn.ProcessRaisedException:

-- Process 2 terminated with the following error:
Traceback (most recent call last):
  File "/app/main.py", line 44, in run
    x()
RuntimeError: CUDA error: out of memory

Traceback (most recent call last):
  File "/app/other.py", line 1, in f
RuntimeError: CUDA error: misaligned address
`, "6 spawn-raised echo, local rank 2\n10 cuda-oom initiator, local rank 2\n14 cuda-misaligned initiator"},
		{"Ray's prefix stands on every line, SGLang's on the first only", `(SGLangEngine pid=231044) [2026-06-20 18:05:23 TP3] Scheduler hit an exception: Traceback (most recent call last):
(SGLangEngine pid=231044)   File "/sgl/a.py", line 1, in f
(SGLangEngine pid=231044)     x()
(SGLangEngine pid=231044) RuntimeError: CUDA error: out of memory
`, "1 sglang-scheduler-exception echo, SGLangEngine TP3 pid 231044\n4 cuda-oom initiator, SGLangEngine TP3 pid 231044"},
		{"two messages on one bar's line", "Capturing CUDA graphs (PIECEWISE):  31%|███▏      | 16/51 [00:07<00:15,  2.27it/s][rank1]: RuntimeError: CUDA error: out of memory\n",
			"1 vllm-capture-progress context\n1 cuda-oom initiator, rank 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := told(read(t, tt.log)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// wrapped is an out-of-memory message that a terminal broke into lines.
const wrapped = `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a
total capacity of 79.11 GiB of which 1.02 GiB is free. Including non-PyTorch memory,
this process has 78.00 GiB memory in use. Of the allocated memory 77.10 GiB is
allocated by PyTorch, with 1.20 GiB allocated in private pools (e.g., CUDA Graphs),
and 120.00 MiB is reserved by PyTorch but unallocated.
step 12
`

func TestWrappedMessage(t *testing.T) {
	found := read(t, wrapped)
	if len(found.Events) == 0 {
		t.Fatal("no event")
	}
	e := found.Events[0]
	for name, want := range map[string]string{
		"requested": "2.00 GiB", "capacity": "79.11 GiB", "free": "1.02 GiB", "in_use": "78.00 GiB", "allocated": "77.10 GiB", "private_pools": "1.20 GiB", "unallocated": "120.00 MiB",
	} {
		if got := e.Facts[name].Text; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if at := e.Location(); at.Line != 1 || at.EndLine != 5 {
		t.Errorf("lines %d to %d", at.Line, at.EndLine)
	}
}

func TestWrappedMessageOfOneRankAmongOthers(t *testing.T) {
	var b strings.Builder
	for l := range strings.Lines(wrapped) {
		b.WriteString("[rank1]: " + l)
	}
	if e := read(t, b.String()).Events[0]; e.Facts["unallocated"].Text != "120.00 MiB" {
		t.Errorf("%v", e.Facts)
	}
}

// The rest of a message must not be taken from another process.
func TestWrappedMessageEndsAtAnotherProcess(t *testing.T) {
	log := "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a\n" +
		"[rank2]: total capacity of 11.00 GiB of which 1.02 GiB is free.\n" +
		"[rank1]: total capacity of 79.11 GiB of which 3.00 GiB is free.\n"
	if e := read(t, log).Events[0]; e.Facts["capacity"].Text == "11.00 GiB" {
		t.Errorf("rank 1's card has %s", e.Facts["capacity"].Text)
	}
}

func TestFacts(t *testing.T) {
	capture := func(kind, text string) signatures.Capture { return signatures.Capture{Kind: kind, Text: text} }
	tests := []struct {
		name string
		in   signatures.Capture
		want incident.Fact
		ok   bool
	}{
		{"text", capture(signatures.KindText, "x"), incident.Fact{Kind: incident.KindText, Text: "x"}, true},
		{"int", capture(signatures.KindInt, "-1"), incident.Fact{Kind: incident.KindInt, Text: "-1", Int: -1}, true},
		{"an int too large", capture(signatures.KindInt, "99999999999999999999"), incident.Fact{}, false},
		{"number", capture(signatures.KindNumber, "0.5"), incident.Fact{Kind: incident.KindNumber, Text: "0.5", Number: 0.5}, true},
		{"milliseconds", capture(signatures.KindMillis, "600010"), incident.Fact{Kind: incident.KindSeconds, Text: "600010", Number: 600.01}, true},
		{"seconds", capture(signatures.KindSeconds, "2.5"), incident.Fact{Kind: incident.KindSeconds, Text: "2.5", Number: 2.5}, true},
		{"bytes", capture(signatures.KindSize, "64 bytes"), incident.Fact{Kind: incident.KindSize, Text: "64 bytes", Size: incident.Size{Bytes: 64, Low: 64, High: 64}}, true},
		{"a size below zero, printed as a huge one", capture(signatures.KindSize, "17179869184.00 GiB"), incident.Fact{}, false},
		{"bare MiB", capture(signatures.KindMiB, "1"), incident.Fact{Kind: incident.KindSize, Text: "1", Size: incident.Size{Bytes: 1 << 20, Low: 1 << 19, High: 3 << 19}}, true},
		{"bare GiB", capture(signatures.KindGiB, "2"), incident.Fact{Kind: incident.KindSize, Text: "2", Size: incident.Size{Bytes: 2 << 30, Low: 3 << 29, High: 5 << 29}}, true},
	}
	for _, tt := range tests {
		got, ok := fact(tt.in)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s: %+v %v", tt.name, got, ok)
		}
	}
}

func TestSpoken(t *testing.T) {
	for text, want := range map[string]bool{
		"RuntimeError: CUDA error: out of memory": true,
		"":                                    true,
		"  $ torchrun train.py":               false,
		"+ torchrun train.py":                 false,
		"# RuntimeError: x":                   false,
		"% python train.py":                   false,
		"> RuntimeError: x":                   false,
		`> File "/app/a.py", line 1, in f`:    true,
		"> built 24 cuda graph(s) in 3.1 sec": true,
		`config: {"a": "CUDA error: out of memory"}`:      false,
		"Namespace(lr=0.1)":                               false,
		"server_args=ServerArgs(tp_size=4)":               true, // the layout of its ranks
		"graphtrap diagnose train.log":                    false,
		"the > sign in the middle says nothing":           true,
		"##### ":                                          true,
		"[rank0]: + 3 more":                               true,
		"- 3 files were not read":                         true,
		"$HOME/train.py:3: UserWarning: The CUDA Graph x": true,
	} {
		if got := spoken(text); got != want {
			t.Errorf("spoken(%q) = %v", text, got)
		}
	}
}

// A memory report for each step must not fill the memory: the first and the
// latest are kept.
func TestContextIsBounded(t *testing.T) {
	var b strings.Builder
	const n = 5 * (maxFirst + maxLatest)
	for i := range n {
		fmt.Fprintf(&b, "step %d | reserved 12.40 GiB | allocated 9.10 GiB\n", i)
	}
	events := read(t, b.String()).Events
	if len(events) != maxFirst+maxLatest || events[0].At.Number != 1 || events[len(events)-1].At.Number != n {
		t.Errorf("%d events, lines %d to %d", len(events), events[0].At.Number, events[len(events)-1].At.Number)
	}
	if !slices.IsSortedFunc(events, func(a, b *Event) int { return int(a.At.Number - b.At.Number) }) {
		t.Error("events are not in the order of the file")
	}
}

// Initiators and victims are never thinned out.
func TestFailuresAreAllKept(t *testing.T) {
	const n = 2000
	events := read(t, strings.Repeat("[rank3]: RuntimeError: CUDA error: out of memory\n", n)).Events
	if len(events) != n {
		t.Errorf("%d of %d", len(events), n)
	}
}

func FuzzRead(f *testing.F) {
	set, scanner := builtin()
	for _, m := range set.Messages() {
		for _, yes := range m.Yes {
			f.Add("[rank1]: " + yes.Line + "\nx\n")
		}
	}
	for _, s := range []string{
		wrapped, "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x()\nValueError: x\n",
		"2026-05-05T22:09:25.01Z stderr P a\n2026-05-05T22:09:25.01Z stderr F b\n", "----------Begin global rank 3 STDERR----------\nKilled\n",
		"0: Killed\n1: Killed\nsrun: error: a: task 1: Out Of Memory\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, log string) {
		data, size := strings.NewReader(log), int64(len(log))
		scanned, err := scanner.Scan(context.Background(), data, size)
		if err != nil {
			t.Fatal(err)
		}
		found, err := Read(context.Background(), Source{Path: "x.log", Data: data, Size: size, Layout: scanned.Layout}, scanned.Hits, set)
		if err != nil {
			t.Fatal(err)
		}
		last := int64(0)
		for _, e := range found.Events {
			if e.At.Start < last {
				t.Fatal("events are not in the order of the file")
			}
			last = e.At.Start
			at := e.Location()
			if at.Offset < 0 || at.EndOffset > size || at.EndOffset < at.Offset || at.Line < 1 || at.EndLine < at.Line || at.Column < 1 {
				t.Fatalf("%s stands at %+v of %d bytes", e.ID, at, size)
			}
			for name, fact := range e.Facts {
				if fact.Kind == incident.KindSize && (fact.Size.Low > fact.Size.Bytes || fact.Size.Bytes > fact.Size.High) {
					t.Fatalf("%s: %+v", name, fact.Size)
				}
			}
		}
	})
}

// A form broke the lines in front of a word: they are put together again.
func TestBrokenBetweenWords(t *testing.T) {
	log := strings.Repeat(`W0520 17:31:10.220000 8814 torch/distributed/elastic/multiprocessing/api.py:897] Sending process
 8880 closing signal SIGTERM
`, 3) + `[rank3]: RuntimeError: CUDA error: out of memory
 it is not continued here, for there was room
`
	want := "1 torchrun-sigterm collateral, pid 8814\n3 torchrun-sigterm collateral, pid 8814\n5 torchrun-sigterm collateral, pid 8814\n7 cuda-oom initiator, rank 3"
	if got := told(read(t, log)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
