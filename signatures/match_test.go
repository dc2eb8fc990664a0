package signatures_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/graphtrap/graphtrap/signatures"
)

func mustLoad(t testing.TB, messages string) *signatures.Set {
	t.Helper()
	set, err := load(map[string]string{"messages/test.toml": messages})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestMatchPlacesAndKinds(t *testing.T) {
	set := mustLoad(t, `
[[message]]
id = "first"
says = "."
role = "context"
anchors = ["watchdog", "monitor"]
pattern = '''rank (?P<rank>INT) waits (?P<ran>MILLIS) ms, (?P<held>SIZE) of (?P<free>GIB) GiB for (?P<who>\w+)'''
facts = ['''took (?P<took>SECS) s''', '''rank (?P<rank>INT)''', '''ratio (?P<ratio>NUM)''', '''left (?P<left>MIB)''']
yes = [{ line = "x" }]
no = [{ line = "x" }]
[[message]]
id = "second"
says = "."
role = "context"
anchors = ["watchdog"]
yes = [{ line = "x" }]
no = [{ line = "x" }]
`)
	text := "the watchdog: rank 3 waits 600010 ms, 2.00 GiB of -1.5 GiB for SIGINT took 2.5 s, rank 4, ratio -0.5, left 12.25"
	got := set.Match(text)
	if len(got) != 2 || got[0].Message.ID != "first" || got[1].Message.ID != "second" {
		t.Fatalf("got %+v", got)
	}
	if text[got[0].Start:got[0].End] != text[14:strings.Index(text, " took")] || text[got[1].Start:got[1].End] != "watchdog" {
		t.Errorf("wrong ranges: %+v", got)
	}
	want := map[string][2]string{
		"rank": {"int", "3"}, "ran": {"millis", "600010"}, "held": {"size", "2.00 GiB"}, "free": {"gib", "-1.5"},
		"who": {"text", "SIGINT"}, "took": {"seconds", "2.5"}, "ratio": {"number", "-0.5"}, "left": {"mib", "12.25"},
	}
	facts := got[0].Facts()
	if len(facts) != len(want) {
		t.Errorf("facts = %v", facts)
	}
	for name, w := range want {
		c := facts[name]
		if c.Kind != w[0] || c.Text != w[1] || text[c.Start:c.End] != c.Text {
			t.Errorf("%s = %+v, want %v", name, c, w)
		}
	}
}

func TestMatchMacroWords(t *testing.T) {
	set := mustLoad(t, `
[[message]]
id = "words"
says = "."
role = "context"
anchors = ["SIGINT"]
pattern = '''SIGINT MY_SIZE SIZED SIZE, INT'''
yes = [{ line = "x" }]
no = [{ line = "x" }]
`)
	if len(set.Match("SIGINT MY_SIZE SIZED 4 MiB, -1")) != 1 {
		t.Error("only whole words are macros")
	}
}

func TestMatchNeedsAnchorAndPattern(t *testing.T) {
	set := mustLoad(t, message)
	for _, text := range []string{"", "Tried", "Tried to allocate 2.00 GiB", "out of memory. Tried to allocate x"} {
		if got := set.Match(text); got != nil {
			t.Errorf("Match(%q) = %v", text, got)
		}
	}
}

func TestMatchInLongText(t *testing.T) {
	set := mustLoad(t, message)
	line := "CUDA out of memory. Tried to allocate 2.00 GiB."
	for _, pad := range []int{100, 16 << 10, 250 << 10} {
		for _, text := range []string{
			line + strings.Repeat("x", pad),
			strings.Repeat("x", pad) + line,
			"out of memory. Tried to allocate x" + strings.Repeat("é", pad) + line + strings.Repeat("x", pad),
		} {
			got := set.Match(text)
			if len(got) != 1 {
				t.Fatalf("pad %d: %d matches", pad, len(got))
			}
			if c := got[0].Facts()["requested"]; text[c.Start:c.End] != "2.00 GiB" {
				t.Errorf("pad %d: %+v", pad, c)
			}
		}
	}
}

func TestMatchQuotedText(t *testing.T) {
	set := mustLoad(t, message+`
[[message]]
id = "cuda-oom"
says = "."
role = "initiator"
anchors = [" error: out of memory"]
pattern = '''(?:RAISED)CUDA error: out of memory(?:ENDED)'''
yes = [{ line = "x" }]
no = [{ line = "x" }]
`)
	tests := []struct {
		text string
		want int
	}{
		{`RuntimeError: CUDA error: out of memory`, 1},
		{`RuntimeError('CUDA error: out of memory\nCUDA kernel errors might be')`, 1},
		{`RuntimeError: Worker failed with error "CUDA error: out of memory", please check`, 1},
		{`time=3 level=error msg="RuntimeError: CUDA error: out of memory"`, 1},
		{`{"level": "error", "message": "CUDA out of memory. Tried to allocate 2.00 GiB"}`, 1},
		{`it's the driver's turn: CUDA error: out of memory`, 1},
		{`what():  CUDA error: out of memory (function reset)`, 1},
		{`the text "CUDA error: out of memory" is common`, 0},
		{"- `RuntimeError: CUDA error: out of memory`: lower the batch size", 0},
		{`grep -c 'CUDA out of memory. Tried to allocate 2.00 GiB' train.log`, 0},
		{`    raise RuntimeError("CUDA error: out of memory")`, 0},
		{`    raise MemoryError(f"CUDA out of memory. Tried to allocate 2.00 GiB")`, 0},
		{`if re.search(r'CUDA out of memory. Tried to allocate 2.00 GiB', line):`, 0},
		{`retry_on: ["x", "RuntimeError: CUDA error: out of memory"]`, 0},
		{`Note: CUDA error: out of memory means that the card is full`, 0},
	}
	for _, tt := range tests {
		if got := set.Match(tt.text); len(got) != tt.want {
			t.Errorf("%s: %d matches, want %d", tt.text, len(got), tt.want)
		}
	}
}

func TestMatchUnless(t *testing.T) {
	set := mustLoad(t, strings.Replace(message, "[[message.yes]]", "unless = 'by mistake'\n[[message.yes]]", 1))
	line := "CUDA out of memory. Tried to allocate 2.00 GiB"
	if len(set.Match(line)) != 1 || len(set.Match(line+" by mistake")) != 0 {
		t.Error("unless must silence the message")
	}
}

func TestMatchTakesLastProgress(t *testing.T) {
	set := mustLoad(t, `
[[message]]
id = "progress"
says = "."
role = "context"
capture = "progress"
anchors = ["Capturing"]
pattern = '''.*Capturing (?P<progress_done>INT)/100'''
yes = [{ line = "x" }]
no = [{ line = "x" }]
`)
	var bar strings.Builder
	for i := range 100 {
		fmt.Fprintf(&bar, "Capturing %d/100 %s", i, strings.Repeat("=", 1000))
	}
	got := set.Match(bar.String())
	if len(got) != 1 || got[0].Facts()["progress_done"].Text != "99" {
		t.Errorf("got %+v", got)
	}
}

func TestMatchConcurrently(t *testing.T) {
	set := mustLoad(t, message)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if len(set.Match("CUDA out of memory. Tried to allocate 2.00 GiB.")) != 1 {
					t.Error("no match")
				}
			}
		})
	}
	wg.Wait()
}

func FuzzMatch(f *testing.F) {
	set, err := signatures.Builtin()
	if err != nil {
		f.Fatal(err)
	}
	for _, m := range set.Messages() {
		for _, yes := range m.Yes {
			f.Add(yes.Line)
		}
	}
	f.Add("\x00\xff\xfe CUDA out of memory. Tried to allocate \xff")
	f.Fuzz(func(t *testing.T, text string) {
		last := -1
		for _, match := range set.Match(text) {
			if match.Start < 0 || match.End > len(text) || match.Start > match.End {
				t.Fatalf("range %d to %d of %d bytes", match.Start, match.End, len(text))
			}
			for name, c := range match.Facts() {
				if text[c.Start:c.End] != c.Text || c.Text == "" {
					t.Fatalf("fact %s: %+v", name, c)
				}
			}
			index := 0
			for i, m := range set.Messages() {
				if m == match.Message {
					index = i
				}
			}
			if index <= last {
				t.Fatal("matches are not in the order of the files")
			}
			last = index
		}
	})
}

func BenchmarkMatchLongLine(b *testing.B) {
	set, err := signatures.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("no message stands in this text, as far as anyone knows. ", 256<<10/56)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		set.Match(text)
	}
}

func BenchmarkMatchWorstLine(b *testing.B) {
	set, err := signatures.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	all := strings.Join(set.Anchors(), " ")
	text := strings.Repeat(all+" ", 1+256<<10/len(all))[:256<<10]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		set.Match(text)
	}
}

func BenchmarkBuiltin(b *testing.B) {
	for b.Loop() {
		if _, err := signatures.Builtin(); err != nil {
			b.Fatal(err)
		}
	}
}
