//go:build amd64 || arm64

package sandbox_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// TestThreadsOfTheFirstProcess checks that all threads of the first process have capabilities, except
// the one that became the program's user. Because of them the kernel does not let the program change
// their scheduling. A thread cloned from that one would have none. The Go runtime would clone one
// only by chance, so the test looks many times, under load.
func TestThreadsOfTheFirstProcess(t *testing.T) {
	s := newSandbox(t)
	if s.Capabilities().Isolation != executor.IsolationNamespaces {
		t.Log("without namespaces the first process is not to be seen")
		return
	}
	for range 50 {
		result := sandboxed(t, s, script(t.TempDir(), "sleep 0.01; exec grep -h ^CapPrm: /proc/1/task/*/status"))
		lines := strings.Split(strings.TrimSpace(result.Stdout.String()), "\n")
		if len(lines) < 2 || lines[0] != "CapPrm:\t0000000000000000" {
			t.Fatalf("%q %q", lines, result.Stderr.String())
		}
		for _, line := range lines[1:] {
			if line == lines[0] {
				t.Fatalf("a thread without capabilities: %q", lines)
			}
		}
	}
}
