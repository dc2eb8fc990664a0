package line

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var seeds = []string{
	"", "\r", "x\r\n", "[rank3]: x", "[default1]:[rank9]:[E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:683] [Rank 1] x",
	"\x1b[36m(Worker_TP2 pid=143)\x1b[0m ERROR 11-30 01:02:03 [a.py:1]   File \"a\"", "\x1b]0;t\x07x\x1b[", "\x1bP\x1b\\",
	"0%|  | 0/2 [00:00<?, ?it/s]\r50%|# | 1/2 [00:01<00:01,  1.0it/s](Worker pid=3) x", "a\xffb\x00c",
	`{"log":"\u001b[36m(W pid=1)\u001b[0m \ud83d\ude00 a\"b\\\n","stream":"stderr","time":"2026-11-23T08:14:44.4Z"}`,
	`{"log": "10%|# | 1/9 [0<9, 1.0it/s][rank1]: x\r`, "2026-05-05T22:09:25.01Z stderr P x", " 3: [rank3]: x",
	"Thu Nov 12 01:54:27 2026[2]<stderr>:x", "gpu:1:2 [4] NCCL INFO x", "trainer-1  | x", "a/0 [rank5]: x", "node-3: x", "trainer-3 pytorch x", `{"ts": "x", "rank": 3, "exc_info": "a\nb\u001b[", "message": "c"}`, "[NeMo E 2026-08-02 11:08:20 a:1 rank:1] x",
}

func FuzzDecode(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), byte(0))
		f.Add([]byte(s), byte(7))
	}
	f.Fuzz(func(t *testing.T, raw []byte, labels byte) {
		before := string(raw)
		Detect(raw)
		pieces := Decode(raw, Layout{TaskLabel: labels&1 > 0, HostLabel: labels&2 > 0, PodLabel: labels&4 > 0, TaskForm: TaskForm(labels >> 3 % 3)})
		if string(raw) != before {
			t.Fatal("the raw line was changed")
		}
		if len(pieces) == 0 {
			t.Fatal("no piece")
		}
		escaped := strings.Contains(before, "{") // the members of a JSON record may come in any order
		last := 0
		for _, p := range pieces {
			if escaped {
				last = 0
			}
			for i := range len(p.Text) + 1 {
				c := p.Column(i)
				if c < last || c > len(raw) {
					t.Fatalf("column %d of byte %d follows column %d; the line has %d bytes", c, i, last, len(raw))
				}
				if !escaped && i < len(p.Text) && raw[c] != p.Text[i] {
					t.Fatalf("byte %d of %q is not the raw byte at column %d", i, p.Text, c)
				}
				if i < len(p.Text) {
					last = c
				}
			}
			p.Stamp.Time()
			if q := Quote(p.Text); len(q) > len(p.Text) {
				t.Fatalf("Quote made %q longer", p.Text)
			}
		}
	})
}

// Whatever is stripped and peeled, what is left stands in the raw line.
func TestTextMapsToRawBytes(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"[rank3]: ", "[default1]:", "(Worker_TP2 pid=143) ", "ERROR 11-30 01:02:03 [a.py:1] ", "2026-05-05T22:09:25.01Z stderr F ",
		"\x1b[36m", "\x1b[0m", "\x00", "\r", "\x1b]0;title\x07", "é", "\xff", " ", "x", "File \"/app/a.py\", line 1, in f",
		"10%|█  | 1/9 [00:01<00:09,  1.0it/s]", "[2026-10-30 07:03:54 TP6] ", "gpu-a02:4054:4910 [4] NCCL INFO ", " 3: ",
	})
	rapid.Check(t, func(t *rapid.T) {
		raw := []byte(strings.Join(rapid.SliceOf(part).Draw(t, "parts"), ""))
		for _, p := range Decode(raw, Layout{TaskLabel: rapid.Bool().Draw(t, "label")}) {
			for i := range len(p.Text) {
				if c := p.Column(i); raw[c] != p.Text[i] {
					t.Fatalf("%q: byte %d of %q maps to column %d", raw, i, p.Text, c)
				}
			}
		}
	})
}
