//go:build amd64 || arm64

package sandbox_test

import (
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// TestProcessLimitIsExact starts processes until the limit is reached. The limit must leave
// room for what the first process of the sandbox itself needs. With too little, that process
// would end while the program has all processes that it may have.
func TestProcessLimitIsExact(t *testing.T) {
	s := newSandbox(t)
	if s.Capabilities().Isolation != executor.IsolationNamespaces {
		t.Log("without namespaces there is no such limit")
		return
	}
	for range 20 {
		cmd := python(t.TempDir(), `
import os, signal
n = 1
try:
    while True:
        if os.fork() == 0: signal.pause()
        n += 1
except BlockingIOError: print(n)
`)
		cmd.Limits.Processes = 9
		result := sandboxed(t, s, cmd)
		if got := result.Stdout.String(); got != "9\n" || result.ExitCode != 0 {
			t.Errorf("%q processes, code %d, %s", got, result.ExitCode, result.Stderr)
		}
	}
}
