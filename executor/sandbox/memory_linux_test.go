//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor/sandbox"
)

// TestCommandsAreKilledFirst checks that the kernel ends commands before the host if memory is short, and
// the processes that they start.
func TestCommandsAreKilledFirst(t *testing.T) {
	tiers := map[string][]sandbox.Option{"default": nil}
	if os.Geteuid() != 0 { // the other one is refused to root
		tiers["without namespaces"] = []sandbox.Option{sandbox.WithoutNamespaces()}
	}
	for name, opts := range tiers {
		result := sandboxed(t, newSandbox(t, opts...), script(t.TempDir(), "cat /proc/self/oom_score_adj; (cat /proc/self/oom_score_adj)"))
		if got := strings.Fields(result.Stdout.String()); len(got) != 2 || got[0] != "1000" || got[1] != "1000" {
			t.Errorf("%s: %q %q", name, got, result.Stderr.String())
		}
	}
}
