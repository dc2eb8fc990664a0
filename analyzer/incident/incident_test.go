package incident

import (
	"encoding/json"
	"testing"
)

func number(n int) *int { return &n }

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{
		"":             nil,
		"3":            {3},
		"0, 1":         {0, 1},
		"0-2":          {0, 1, 2},
		"0-16, 18-63":  append(seq(0, 16), seq(18, 63)...),
		"1, 3, 5":      {5, 3, 1, 3},
		"0, 1, 4-6, 9": {9, 0, 5, 4, 6, 1},
	} {
		if got := Ranges(numbers); got != want {
			t.Errorf("Ranges(%v) = %q, want %q", numbers, got, want)
		}
	}
}

func seq(from, to int) []int {
	var out []int
	for n := from; n <= to; n++ {
		out = append(out, n)
	}
	return out
}

func TestRangesKeepTheirArgument(t *testing.T) {
	numbers := []int{3, 1, 2}
	Ranges(numbers)
	if numbers[0] != 3 {
		t.Error("the numbers were sorted in place")
	}
}

func TestOriginName(t *testing.T) {
	tests := []struct {
		origin Origin
		want   string
	}{
		{Origin{}, ""},
		{Origin{Stream: "stderr"}, ""},
		{Origin{Rank: number(3), PID: number(7), Host: "n1"}, "rank 3"},
		{Origin{LocalRank: number(1), Host: "node-2"}, "local rank 1 on node-2"},
		{Origin{Process: "EngineCore_DP0", PID: number(311)}, "EngineCore_DP0 pid 311"},
	}
	for _, tt := range tests {
		if got := tt.origin.Name(); got != tt.want || tt.origin.Known() != (tt.want != "") {
			t.Errorf("%+v is named %q, want %q", tt.origin, got, tt.want)
		}
	}
}

// A file's name completes what its lines say, and never contradicts it.
func TestOriginOfAFile(t *testing.T) {
	file := Origin{Rank: number(5), RankFrom: "file's name", LocalRank: number(1), Host: "n1", Stream: "stderr"}
	tests := []struct {
		name       string
		line, want Origin
	}{
		{"nothing known", Origin{}, file},
		{"the line names its rank", Origin{Rank: number(3), RankFrom: "outer prefix"}, Origin{Rank: number(3), RankFrom: "outer prefix", LocalRank: number(1), Host: "n1", Stream: "stderr"}},
		{"the line names another process", Origin{Process: "EngineCore"}, Origin{Process: "EngineCore", LocalRank: number(1), Host: "n1", Stream: "stderr"}},
		{"the line names its host", Origin{Host: "n2"}, Origin{Rank: number(5), RankFrom: "file's name", LocalRank: number(1), Host: "n2", Stream: "stderr"}},
	}
	for _, tt := range tests {
		got, err := json.Marshal(tt.line.Or(file))
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(tt.want)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
	}
}

func TestFactsInJSON(t *testing.T) {
	for want, fact := range map[string]Fact{
		`"SIGTERM"`: {Kind: KindText, Text: "SIGTERM"},
		`-1`:        {Kind: KindInt, Text: "-1", Int: -1},
		`0.5`:       {Kind: KindNumber, Text: "0.5", Number: 0.5},
		`600.01`:    {Kind: KindSeconds, Text: "600010", Number: 600.01},
		`{"bytes":2147483648,"low":2142000000,"high":2153000000}`: {Kind: KindSize, Text: "2.00 GiB", Size: Size{2147483648, 2142000000, 2153000000}},
		`"\u003cmodule\u003e"`: {Kind: KindText, Text: "<module>"},
	} {
		got, err := json.Marshal(fact)
		if err != nil || string(got) != want {
			t.Errorf("%+v is %s, %v; want %s", fact, got, err, want)
		}
	}
}
