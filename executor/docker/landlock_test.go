//go:build linux

package docker_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/docker"
)

// TestLandlockBeside runs commands beside another one, in a container without namespaces: one with more
// processes than a command may have, and one that kills all that it can. The other one must go on.
func TestLandlockBeside(t *testing.T) {
	x, dir := shared(t, docker.WithoutNamespaces()), t.TempDir()
	first := script(dir, "echo started; until [ -e over ]; do read x < /dev/null; done; exit 3")
	first.Limits.Processes = 40 // those of the container's first command count
	beside, err := begin(t.Context(), x, first)
	if err != nil {
		t.Fatal(err)
	}
	cmd := script(dir, "")
	cmd.Args = []string{"python3", "-S", "-c", `
import os, signal
n = 1
try:
    while n < 1000:
        if os.fork() == 0: signal.pause()
        n += 1
except OSError as e: print(e, flush=True)
print(n)
`}
	cmd.Limits.Processes = 40
	result, err := x.Run(t.Context(), cmd)
	said, number, _ := strings.Cut(result.Stdout.String(), "\n")
	n, _ := strconv.Atoi(strings.TrimSpace(number))
	if err != nil || result.Reason != executor.ReasonExit || said != "[Errno 11] Resource temporarily unavailable" || n < 40 || n > 40+docker.LandlockThreads {
		t.Errorf("%s, code %d, %v, %q, stderr %s", result.Reason, result.ExitCode, err, result.Stdout, result.Stderr)
	}
	t.Logf("%d processes", n)
	// A command may end all processes of its own, with the one that watches it, and no others.
	result, err = x.Run(t.Context(), script(dir, "setsid -f sleep 1234; kill -KILL -1; sleep 60"))
	if err != nil || result.Reason != executor.ReasonSignal || result.Signal != "SIGKILL" {
		t.Errorf("a command that kills all it can: %s, %s, %v", result.Reason, result.Signal, err)
	}
	if all := output(t, x, script(dir, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")); strings.Contains(all, "1234") || !strings.Contains(all, "satchel-runner") {
		t.Errorf("processes: %s", all)
	}
	output(t, x, script(dir, "touch over"))
	if result, err := beside.Wait(t.Context()); err != nil || result.ExitCode != 3 {
		t.Errorf("the command beside: %s, code %d, %v", result.Reason, result.ExitCode, err)
	}
	if !x.Capabilities().KillTree.Enforced {
		t.Errorf("%+v", x.Capabilities().KillTree)
	}
}
