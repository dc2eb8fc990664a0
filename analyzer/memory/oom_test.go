package memory

import (
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/analyzer/incident"
)

// sizes makes facts of sizes; "" is an absent one.
func sizes(named map[string]string) map[string]incident.Fact {
	facts := map[string]incident.Fact{}
	for name, text := range named {
		s, ok := ParseSize(text)
		if !ok {
			panic(text)
		}
		facts[name] = incident.Fact{Kind: incident.KindSize, Text: text, Size: s}
	}
	return facts
}

func TestDerive(t *testing.T) {
	const current, old = "torch.OutOfMemoryError", "torch.cuda.OutOfMemoryError"
	tests := []struct {
		name, exception string
		facts           map[string]string
		want            map[string]string // derived, as PyTorch prints sizes; "-" is absent
	}{
		{"all clauses", current,
			map[string]string{"allocated": "74.01 GiB", "private_pools": "41.30 GiB", "unallocated": "2.21 GiB"},
			map[string]string{"reserved": "76.22 GiB", "live": "32.71 GiB", "private_pools": "41.30 GiB"}},
		{"no pool clause in a release that prints it: pools hold nothing idle", current,
			map[string]string{"allocated": "77.10 GiB", "unallocated": "120.00 MiB"},
			map[string]string{"private_pools": "0 bytes", "live": "77.10 GiB", "reserved": "77.22 GiB"}},
		{"no pool clause in a release that may not know it: not known", old,
			map[string]string{"allocated": "77.10 GiB", "unallocated": "120.00 MiB"},
			map[string]string{"private_pools": "-", "live": "-", "reserved": "77.22 GiB"}},
		{"the name in IPython tells no release", "OutOfMemoryError",
			map[string]string{"allocated": "77.10 GiB", "unallocated": "120.00 MiB"},
			map[string]string{"private_pools": "-", "live": "-"}},
		{"torch 2.0: reserved in total", "RuntimeError",
			map[string]string{"allocated": "14.02 GiB", "total_reserved": "14.44 GiB"},
			map[string]string{"reserved": "14.44 GiB", "private_pools": "-", "live": "14.02 GiB"}},
		{"a message cut short: nothing follows", current,
			map[string]string{"requested": "2.00 GiB"},
			map[string]string{"reserved": "-", "live": "-", "private_pools": "-"}},
		{"cut within the clauses: pools are not known", current,
			map[string]string{"allocated": "74.01 GiB"},
			map[string]string{"reserved": "-", "live": "-", "private_pools": "-"}},
		{"rounding puts live tensors below zero", current,
			map[string]string{"allocated": "46.20 GiB", "private_pools": "46.20 GiB", "unallocated": "80.00 MiB"},
			map[string]string{"live": "0 bytes"}},
		{"cut behind the pools", current,
			map[string]string{"allocated": "74.01 GiB", "private_pools": "41.30 GiB"},
			map[string]string{"reserved": "-", "live": "32.71 GiB"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts := sizes(tt.facts)
			Derive(facts, tt.exception)
			for name, want := range tt.want {
				f, ok := facts[name]
				got := "-"
				if ok {
					got = Format(f.Size.Bytes)
				}
				if got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
				if f.Size.Low > f.Size.Bytes || f.Size.High < f.Size.Bytes {
					t.Errorf("%s: %+v", name, f.Size)
				}
			}
		})
	}
}

func TestException(t *testing.T) {
	for text, want := range map[string]string{
		"torch.OutOfMemoryError: CUDA out of memory. Tried":                                                               "torch.OutOfMemoryError",
		"CUDA out of memory. Tried to allocate 2.00 GiB":                                                                  "",
		"Exception in worker: CUDA out of memory. Tried":                                                                  "",
		"OutOfMemoryError('CUDA out of memory. Tried: to alloc')":                                                         "",
		"[NeMo E 2026-08-02 11:08:20 train:188 rank:1] before cleanup: torch.OutOfMemoryError: CUDA out of memory. Tried": "torch.OutOfMemoryError",
		"": "",
	} {
		if got := Exception(text); got != want {
			t.Errorf("Exception(%q) = %q, want %q", text, got, want)
		}
	}
}

// message is an out-of-memory message of a card of 80 GiB whose process reserves
// 76.22 GiB, with the processes that it lists.
func message(processes string) map[string]incident.Fact {
	facts := sizes(map[string]string{"capacity": "80.00 GiB", "free": "1.00 GiB", "allocated": "74.01 GiB", "private_pools": "41.30 GiB", "unallocated": "2.21 GiB"})
	if processes != "" {
		facts["processes"] = incident.Fact{Kind: incident.KindText, Text: processes}
	}
	return facts
}

func TestDeriveProcesses(t *testing.T) {
	tests := []struct{ name, listed, inUse, others, beside string }{
		{"the message names its own use", "this process has 77.00 GiB memory in use", "77.00 GiB", "0 bytes", "798.72 MiB"},
		{"and others", "this process has 77.00 GiB memory in use. Process 7 has 1.00 GiB memory in use. Process 8 has 512.00 MiB memory in use", "77.00 GiB", "1.50 GiB", "798.72 MiB"},
		{"others first", "Process 7 has 1.00 GiB memory in use. Including non-PyTorch memory, this process has 77.00 GiB memory in use", "77.00 GiB", "1.00 GiB", "798.72 MiB"},
		{"in a container it finds itself as another", "Process 900 has 76.70 GiB memory in use", "76.70 GiB", "0 bytes", "491.52 MiB"},
		{"beside a real other", "Process 412 has 1.20 GiB memory in use. Process 977 has 76.70 GiB memory in use", "76.70 GiB", "1.20 GiB", "491.52 MiB"},
		{"it is none of them", "Process 412 has 1.20 GiB memory in use. Process 413 has 1.00 GiB memory in use", "-", "2.20 GiB", "-"},
		{"it may be the larger one", "Process 412 has 79.00 GiB memory in use", "-", "-", "-"},
		{"two that it may be", "Process 412 has 76.50 GiB memory in use. Process 413 has 76.60 GiB memory in use", "-", "-", "-"},
		{"an underflow among them", "this process has 77.00 GiB memory in use. Process 7 has 17179869183.99 GiB memory in use", "-", "-", "-"},
		{"more than the card", "Process 7 has 99.00 GiB memory in use", "-", "-", "-"},
		{"wrapped", "Process\n412\nhas 1.20 GiB memory\nin use", "-", "1.20 GiB", "-"},
		{"no list, as without NVML", "", "-", "-", "-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts := message(tt.listed)
			Derive(facts, "torch.OutOfMemoryError")
			for name, want := range map[string]string{"in_use": tt.inUse, "other_processes": tt.others, "non_pytorch": tt.beside} {
				got := "-"
				if f, ok := facts[name]; ok {
					got = Format(f.Size.Bytes)
				}
				if got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
		})
	}
}

// A message that is cut within the list does not tell that nobody else is there.
func TestDeriveProcessesOfACutMessage(t *testing.T) {
	facts := sizes(map[string]string{"capacity": "80.00 GiB", "in_use": "77.00 GiB"})
	facts["processes"] = incident.Fact{Kind: incident.KindText, Text: "this process has 77.00 GiB memory in use"}
	Derive(facts, "torch.OutOfMemoryError")
	if f, ok := facts["other_processes"]; ok {
		t.Errorf("%+v", f)
	}
}

func TestDeriveDropsWhatCannotBe(t *testing.T) {
	tests := []struct{ name, fact, value, want string }{
		{"more free than the card has", "free", "81.00 GiB", "-"},
		{"free as large as the card", "free", "80.00 GiB", "80.00 GiB"},
		{"unallocated far beyond the card", "unallocated", "200.00 GiB", "-"},
		{"a slice counts more than its capacity", "unallocated", "90.00 GiB", "90.00 GiB"},
		{"more idle in pools than allocated", "private_pools", "75.00 GiB", "-"},
		{"a request may be larger than the card", "requested", "120.00 GiB", "120.00 GiB"},
	}
	for _, tt := range tests {
		facts := message("")
		facts[tt.fact] = sizes(map[string]string{tt.fact: tt.value})[tt.fact]
		Derive(facts, "torch.OutOfMemoryError")
		got := "-"
		if f, ok := facts[tt.fact]; ok {
			got = Format(f.Size.Bytes)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestDeriveShares(t *testing.T) {
	tests := []struct {
		name  string
		facts map[string]incident.Fact
		want  string
	}{
		{"all parts", message("this process has 77.00 GiB memory in use. Process 7 has 512.00 MiB memory in use"),
			"live tensors 41 %, idle in graph pools 52 %, reserved but unallocated 3 %, this process beside PyTorch under 1 %, other processes under 1 %, free 1 %"},
		{"nothing is listed", message(""),
			"live tensors 41 %, idle in graph pools 52 %, reserved but unallocated 3 %, free 1 %"},
		{"no figure but one", sizes(map[string]string{"capacity": "80.00 GiB", "free": "1.00 GiB"}), "-"},
		{"no card", sizes(map[string]string{"allocated": "74.01 GiB", "unallocated": "1.00 GiB", "free": "1.00 GiB"}), "-"},
		{"more than the card", sizes(map[string]string{"capacity": "10.00 GiB", "allocated": "12.00 GiB", "unallocated": "1.00 GiB", "free": "1.00 GiB"}), "-"},
	}
	for _, tt := range tests {
		Derive(tt.facts, "torch.OutOfMemoryError")
		got := "-"
		if f, ok := tt.facts["held_by"]; ok {
			got = f.Text
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestPercent(t *testing.T) {
	tests := []struct {
		part, whole incident.Size
		want        string
	}{
		{incident.Size{Bytes: 50, Low: 50, High: 50}, incident.Size{Bytes: 100, Low: 100, High: 100}, "50 %"},
		{incident.Size{Bytes: 50, Low: 45, High: 55}, incident.Size{Bytes: 100, Low: 100, High: 100}, "45 to 55 %"},
		{incident.Size{}, incident.Size{Bytes: 100, Low: 100, High: 100}, "0 %"},
		{incident.Size{Bytes: 1, Low: 1, High: 1}, incident.Size{Bytes: 1000, Low: 1000, High: 1000}, "under 1 %"},
	}
	for _, tt := range tests {
		if got := Percent(tt.part, tt.whole); got != tt.want {
			t.Errorf("%+v of %+v: %q, want %q", tt.part, tt.whole, got, tt.want)
		}
	}
}

func FuzzDerive(f *testing.F) {
	f.Add("this process has 77.00 GiB memory in use. Process 7 has 1.00 GiB memory in use", "74.01 GiB", "41.30 GiB", "2.21 GiB", "80.00 GiB")
	f.Add("Process 7 has 17179869183.99 GiB memory in use", "1 bytes", "63.9 TiB", "-1.00 GiB", "0 bytes")
	f.Add("", "", "", "", "")
	f.Fuzz(func(t *testing.T, processes, allocated, pools, unallocated, capacity string) {
		facts := map[string]incident.Fact{"processes": {Kind: incident.KindText, Text: processes}}
		for name, text := range map[string]string{"allocated": allocated, "private_pools": pools, "unallocated": unallocated, "capacity": capacity} {
			if s, ok := ParseSize(text); ok {
				facts[name] = incident.Fact{Kind: incident.KindSize, Text: text, Size: s}
			}
		}
		Derive(facts, "torch.OutOfMemoryError")
		for name, fact := range facts {
			if s := fact.Size; s.Low > s.Bytes || s.Bytes > s.High {
				t.Fatalf("%s: %+v", name, s)
			}
			if strings.Contains(fact.Text, "NaN") {
				t.Fatalf("%s: %s", name, fact.Text)
			}
		}
	})
}
