package signatures_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/graphtrap/graphtrap/signatures"
)

// message is a complete message; edits of it are what the tests load.
const message = `[[message]]
id = "torch-oom"
says = "The allocator could not serve {requested}."
role = "initiator"
anchors = ["out of memory. Tried to allocate"]
pattern = '''Tried to allocate (?P<requested>SIZE)'''
[[message.yes]]
line = "CUDA out of memory. Tried to allocate 2.00 GiB."
facts = { requested = "2.00 GiB" }
[[message.no]]
line = "CUDA out of memory. Tried to allocate more."
`

// failure is a complete failure that uses message.
const failure = `id = "graph-oom"
title = "Out of memory"
summary = "It is."
[[states]]
message = "torch-oom"
rank = 10
when = { phase = "capture" }
[[graph_pool]]
is = "yes"
says = "it was made inside a capture"
when = { message = "torch-oom", fact = "requested", op = ">=", than = "2.00 GiB" }
[[evidence]]
says = "the request was large"
for = "supports"
when = { message = "torch-oom", where = "run" }
[[fix]]
id = "share"
title = "Share one pool"
stack = "pytorch"
why = "w"
code = "c"
language = "python"
precondition = "p"
risk = "r"
rollback = "b"
[[fix.verify]]
command = "c"
expect = "e"
`

func load(files map[string]string) (*signatures.Set, error) {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return signatures.Load(fsys)
}

func TestLoadAccepts(t *testing.T) {
	set, err := load(map[string]string{"messages/pytorch.toml": message, "failures/graph-oom.toml": failure})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.CheckSamples(); err != nil {
		t.Error(err)
	}
	if m := set.Message("torch-oom"); m == nil || m.Program != "pytorch" {
		t.Errorf("Message = %+v", m)
	}
	if set.Failure("graph-oom") == nil || set.Failure("other") != nil || set.Message("other") != nil {
		t.Error("Message or Failure finds the wrong entries")
	}
	if got := set.Kinds("torch-oom"); len(got) != 1 || got["requested"] != signatures.KindSize {
		t.Errorf("Kinds = %v", got)
	}
	if got := set.Anchors(); len(got) != 1 || got[0] != "out of memory. Tried to allocate" {
		t.Errorf("Anchors = %q", got)
	}
}

func TestLoadRefuses(t *testing.T) {
	tests := []struct {
		name     string
		in       string // "message" or "failure"
		old, new string
		want     string
	}{
		{"unknown key", "message", `role =`, `rolle = 1` + "\n" + `role =`, `messages/pytorch.toml:4: unknown key "rolle"`},
		{"unknown key of a sample", "message", `facts = {`, `fact = 1` + "\n" + `facts = {`, `messages/pytorch.toml:9: unknown key "fact"`},
		{"unknown table", "message", `[[message.no]]`, `[[massage]]` + "\nid = 1\n" + `[[message.no]]`, `messages/pytorch.toml:10: unknown key "massage"`},
		{"unknown key inside a condition", "failure", `phase =`, `faze = "x", phase =`, `failures/graph-oom.toml:7: unknown key "faze"`},
		{"syntax", "message", `role = "`, `role = `, `messages/pytorch.toml:4: `},
		{"type", "message", `role = "initiator"`, `role = 1`, `messages/pytorch.toml:4: `},
		{"role", "message", `"initiator"`, `"culprit"`, `messages/pytorch.toml:4: message "torch-oom": role "culprit" is none of`},
		{"id", "message", `"torch-oom"`, `"Torch_OOM"`, `messages/pytorch.toml:2: message "Torch_OOM": the id must be kebab case`},
		{"no says", "message", `says = "The allocator could not serve {requested}."`, ``, `messages/pytorch.toml:2: message "torch-oom": add says`},
		{"says with an unknown fact", "message", `{requested}`, `{asked}`, `messages/pytorch.toml:3: message "torch-oom": says names {asked}`},
		{"no anchors", "message", `anchors = ["out of memory. Tried to allocate"]`, ``, `messages/pytorch.toml:2: message "torch-oom": add anchors`},
		{"short anchor", "message", `["out of memory. Tried to allocate"]`, `["out of"]` + "\n" + `wraps = -1`, `messages/pytorch.toml:6: message "torch-oom": wraps counts lines`},
		{"very short anchor", "message", `["out of memory. Tried to allocate"]`, `["out"]`, `messages/pytorch.toml:5: message "torch-oom": anchor "out" is shorter than 6 bytes`},
		{"pattern", "message", `SIZE)`, `SIZE`, `messages/pytorch.toml:6: message "torch-oom": error parsing regexp`},
		{"long pattern", "message", `SIZE)`, `SIZE)` + strings.Repeat("x?", 4000), `messages/pytorch.toml:6: message "torch-oom": the pattern is longer`},
		{"fact name", "message", `<requested>SIZE)'''`, `<Requested>SIZE)'''`, `messages/pytorch.toml:6: message "torch-oom": fact "Requested" must be snake case`},
		{"facts without groups", "message", `[[message.yes]]`, `facts = ["x"]` + "\n[[message.yes]]", `messages/pytorch.toml:7: message "torch-oom": "x" captures nothing`},
		{"facts of two kinds", "message", `[[message.yes]]`, `facts = ["(?P<requested>INT)"]` + "\n[[message.yes]]", `fact "requested" is int here and size before`},
		{"about", "message", `role =`, "about = \"me\"\nrole =", `messages/pytorch.toml:4: message "torch-oom": about "me" is none of`},
		{"about nobody", "message", `role =`, "about = \"named\"\nrole =", `about needs a pattern that captures one of rank`},
		{"capture", "message", `role =`, "capture = \"on\"\nrole =", `capture "on" is none of`},
		{"progress of nothing", "message", `role =`, "capture = \"progress\"\nrole =", `capture needs a pattern that captures one of progress_done`},
		{"weak", "message", `"initiator"`, "\"echo\"\nweak = true", `messages/pytorch.toml:5: message "torch-oom": only an initiator can be weak`},
		{"derived", "message", `role =`, "derived = [\"Live\"]\nrole =", `derived fact "Live" must be a size`},
		{"unless", "message", `[[message.yes]]`, "unless = '(?P<x>y)'\n[[message.yes]]", `messages/pytorch.toml:7: message "torch-oom": unless captures nothing`},
		{"no yes", "message", message[strings.Index(message, "[[message.yes]]"):strings.Index(message, "[[message.no]]")], ``, `add a [[message.yes]]`},
		{"no no", "message", message[strings.Index(message, "[[message.no]]"):], ``, `add a [[message.no]]`},
		{"empty file", "message", message, ``, `messages/pytorch.toml: no [[message]]`},
		{"same id", "message", message, message + message, `messages/pytorch.toml:13: message "torch-oom": the id is taken`},
		{"deep values", "message", message, "a = " + strings.Repeat("[", 100000), `messages/pytorch.toml:1: nested more than 64 deep`},
		{"deep keys", "message", message, strings.Repeat(`"a".`, 1000) + "a = 1", `messages/pytorch.toml:1: nested more than 64 deep`},
		{"large file", "message", message, "#" + strings.Repeat("x", 2<<20), `messages/pytorch.toml: larger than`},

		{"file name", "failure", `"graph-oom"`, `"other"`, `failures/graph-oom.toml:1: id is "other", but the file is named "graph-oom"`},
		{"no title", "failure", `title = "Out of memory"`, ``, `failures/graph-oom.toml: add a title`},
		{"no such message", "failure", `message = "torch-oom"` + "\nrank", `message = "torch-omm"` + "\nrank", `failures/graph-oom.toml:5: there is no message "torch-omm"`},
		{"no states", "failure", `[[states]]` + "\n" + `message = "torch-oom"` + "\nrank = 10\n" + `when = { phase = "capture" }`, ``, `add [[states]]`},
		{"phase", "failure", `"capture"`, `"captur"`, `failures/graph-oom.toml:7: condition: phase = "captur" is none of`},
		{"two forms", "failure", `phase = "capture"`, `phase = "capture", stack = "vllm"`, `set exactly one of all, any, not, message, phase, frame, source, text, metric, stack, version, processes; this has [phase stack]`},
		{"no form", "failure", `{ phase = "capture" }`, `{}`, `failures/graph-oom.toml:7: condition: set exactly one of`},
		{"inner condition", "failure", `{ phase = "capture" }`, `{ all = [{ not = { any = [{ processes = "two" }] } }] }`, `failures/graph-oom.toml:7: condition: processes = "two" is none of one, several`},
		{"op", "failure", `">="`, `"=>"`, `condition: op = "=>" is none of`},
		{"fact", "failure", `fact = "requested"`, `fact = "asked"`, `failures/graph-oom.toml:11: condition: message "torch-oom" has no fact "asked"`},
		{"than", "failure", `than = "2.00 GiB"`, `than = "free"`, `condition: than = "free" is neither a fact`},
		{"op without than", "failure", `, than = "2.00 GiB"`, ``, `condition: op needs than`},
		{"trend without metric", "failure", `where = "run"`, `where = "run", trend = "flat"`, `condition: trend needs metric`},
		{"graph pool", "failure", `is = "yes"`, `is = "maybe"`, `failures/graph-oom.toml:9: is = "maybe" is none of`},
		{"evidence for", "failure", `for = "supports"`, `for = "proves"`, `failures/graph-oom.toml:14: for = "proves" is none of`},
		{"evidence without when", "failure", `when = { message = "torch-oom", where = "run" }`, ``, `failures/graph-oom.toml:13: add when`},
		{"risk", "failure", `risk = "r"`, ``, `failures/graph-oom.toml:16: fix "share": add risk`},
		{"verify", "failure", failure[strings.Index(failure, "[[fix.verify]]"):], ``, `fix "share": add a [[fix.verify]]`},
		{"no fix", "failure", failure[strings.Index(failure, "[[fix]]"):], ``, `add a [[fix]] or a [[missing]]`},
		{"stack", "failure", `stack = "pytorch"`, `stack = "torch"`, `failures/graph-oom.toml:19: fix "share": stack "torch" is none of`},
		{"the same fix twice", "failure", `[[fix]]`, failure[strings.Index(failure, "[[fix]]"):] + `[[fix]]`, `failures/graph-oom.toml:30: there are two fixes "share"`},
		{"version of nothing", "failure", `{ phase = "capture" }`, `{ version = { of = "vllm", op = ">=", than = "0.12" } }`, `failures/graph-oom.toml:7: condition: version: no message has the text fact "vllm_version"`},
		{"version that is none", "failure", `{ phase = "capture" }`, `{ version = { of = "vllm", op = ">=", than = "new" } }`, `condition: version: than = "new" is no version`},
		{"version without an operator", "failure", `{ phase = "capture" }`, `{ version = { of = "vllm", than = "0.12" } }`, `condition: version: op = "" is none of`},
		{"related", "failure", `summary =`, `related = ["other"]` + "\nsummary =", `failures/graph-oom.toml:3: there is no failure "other"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"messages/pytorch.toml": message, "failures/graph-oom.toml": failure}
			name := "messages/pytorch.toml"
			if tt.in == "failure" {
				name = "failures/graph-oom.toml"
			}
			if !strings.Contains(files[name], tt.old) {
				t.Fatalf("%q is not in the %s", tt.old, tt.in)
			}
			files[name] = strings.Replace(files[name], tt.old, tt.new, 1)
			_, err := load(files)
			if err == nil {
				t.Fatal("loads")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestLoadReportsAllFiles(t *testing.T) {
	_, err := load(map[string]string{
		"messages/a.toml": strings.Replace(message, "role", "rule", 1),
		"messages/b.toml": "x",
	})
	if err == nil || !strings.Contains(err.Error(), "messages/a.toml:4") || !strings.Contains(err.Error(), "messages/b.toml:1") {
		t.Errorf("got %v", err)
	}
}

func TestCheckSamplesReports(t *testing.T) {
	tests := []struct {
		name, old, new, want string
	}{
		{"no match", `allocate 2.00 GiB.`, `allocate it.`, `messages/pytorch.toml:8: message "torch-oom" must match but does not`},
		{"other value", `requested = "2.00 GiB"`, `requested = "2 GiB"`, `messages/pytorch.toml:8: message "torch-oom": fact requested is "2.00 GiB", the sample says "2 GiB"`},
		{"not captured", `requested = "2.00 GiB"`, `requested = "2.00 GiB", free = "1"`, `messages/pytorch.toml:8: message "torch-oom": fact free = "1" was not found`},
		{"not listed", `facts = { requested = "2.00 GiB" }`, ``, `messages/pytorch.toml:8: message "torch-oom": the sample does not list the fact requested = "2.00 GiB"`},
		{"not silent", `allocate more.`, `allocate 1 GiB.`, `messages/pytorch.toml:11: message "torch-oom" must stay silent but matches`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, err := load(map[string]string{"messages/pytorch.toml": strings.Replace(message, tt.old, tt.new, 1)})
			if err != nil {
				t.Fatal(err)
			}
			if err := set.CheckSamples(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(message, failure)
	f.Add("[[message]]\nid=1", "id = 'x'\n[[states]]\nwhen = { all = [{ not = {} }] }")
	f.Add("a.b.c = [[[{}]]]", "[a]\n[[a]]")
	f.Add("x = '''", "x = \"\\")
	f.Fuzz(func(t *testing.T, messages, failures string) {
		set, err := load(map[string]string{"messages/pytorch.toml": messages, "failures/graph-oom.toml": failures})
		if err == nil {
			_ = set.CheckSamples()
			set.Match(messages)
		}
	})
}
