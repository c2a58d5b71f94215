//go:build amd64 || arm64

package sandbox_test

import (
	"testing"

	"github.com/satchel-go/satchel/executor/sandbox"
)

// TestProbe compares the result of Probe with a Sandbox.
func TestProbe(t *testing.T) {
	s := newSandbox(t)
	for range 2 {
		caps, err := sandbox.Probe()
		if err != nil {
			t.Fatal(err)
		}
		want := s.Capabilities()
		if caps.Isolation != want.Isolation || caps.Network != want.Network || caps.WorkspaceAt != want.WorkspaceAt || caps.Unavailable != "" {
			t.Errorf("probed %+v, want %+v", caps, want)
		}
	}
}
