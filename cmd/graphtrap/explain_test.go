package main

import (
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	out, code, err := run(t, "", "explain", "cuda-graph-capture-oom")
	if err != nil || code != 0 {
		t.Fatalf("code %d, %v", code, err)
	}
	for _, want := range []string{"# A CUDA graph capture ran out of memory", "* Risk: ", "* Undo: ", "torch-oom: PyTorch's allocator"} {
		if !strings.Contains(out, want) {
			t.Errorf("does not say %q:\n%s", want, out)
		}
	}
	_, code, err = run(t, "", "explain", "cuda-oomm")
	if code != exitUnusable || err == nil || !strings.Contains(err.Error(), "nearest are cuda-oom") || !strings.Contains(err.Error(), "`graphtrap signatures`") {
		t.Errorf("code %d, %v", code, err)
	}
	if out, _, err := run(t, "", "__complete", "explain", "cuda-graph-cap"); err != nil || !strings.Contains(out, "cuda-graph-capture-oom\n") {
		t.Errorf("completed to %q, %v", out, err)
	}
	if _, code, _ = run(t, "", "explain"); code != exitUnusable {
		t.Errorf("without an id: code %d", code)
	}
}

func TestSignatures(t *testing.T) {
	out, code, err := run(t, "", "signatures")
	if err != nil || code != 0 || !strings.Contains(out, "  cuda-oom ") || !strings.Contains(out, "Messages of pytorch") {
		t.Errorf("code %d, %v:\n%s", code, err, out)
	}
}
