package signatures_test

import (
	"testing"

	"github.com/graphtrap/graphtrap/signatures"
)

func TestBuiltinSamples(t *testing.T) {
	set, err := signatures.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if err := set.CheckSamples(); err != nil {
		t.Error(err)
	}
}
