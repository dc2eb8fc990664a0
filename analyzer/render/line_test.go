package render

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphtrap/graphtrap/analyzer/incident"
	"github.com/graphtrap/graphtrap/analyzer/memory"
)

func text(s string) incident.Fact { return incident.Fact{Kind: incident.KindText, Text: s} }

func whole(n int64) incident.Fact {
	return incident.Fact{Kind: incident.KindInt, Text: fmt.Sprint(n), Int: n}
}

func seconds(n float64) incident.Fact {
	return incident.Fact{Kind: incident.KindSeconds, Text: fmt.Sprint(n), Number: n}
}

func sized(s string) incident.Fact {
	v, ok := memory.ParseSize(s)
	if !ok {
		panic(s)
	}
	return incident.Fact{Kind: incident.KindSize, Text: s, Size: v}
}

type facts = map[string]incident.Fact

// one is a line with one message, printed by rank 3.
func one(m incident.Message) incident.Line {
	rank := 3
	return incident.Line{Origin: incident.Origin{Rank: &rank, RankFrom: "outer prefix"}, Messages: []incident.Message{m}}
}

// oom is the line of an out-of-memory message.
func oom() incident.Line {
	f := facts{
		"requested": sized("2.00 GiB"), "capacity": sized("79.11 GiB"), "free": sized("1.20 GiB"), "gpu": whole(1),
		"in_use": sized("77.90 GiB"), "allocated": sized("72.10 GiB"), "private_pools": sized("40.10 GiB"), "unallocated": sized("4.80 GiB"),
		"processes": text("this process has 77.90 GiB memory in use"),
	}
	memory.Derive(f, "torch.OutOfMemoryError")
	return one(incident.Message{ID: "torch-oom", Says: "PyTorch's allocator could not get 2.00 GiB.", Facts: f, Told: []string{"requested"}, Source: "PyTorch CUDACachingAllocator.cpp; a note"})
}

func TestLine(t *testing.T) {
	at := func(text string, granularity float64) *incident.Time {
		when := time.Date(0, 11, 25, 4, 12, 33, 0, time.UTC)
		return &incident.Time{Text: text, Clock: incident.Wall, Granularity: granularity, At: &when}
	}
	begin := &incident.Location{Line: 48213, EndLine: 48213, Offset: 700, EndOffset: 800}
	four, pid := 4, 4417
	tests := []struct {
		name     string
		line     incident.Line
		o        LineOptions
		markdown string
		plain    string
	}{
		{
			name: "out of memory",
			line: oom(),
			markdown: `
**PyTorch's allocator could not get 2.00 GiB.**··
Printed by rank 3 (known by: outer prefix).

| memory of the card | size | of 79.11 GiB |
| --- | ---: | ---: |
| asked for | 2.00 GiB | 3 % |
| live tensors | 32.00 GiB | 40 % |
| idle in graph pools | 40.10 GiB | 51 % |
| reserved but unallocated | 4.80 GiB | 6 % |
| this process beside PyTorch | 1.00 GiB | 1 % |
| other processes | 0 bytes | 0 % |
| free | 1.20 GiB | 2 % |

Also: allocated 72.10 GiB; card 1; in use by this process 77.90 GiB; reserved 76.90 GiB.··
` + "`torch-oom`, printed by PyTorch CUDACachingAllocator.cpp",
			plain: `
PyTorch's allocator could not get 2.00 GiB.
Printed by rank 3 (known by: outer prefix).
asked for                        2.00 GiB  3 % of 79.11 GiB
live tensors                    32.00 GiB  40 %
idle in graph pools             40.10 GiB  51 %
reserved but unallocated         4.80 GiB  6 %
this process beside PyTorch      1.00 GiB  1 %
other processes                   0 bytes  0 %
free                             1.20 GiB  2 %
Also: allocated 72.10 GiB; card 1; in use by this process 77.90 GiB; reserved 76.90 GiB.
torch-oom, printed by PyTorch CUDACachingAllocator.cpp`,
		},
		{
			name: "work",
			line: func() incident.Line {
				l := one(incident.Message{
					ID: "c10d-timeout", Says: "A collective (ALLREDUCE) did not complete in time.", Told: []string{"op", "ran"},
					Facts: facts{
						"seq": whole(1234), "op": text("ALLREDUCE"), "numel_in": whole(268435456), "numel_out": whole(268435456),
						"timeout": seconds(600), "ran": seconds(600.029), "last_enqueued": whole(1235), "last_completed": whole(1233),
						"pg": text("0(default_pg)"), "pg_id": whole(0), "group_rank": whole(3),
					},
				})
				l.Time, l.Since = at("1125 04:12:33.123456789", 1), &incident.Elapsed{Seconds: 603, Within: 1}
				return l
			}(),
			o: LineOptions{Initiating: begin},
			markdown: `
**A collective (ALLREDUCE) did not complete in time.**··
Printed by rank 3 (known by: outer prefix), at 1125 04:12:33.123456789 (the digits behind the second are of another clock), 10 min 3 s after the initiating event (line 48213).

Work 1234: ALLREDUCE of 268.4 M elements in group 0(default\_pg), in which this is rank 3.··
Waited 600.0 s; the limit is 600 s.··
Last enqueued work 1235, last completed 1233: 2 not completed.··
` + "`c10d-timeout`",
		},
		{
			name: "work of one",
			line: one(incident.Message{ID: "c10d-status", Says: "Work 5 failed.", Facts: facts{
				"seq": whole(5), "last_enqueued": whole(5), "last_completed": whole(-1), "numel_in": whole(1024), "numel_out": whole(8192), "pg_id": whole(2),
			}}),
			markdown: `
**Work 5 failed.**··
Printed by rank 3 (known by: outer prefix).

Work 5 of 1024 elements in, 8192 out in group 2.··
Last enqueued work 5, last completed -1: none was completed.··
` + "`c10d-status`",
		},
		{
			name: "exit code",
			line: incident.Line{
				Origin: incident.Origin{PID: &pid, Host: "node-2"},
				Messages: []incident.Message{{
					ID: "torchrun-killed", Says: "The process with local rank 5 was killed.", Told: []string{"local_rank"},
					Facts: facts{"exit_code": whole(-9), "local_rank": whole(5), "pid": whole(77)},
					Means: map[string]string{"exit_code": "exit code -9: SIGKILL, killed from outside"},
					About: incident.Origin{Rank: &four, RankFrom: "local rank of the same host"},
				}},
			},
			markdown: `
**The process with local rank 5 was killed.**··
Printed by pid 4417 on node-2.

It is about rank 4 (known by: local rank of the same host).··
Exit code -9: SIGKILL, killed from outside.··
` + "`torchrun-killed`",
		},
		{
			name: "a code of the driver, without a printer",
			line: incident.Line{
				Time: at("Nov 25 04:12:33", 1), Since: &incident.Elapsed{Seconds: -720, Within: 1, Around: true},
				Messages: []incident.Message{{
					ID: "kernel-xid", Says: "The driver reports Xid 79.", Facts: facts{"code": whole(79), "pci": text("PCI:0000:af:00")},
					Told: []string{"code", "pci"}, Means: map[string]string{"code": "Xid 79: the card fell off the bus"}, Source: "the NVIDIA driver",
				}},
			},
			markdown: `
**The driver reports Xid 79.**··
Printed at Nov 25 04:12:33, about 12 min before the initiating event.

Xid 79: the card fell off the bus.··
` + "`kernel-xid`, printed by the NVIDIA driver",
		},
		{
			name: "captures",
			line: one(incident.Message{ID: "graph-progress", Says: "Capturing.", Capture: "progress", Facts: facts{
				"progress_done": whole(9), "progress_total": whole(12), "batch_size": whole(64),
			}}),
			markdown: `
**Capturing.**··
Printed by rank 3 (known by: outer prefix).

Captures: 9 of 12 (75 %).··
Also: batch size 64.··
` + "`graph-progress`",
		},
		{
			name: "the initiating line itself",
			line: func() incident.Line {
				l := one(incident.Message{ID: "x", Says: "It."})
				l.Text, l.Time, l.Since = *begin, at("1125 04:12:33", 1), &incident.Elapsed{Within: 1}
				return l
			}(),
			o: LineOptions{Initiating: begin},
			markdown: `
**It.**··
Printed by rank 3 (known by: outer prefix), at 1125 04:12:33.

` + "`x`",
		},
		{
			name: "several messages",
			line: func() incident.Line {
				l := one(incident.Message{ID: "a", Says: "First."})
				l.Messages = append(l.Messages, incident.Message{ID: "b"}, incident.Message{ID: "c", Says: "Third."}, incident.Message{ID: "d"}, incident.Message{ID: "e"})
				return l
			}(),
			markdown: "\n**First.**··\nPrinted by rank 3 (known by: outer prefix).\n\n`a`··\n**A known message: b.**··\n`b`··\n**Third.**··\n`c`··\nAnd 2 more messages on this line.",
		},
		{
			name: "text of the log is text",
			line: one(incident.Message{ID: "x", Says: "It said [click](http://x) *now* | `x` <b>.\x1b[31m", Facts: facts{"path": text(strings.Repeat("é<", 60))}}),
			markdown: "\n**It said \\[click\\](http://x) \\*now\\* \\| \\`x\\` &lt;b&gt;.?\\[31m**··\nPrinted by rank 3 (known by: outer prefix).\n\nAlso: path " +
				strings.Repeat("é&lt;", 30) + "...··\n`x`",
			plain: "\nIt said [click](http://x) *now* | `x` <b>.?[31m\nPrinted by rank 3 (known by: outer prefix).\nAlso: path " + strings.Repeat("é<", 30) + "...\nx",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for plain, want := range map[bool]string{false: tt.markdown, true: tt.plain} {
				if want == "" {
					continue
				}
				o := tt.o
				o.Plain = plain
				got, ok := Line(&tt.line, o)
				if diff := cmp.Diff(strings.ReplaceAll(strings.TrimPrefix(want, "\n"), "··", "  "), got); diff != "" || !ok {
					t.Errorf("plain %v, ok %v (-want +got):\n%s", plain, ok, diff)
				}
			}
		})
	}
}

func TestLineOfProse(t *testing.T) {
	if text, ok := Line(&incident.Line{}, LineOptions{}); ok || text != "" {
		t.Errorf("a line without a message gives %q", text)
	}
}

// TestLineBelow checks that what stands above leaves the room, and that no table is
// shown twice.
func TestLineBelow(t *testing.T) {
	l := oom()
	if got, _ := Line(&l, LineOptions{Below: "a\n| --- | --- |\nb"}); strings.Contains(got, "| live") || !strings.HasPrefix(got, "\n\n---\n\n**PyTorch") {
		t.Errorf("below a table: %q", got)
	}
	if got, _ := Line(&l, LineOptions{Below: "a"}); strings.Contains(got, "| live") || !strings.Contains(got, "Also") {
		t.Errorf("below a line: %q", got)
	}
	for n := range 30 {
		above := strings.Repeat("x\n", n)
		got, ok := Line(&l, LineOptions{Below: above})
		if lines := strings.Count(above+got, "\n") + 1; ok && lines > maxHoverLines {
			t.Errorf("%d lines below %d", lines, n)
		}
		if ok != (got != "") || ok != (n+4+minLineRoom <= maxHoverLines) {
			t.Errorf("below %d lines: ok %v, %q", n, ok, got)
		}
	}
}

// TestLineRepeatsNothing that stands above it, and no text of the log without an end.
func TestLineRepeatsNothing(t *testing.T) {
	l := one(incident.Message{ID: "a", Says: "It_said."})
	if got, ok := Line(&l, LineOptions{Below: "x It\\_said. y"}); !ok || strings.Contains(got, "said") || !strings.Contains(got, "Printed by rank 3") {
		t.Errorf("ok %v, %q", ok, got)
	}
	l = one(incident.Message{ID: "a", Says: strings.Repeat("é", 100_000)})
	if got, _ := Line(&l, LineOptions{}); len(got) > 2000 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestSince(t *testing.T) {
	for _, tt := range []struct {
		seconds, within float64
		around          bool
		sign, words     string
	}{
		{0, 1, false, "0 s", "within 1 s of"},
		{0, 0.001, false, "0 s", "at the same time as"},
		{0.0004, 0.000001, false, "+1 ms", "1 ms after"},
		{0.012, 0.001, false, "+12 ms", "12 ms after"},
		{0.4, 0.001, false, "+0.4 s", "0.4 s after"},
		{-0.4, 0.001, false, "-0.4 s", "0.4 s before"},
		{0.4, 1, false, "0 s", "within 1 s of"},
		{1, 1, false, "+1 s", "1 s after"},
		{2.37, 0.01, false, "+2.4 s", "2.4 s after"},
		{2.37, 1, false, "+2 s", "2 s after"},
		{74.2, 0.001, false, "+74 s", "74 s after"},
		{600.029, 1, false, "+10 min", "10 min after"},
		{603, 1, false, "+10 min", "10 min 3 s after"},
		{-720, 1, false, "-12 min", "12 min before"},
		{-720, 3, true, "~-12 min", "about 12 min before"},
		{2, 3, true, "~0 s", "within 3 s of"},
		{7300, 1, false, "+2.0 h", "2 h 1 min after"},
		{300000, 1, false, "+3 d", "3 d 11 h after"},
	} {
		e := &incident.Elapsed{Seconds: tt.seconds, Within: tt.within, Around: tt.around}
		if got := Since(e); got != tt.sign {
			t.Errorf("%+v: %q, want %q", *e, got, tt.sign)
		}
		if got := sinceWords(e); got != tt.words {
			t.Errorf("%+v: %q, want %q", *e, got, tt.words)
		}
	}
}

// TestLineFits: whatever the facts are, the text stays within one look, plain or not,
// and carries nothing that an editor would obey.
func TestLineFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := oom()
		for i := range rapid.IntRange(0, 6).Draw(t, "messages") {
			m := incident.Message{ID: fmt.Sprint("m", i), Says: rapid.String().Draw(t, "says"), Facts: facts{}, Source: rapid.String().Draw(t, "source")}
			for _, name := range rapid.SliceOf(rapid.SampledFrom([]string{"op", "seq", "pg", "ran", "requested", "free", "capacity", "progress_done", "progress_total", "a", "b", "c"})).Draw(t, "facts") {
				m.Facts[name] = rapid.SampledFrom([]incident.Fact{text(rapid.String().Draw(t, "text")), whole(7), seconds(1.5), sized("2.00 GiB")}).Draw(t, "fact")
			}
			l.Messages = append(l.Messages, m)
		}
		for _, plain := range []bool{false, true} {
			got, ok := Line(&l, LineOptions{Plain: plain})
			if !ok || strings.Count(got, "\n") >= maxHoverLines {
				t.Fatalf("ok %v, %d lines:\n%s", ok, strings.Count(got, "\n")+1, got)
			}
			if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 }) {
				t.Fatalf("a control character: %q", got)
			}
		}
	})
}
