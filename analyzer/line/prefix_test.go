package line

import "testing"

func TestPrefix(t *testing.T) {
	for _, tt := range []struct{ raw, who, when string }{
		{"plain text", "", ""},
		{"[rank3]: Traceback (most recent call last):", "[rank3]", ""},
		{"[rank3]:[E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:683] [Rank 3] Watchdog", "[rank3]", "1125 01:25:02.000218549"},
		{"[default2]:step 10 loss 6.912", "[default2]", ""},
		{"[default3]:[rank11]: Traceback", "[default3]", ""},
		{"2026-11-28 04:13:22,150 | INFO | dataloader.py:188 | x", "", "2026-11-28 04:13:22,150"},
		{"2026-07-14 09:31:10,000 INFO  [rank 0] graph entry 1/2", "[rank 0]", "2026-07-14 09:31:10,000"},
		{"[2026-10-30 07:03:54 TP6] Load weight end.", "TP6", "2026-10-30 07:03:54"},
		{"[2026-10-30 07:02:54 DP1 TP1 EP1] x", "DP1 TP1 EP1", "2026-10-30 07:02:54"},
		{"(Worker_TP2 pid=143) ERROR 07-19 02:44:22 [core.py:470] boom", "(Worker_TP2 pid=143)", "07-19 02:44:22"},
		{"gpu-a02:4054:4910 [4] NCCL INFO Connection closed", "gpu-a02:4054:4910 [4]", ""},
		{"Nov 28 04:13:22 gpu-node-3 trainer[4417]: [rank3]: Traceback", "[rank3]", "Nov 28 04:13:22"},
		{"2026-05-05T22:09:25.010000000Z stderr F [rank4]: Traceback", "[rank4]", "2026-05-05T22:09:25.010000000Z"},
		{"[1,3]<stdout>:hello", "[1,3]<stdout>", ""},
		{`{"time": "2026-11-23T08:14:44.400000000Z", "log": "[rank1]: x\n"}`, "", "2026-11-23T08:14:44.400000000Z"},
		{"\x1b[31m[rank3]:\x1b[0m \x1b[1mTraceback\x1b[0m", "[rank3]", ""},
		{"\x1b[36m(Worker_TP2 pid=143)\x1b[0m \x1b[33m2026-11-28 04:13:22\x1b[0m x", "(Worker_TP2 pid=143)", "2026-11-28 04:13:22"},
		{" 10%|█ | 1/10\r[rank1]: 2026-11-28 04:13:22 x", "[rank1]", "2026-11-28 04:13:22"},
		{"[E ProcessGroupNCCL.cpp:457] [Rank 3] Watchdog", "[Rank 3]", ""},
		{"W1220 03:44:31.184000 1201 torch/elastic/api.py:900] Sending process", "", "1220 03:44:31.184000"},
	} {
		pieces := Decode([]byte(tt.raw), Layout{})
		who, when := Prefix([]byte(tt.raw), Layout{}, pieces[len(pieces)-1])
		if got := tt.raw[who.From:who.To]; got != tt.who {
			t.Errorf("%q: who is %q, want %q", tt.raw, got, tt.who)
		}
		if got := tt.raw[when.From:when.To]; got != tt.when {
			t.Errorf("%q: when is %q, want %q", tt.raw, got, tt.when)
		}
	}
}

func TestPrefixOfTaskLabel(t *testing.T) {
	raw := " 3: [rank7]: x"
	who, _ := Prefix([]byte(raw), Layout{TaskLabel: true}, Decode([]byte(raw), Layout{TaskLabel: true})[0])
	if got := raw[who.From:who.To]; got != "3" {
		t.Errorf("who is %q", got)
	}
}

func FuzzPrefix(f *testing.F) {
	f.Add("[rank3]:[E1125 01:25:02.000218549 ProcessGroupNCCL.cpp:683] [Rank 3] x\r\x1b[1m12%")
	f.Add(`{"time": "2026-11-23T08:14:44Z", "log": "[rank1]: x"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		for _, layout := range []Layout{{}, {TaskLabel: true}, {HostLabel: true}} {
			for _, p := range Decode([]byte(raw), layout) {
				for _, c := range func() []Columns { a, b := Prefix([]byte(raw), layout, p); return []Columns{a, b} }() {
					if c.From < 0 || c.To < c.From || c.To > len(raw) {
						t.Fatalf("%q: %v", raw, c)
					}
				}
			}
		}
	})
}
