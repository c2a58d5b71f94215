//go:build unix

package gate_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor/local"
)

// An input that does not say where it goes is a Write to its place for lists that speak
// of Write. Others let it come: without an input few scripts are of use.
func TestInputsWithoutATarget(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		list, denied string
	}{
		{"Bash(python3 scripts/report.py:*)", ""},
		{"Bash(python3 scripts/report.py:*) Write", ""},
		{"Bash(python3 scripts/report.py:*) Write(inputs/*.pth)", ""},
		{"Bash(python3 scripts/report.py:*) Write(work/inputs/**)", ""},
		{"Bash(python3 scripts/report.py:*) Write(out/**)", `"to work/inputs/evil.pth"`},
		{"Bash Write(out/**)", ""}, // Bash without a pattern may write anything
	} {
		local, err := local.New()
		if err != nil {
			t.Fatal(err)
		}
		c, _ := narrowedChat(t, local, tt.list)
		answer := runs(c, map[string]any{"skill": "rep", "command": "python3 scripts/report.py", "inputs": []map[string]string{{"from": "skill://rep/evil.pth"}}})
		if denied := strings.HasPrefix(answer, "denied: "); denied != (tt.denied != "") || !strings.Contains(answer, tt.denied) {
			t.Errorf("%s: %s", tt.list, answer)
		}
	}
}
