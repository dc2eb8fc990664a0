package signatures_test

import (
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/signatures"
)

func TestMeans(t *testing.T) {
	set, err := signatures.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ message, fact, value, want string }{
		{"torchrun-failed", "exit_code", "-9", "SIGKILL"},
		{"kubernetes-exec-killed", "exit_code", "137", "SIGKILL"},
		{"torchrun-failed", "exit_code", "-6", "SIGABRT"},
		{"torchrun-failed", "exit_code", "134", "SIGABRT"},
		{"torchrun-failed", "exit_code", "-11", "SIGSEGV"},
		{"torchrun-failed", "exit_code", "139", "SIGSEGV"},
		{"torchrun-failed", "exit_code", "143", "SIGTERM"},
		{"torchrun-failed", "exit_code", "77", ""},
		{"dataloader-killed", "signal", "Bus error", "/dev/shm"},
		{"kernel-xid", "code", "79", "fell off the bus"},
		{"kernel-xid-program", "code", "31", "page fault"},
		{"kernel-sxid", "code", "79", ""}, // another table, which is not here
		{"torch-oom", "requested", "79", ""},
	} {
		got, ok := set.Means(tt.message, tt.fact, tt.value)
		if ok != (tt.want != "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s.%s = %s means %q (%v), want %q", tt.message, tt.fact, tt.value, got, ok, tt.want)
		}
	}
}

const codes = `facts = ["requested"]
called = "size"
[[code]]
is = ["2.00 GiB"]
means = "two"
`

func TestLoadCodes(t *testing.T) {
	set, err := load(map[string]string{"messages/pytorch.toml": message, "codes/a.toml": codes, "codes/b.toml": `
facts = ["torch-oom.requested", "requested"]
called = "size"
[[code]]
is = ["1.00 GiB", "2.00 GiB"]
means = "of this message"
`})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ message, value, want string }{
		{"torch-oom", "2.00 GiB", "size 2.00 GiB: of this message"}, // before what holds for all
		{"other", "2.00 GiB", "size 2.00 GiB: two"},                 // the first of two
		{"other", "1.00 GiB", "size 1.00 GiB: of this message"},
	} {
		if got, _ := set.Means(tt.message, "requested", tt.value); got != tt.want {
			t.Errorf("%s of %s means %q, want %q", tt.value, tt.message, got, tt.want)
		}
	}
}

func TestLoadRefusesCodes(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"unknown key", "means =", "mean =", `codes/a.toml:5: unknown key "mean"`},
		{"no facts", `facts = ["requested"]`, "", "codes/a.toml: add facts"},
		{"no name", `called = "size"`, "", "codes/a.toml: add called"},
		{"unknown fact", `"requested"`, `"asked"`, `codes/a.toml:1: no message captures "asked"`},
		{"unknown fact of a message", `"requested"`, `"torch-oom.asked"`, `codes/a.toml:1: no message captures "torch-oom.asked"`},
		{"no codes", codes[strings.Index(codes, "[["):], "", "codes/a.toml: no [[code]]"},
		{"no spelling", `is = ["2.00 GiB"]`, "", "codes/a.toml:3: add is"},
		{"twice", `["2.00 GiB"]`, `["2.00 GiB", "2.00 GiB"]`, `codes/a.toml:4: code "2.00 GiB" is there twice`},
		{"no words", `"two"`, `""`, "codes/a.toml:5: add means"},
		{"a sentence", `"two"`, `"Two."`, "codes/a.toml:5: add means"},
		{"type", `"two"`, `2`, "codes/a.toml:5: "},
	} {
		_, err := load(map[string]string{"messages/pytorch.toml": message, "codes/a.toml": strings.Replace(codes, tt.old, tt.new, 1)})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}
