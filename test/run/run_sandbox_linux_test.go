package run_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// TestSandboxVenv makes Python's environment where a skill expects it, and uses
// it in the next run; the skill itself stays read-only.
func TestSandboxVenv(t *testing.T) {
	b := newBench(t, satchel.Runner{Executor: chattest.Sandbox(t), AllowUnloaded: true})
	for _, step := range []struct{ command, want string }{
		{"/usr/bin/python3 -m venv --without-pip .venv && .venv/bin/python -c 'import sys; print(sys.prefix)'", `"stdout":"/workspace/skills/demo/.venv\n"`},
		{"python -c 'import sys; print(sys.prefix)'; touch /skills/demo/.venv/also; touch x || touch /skills/demo/x", "Read-only file system"},
		{"ls .venv/also; command -v python", `.venv/also\n/workspace/skills/demo/.venv/bin/python\n`},
	} {
		answer, err := b.rt.CallTool(t.Context(), b.key, core.ToolCall{Name: "skill_run", Arguments: `{"skill":"demo","command":"` + step.command + `"}`})
		if err != nil || !strings.Contains(answer, step.want) {
			t.Fatalf("%s: %v: %s", step.command, err, answer)
		}
	}
}

func TestSandboxWithoutTheInterpreter(t *testing.T) { withoutInterpreter(t, chattest.Sandbox(t)) }
