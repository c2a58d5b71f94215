// Package chattest holds what tests of whole conversations share: a host with one
// agent ([Chat]), the skills on its disk ([World]), and a sandbox.
package chattest

import (
	"errors"
	"testing"

	"github.com/satchel-go/satchel/executor/sandbox"
)

// Sandbox returns a sandbox that is closed at the end of the test. It skips the
// test, and says why, on a machine that has none.
func Sandbox(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.Open(t.Context())
	if errors.Is(err, sandbox.ErrUnavailable) {
		t.Skipf("this machine has no sandbox: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
