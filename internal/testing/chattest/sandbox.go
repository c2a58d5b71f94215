// Package chattest has helpers for tests of whole conversations: a host with one agent ([Chat]),
// its skills ([World]), and a sandbox.
package chattest

import (
	"errors"
	"testing"

	"github.com/satchel-go/satchel/executor/sandbox"
)

// Sandbox returns a sandbox, which the end of the test closes. It skips the test on a machine
// without one.
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
