//go:build amd64 || arm64

package sandbox_test

import "testing"

// TestSignalsOfAProgram checks that a program starts with no signal ignored or
// blocked.
func TestSignalsOfAProgram(t *testing.T) {
	result := sandboxed(t, newSandbox(t), script(t.TempDir(), "exec grep -E '^Sig(Ign|Blk):' /proc/self/status"))
	if got, want := result.Stdout.String(), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
