//go:build amd64 || arm64

package sandbox_test

import (
	"sync"
	"testing"
)

// TestSignalsOfAProgram checks that a program starts with no signal ignored or
// blocked.
func TestSignalsOfAProgram(t *testing.T) {
	result := sandboxed(t, newSandbox(t), script(t.TempDir(), "exec grep -E '^Sig(Ign|Blk):' /proc/self/status"))
	if got, want := result.Stdout.String(), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSignalsThatTheRuntimeDoesNotHandle sends such signals to the first process from the first moment of a
// program. That process may still block all signals then, and the kernel does not protect it.
func TestSignalsThatTheRuntimeDoesNotHandle(t *testing.T) {
	s := newSandbox(t)
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			cmd := script(t.TempDir(), "kill -32 1; kill -34 1; kill -32 1; kill -34 1; exit 5")
			if result, err := s.Run(t.Context(), cmd); err != nil || result.ExitCode != 5 {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
	all.Wait()
}
