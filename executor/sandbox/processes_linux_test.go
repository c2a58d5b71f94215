//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"testing"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
)

// TestProcessLimitIsExact starts processes until the limit is reached. The limit must leave
// room for what the first process of the sandbox itself needs. With too little, that process
// would end while the program has all processes that it may have.
func TestProcessLimitIsExact(t *testing.T) {
	tiers := map[string][]sandbox.Option{"namespaces": {sandbox.WithLeast(executor.IsolationNamespaces)}}
	if os.Geteuid() != 0 {
		tiers["without namespaces"] = []sandbox.Option{sandbox.WithoutNamespaces()}
	}
	for name, opts := range tiers {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t, append(opts, sandbox.WithGrace(0))...)
			for range 20 {
				checkLimit(t, s, "os.fork() == 0")
				checkLimit(t, s, "threading.Thread(target=event.wait, daemon=True).start()")
			}
		})
	}
}

// checkLimit starts processes or threads, of which 9 are allowed.
func checkLimit(t *testing.T, s *sandbox.Sandbox, start string) {
	t.Helper()
	cmd := python(t.TempDir(), `
import os, signal, threading
event, n = threading.Event(), 1
try:
    while True:
        if `+start+`: signal.pause()
        n += 1
except (BlockingIOError, RuntimeError): print(n, flush=True)
os._exit(0)
`)
	cmd.Limits.Processes = 9
	result := sandboxed(t, s, cmd)
	if got := result.Stdout.String(); got != "9\n" || result.ExitCode != 0 {
		t.Errorf("%q processes, code %d, %s", got, result.ExitCode, result.Stderr)
	}
}
