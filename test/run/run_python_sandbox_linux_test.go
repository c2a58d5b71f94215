package run_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/tools/run"
)

// pythonRuns calls python where the system has python3 alone.
func pythonRuns(t *testing.T, on executor.Executor) {
	t.Helper()
	if workspace.LastPath("/") == "" {
		t.Log("this system has a python, which is found as any other program is")
	}
	b := newBench(t, satchel.Runner{Executor: on})
	if r := b.run(`{"skill":"demo","command":"printf 'a\\nb\\n' > out/x; python scripts/count.py out/x"}`); r.Stdout != "2\n" {
		t.Errorf("run: got %+v, want Stdout %q", r, "2\n")
	}
	// No command can replace the python of the sandbox.
	b.run(`{"skill":"demo","command":"d=$(dirname $(command -v python)); chmod u+w $d; printf '#!/bin/sh\\necho stolen\\n' > $d/new && chmod +x $d/new && mv $d/new $d/python; rm -rf $d"}`)
	if r := b.run(`{"skill":"demo","command":"python -c 'print(3)'"}`); r.Stdout != "3\n" {
		t.Errorf("run: got %+v, want Stdout %q", r, "3\n")
	}
	// A python that comes earlier on PATH wins.
	if r := b.run(`{"skill":"demo","command":"mkdir -p .venv/bin; printf '#!/bin/sh\\necho mine\\n' > .venv/bin/python; chmod +x .venv/bin/python; python"}`); r.Stdout != "mine\n" {
		t.Errorf("run: got %+v, want Stdout %q", r, "mine\n")
	}

	policy, err := run.ParsePolicy("python", "")
	if err != nil {
		t.Fatal(err)
	}
	b = newBench(t, satchel.Runner{Executor: on, Policy: policy})
	if r := b.run(`{"skill":"demo","command":"python -c 'print(4)'"}`); r.Stdout != "4\n" {
		t.Errorf("under a policy: %+v", r)
	}
	if policy, err = run.ParsePolicy("", "python3"); err != nil {
		t.Fatal(err)
	}
	b = newBench(t, satchel.Runner{Executor: on, Policy: policy})
	if got := b.call("skill_run", `{"skill":"demo","command":"python -c 'print(5)'"}`); !strings.Contains(got, `"python" is the same program as "python3"`) {
		t.Errorf("python3 is denied: %s", got)
	}
}

func TestSandboxPython(t *testing.T) { pythonRuns(t, chattest.Sandbox(t)) }

func TestLocalPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Fatal(err)
	}
	pythonRuns(t, nil)
}
