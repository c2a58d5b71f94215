//go:build linux

package docker_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/docker"
)

// TestForkBomb takes all processes that a container without namespaces may have. The runner must still
// answer, and run the next command.
func TestForkBomb(t *testing.T) {
	x, dir := shared(t, docker.WithoutNamespaces()), t.TempDir()
	for range 2 {
		cmd := script(dir, "")
		cmd.Args = []string{"python3", "-S", "-c", `
import os, time
try:
    for n in range(5000):
        if os.fork() == 0: time.sleep(60); os._exit(0)
except OSError as e: print('refused', n, e, flush=True)
time.sleep(1)
`}
		result, err := x.Run(t.Context(), cmd)
		if err != nil || result.Reason != executor.ReasonExit || !strings.HasPrefix(result.Stdout.String(), "refused ") {
			t.Errorf("%s, code %d, %v, stdout %q, stderr %s", result.Reason, result.ExitCode, err, result.Stdout, result.Stderr)
		}
		t.Logf("%s", result.Stdout)
		output(t, x, script(dir, "echo next"))
	}
}
