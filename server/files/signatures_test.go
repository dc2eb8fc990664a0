package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphtrap/graphtrap/server/files"
)

const ownMessage = `
[[message]]
id = "our-trainer-gave-up"
says = "Our trainer gave up in step {step}."
role = "initiator"
anchors = ["our trainer gave up"]
pattern = "our trainer gave up in step (?P<step>INT)"
[[message.yes]]
line = "our trainer gave up in step 3"
[[message.no]]
line = "our trainer gave up smoking"
`

const ownFailure = `id = "our-failure"
title = "our trainer gave up"
summary = "It does so."
[[states]]
message = "our-trainer-gave-up"
[[missing]]
id = "why"
ask = "why it gave up"
how = "ask it"
[[yes]]
log = "our trainer gave up in step 3"
[[no]]
log = "fine"
`

func folder(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSignaturesBesideTheBuiltIn(t *testing.T) {
	set, err := files.Signatures(folder(t, map[string]string{
		"messages/aaa.toml": ownMessage, "failures/our-failure.toml": ownFailure, "messages/README.md": "x", "other/x.toml": "?",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if set.Message("our-trainer-gave-up") == nil || set.Failure("our-failure") == nil {
		t.Error("the user's are not there")
	}
	if set.Message("torch-oom") == nil || set.Failure("cuda-oom") == nil {
		t.Error("the built-in ones are not there")
	}
}

func TestCodesAlone(t *testing.T) {
	set, err := files.Signatures(folder(t, map[string]string{
		"codes/ours.toml": "facts = [\"exit_code\"]\ncalled = \"exit code\"\n[[code]]\nis = [\"77\"]\nmeans = \"our trainer found no card\"\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if words, ok := set.Means("torchrun-failed", "exit_code", "77"); !ok || !strings.Contains(words, "our trainer found no card") {
		t.Errorf("%q", words)
	}
}

func TestWrongSignatures(t *testing.T) {
	for name, tt := range map[string]struct {
		content map[string]string
		wants   []string
	}{
		"empty":         {map[string]string{"x": ""}, []string{"no messages/*.toml, failures/*.toml or codes/*.toml"}},
		"built-in name": {map[string]string{"messages/pytorch.toml": ownMessage}, []string{"messages/pytorch.toml: a built-in file has this name"}},
		"taken id": {map[string]string{"messages/aaa.toml": strings.Replace(ownMessage, "our-trainer-gave-up", "torch-oom", 1)},
			[]string{`messages/aaa.toml:3: message "torch-oom": the id is taken`}},
		"syntax": {map[string]string{"messages/aaa.toml": ownMessage + "\nx = = 1\n", "failures/our-failure.toml": "titel = 1"},
			[]string{"messages/aaa.toml:13: ", `failures/our-failure.toml:1: unknown key "titel"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := files.Signatures(folder(t, tt.content))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "messages/pytorch.toml:") && name != "built-in name" {
				t.Errorf("a built-in file is blamed: %v", err)
			}
		})
	}
	if _, err := files.Signatures(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "none cannot be read") {
		t.Errorf("a folder that is not there: %v", err)
	}
}
