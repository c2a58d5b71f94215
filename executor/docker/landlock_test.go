//go:build linux

package docker_test

import (
	"testing"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/docker"
)

// TestForkBomb starts more processes than a command may have, in a container without namespaces. The limit
// must be that of the command, another command beside it must go on, and the next one must run.
func TestForkBomb(t *testing.T) {
	x, dir := shared(t, docker.WithoutNamespaces()), t.TempDir()
	beside, err := begin(t.Context(), x, script(dir, "echo started; until [ -e over ]; do (:); done; exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := script(dir, "")
	cmd.Args = []string{"python3", "-S", "-c", `
import os, signal
n = 1
try:
    while True:
        if os.fork() == 0: signal.pause()
        n += 1
except OSError as e: print(n, e)
`}
	cmd.Limits.Processes = 40
	result, err := x.Run(t.Context(), cmd)
	const want = "40 [Errno 11] Resource temporarily unavailable\n"
	if got := result.Stdout.String(); err != nil || result.Reason != executor.ReasonExit || got != want {
		t.Errorf("%s, code %d, %v, %q, want %q, stderr %s", result.Reason, result.ExitCode, err, got, want, result.Stderr)
	}
	output(t, x, script(dir, "touch over"))
	if result, err := beside.Wait(t.Context()); err != nil || result.ExitCode != 3 {
		t.Errorf("the command beside: %s, code %d, %v", result.Reason, result.ExitCode, err)
	}
	if held := x.Capabilities().Processes; !held.Enforced || !x.Capabilities().KillTree.Enforced {
		t.Errorf("%+v", held)
	}
}
