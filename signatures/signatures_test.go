package signatures_test

import (
	"testing"

	"github.com/graphtrap/graphtrap/signatures"
)

// Builtin only reads its files, so this is where they are checked.
func TestBuiltin(t *testing.T) {
	if _, err := signatures.Builtin(); err != nil {
		t.Error(err)
	}
	set, err := signatures.Load(signatures.Files())
	if err != nil {
		t.Fatal(err)
	}
	if err := set.CheckSamples(); err != nil {
		t.Error(err)
	}
}
