//go:build unix

package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/tools/run"
)

// scripted is a runtime with the skill odd, whose scripts ask for programs that
// no machine has.
func scripted(t *testing.T, runner satchel.Runner, opts ...satchel.Option) *bench {
	t.Helper()
	b := newBench(t, runner, append(opts, satchel.WithSkillFS("odd", fstest.MapFS{
		"odd/SKILL.md": {Data: []byte("---\nname: odd\ndescription: Has odd scripts.\n---\nx\n")},
		"odd/fits.sh":  {Data: []byte("#!/opt/none/no-such-shell -x\necho hi $1; read x; echo $x\n")},
		"odd/none":     {Data: []byte("#!/usr/bin/env no-such-shell\necho hi\n")},
		"odd/both.zz":  {Data: []byte("#!/usr/bin/env no-such-shell\necho hi\n")},
		"odd/what.yy":  {Data: []byte("hi\n")},
	}))...)
	b.call("skill_load", `{"skill":"odd"}`)
	return b
}

func TestRunWithoutTheInterpreter(t *testing.T) { withoutInterpreter(t, nil) }

// withoutInterpreter: the program of a first line need not be there; then that
// of the extension counts, and the result says so. Where there is none at all,
// the result says what to do.
func withoutInterpreter(t *testing.T, by executor.Executor) {
	t.Helper()
	const taken = `script "fits.sh" asks for no-such-shell, which was not found: bash is taken for it`
	b := scripted(t, satchel.Runner{Executor: by, Interpreters: map[string][]string{".zz": {"no-such-zz"}}})
	for _, tt := range []struct {
		script, stdout, warning string
		code                    int
		stderr                  []string
	}{
		{"fits.sh", "hi a\nin\n", taken, 0, nil},
		{"none", "", "", 127, []string{`"no-such-shell" was not found`, "so the script was not run: ", "by a command"}},
		{"both.zz", "", `asks for no-such-shell, which was not found: no-such-zz is taken`, 127, []string{`"no-such-zz" was not found`}},
	} {
		args := `{"skill":"odd","script":"` + tt.script + `","args":["a"],"stdin":"in\n"`
		r := b.run(args + "}")
		_, session := b.finish(b.talk("skill_exec", args+`,"yield_ms":0}`))
		for _, r := range []runAnswer{r, *session.Result} {
			told := strings.Join(r.Warnings, "\n")
			if r.ExitCode != tt.code || !strings.Contains(told, tt.warning) || (tt.warning == "") != (told == "") {
				t.Errorf("%s: %+v", tt.script, r)
			}
			for _, part := range tt.stderr {
				if !strings.Contains(r.Stderr, part) {
					t.Errorf("%s: stderr %q has no %q", tt.script, r.Stderr, part)
				}
			}
		}
		if r.Stdout != tt.stdout {
			t.Errorf("%s: %+v", tt.script, r)
		}
	}
	if got := b.call("skill_run", `{"skill":"odd","script":"what.yy"}`); !strings.Contains(got, ".ts, .zz); use command instead") {
		t.Errorf("no interpreter: %s", got)
	}
}

// With an allow list it is the lists that look for the program.
func TestRunRestrictedWithoutTheInterpreter(t *testing.T) {
	b := scripted(t, satchel.Runner{Policy: run.Policy{Allowed: []string{"bash", "no-such-shell"}}})
	r := b.run(`{"skill":"odd","script":"fits.sh","args":["a"]}`)
	if r.Stdout != "hi a\n\n" || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "bash is taken") {
		t.Errorf("run: %+v", r)
	}
	if got := b.call("skill_run", `{"skill":"odd","script":"none"}`); !strings.Contains(got, `is run by no-such-shell: "no-such-shell": not found`) {
		t.Errorf("nothing else: %s", got)
	}
	b = scripted(t, satchel.Runner{Policy: run.Policy{Allowed: []string{"bash"}}})
	if got := b.call("skill_run", `{"skill":"odd","script":"fits.sh"}`); !strings.Contains(got, "is run by no-such-shell: command not allowed") {
		t.Errorf("not allowed: %s", got)
	}
}

// What is too long for the kernel is refused with a way that works.
func TestRunTooLong(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	long := strings.Repeat("x", 128<<10)
	for _, tt := range []struct{ args, want string }{
		{`"command":"echo ` + long + `"`, `command has 131077 bytes, at most 131071 are allowed: send it as {"command":"bash -s","stdin":"…"}`},
		{`"script":"scripts/count.py","args":["` + long + `"]`, "an argument has 131072 bytes, at most 131071"},
		{`"command":"true","env":{"A":"` + long + `"}`, "variable A has 131074 bytes"},
	} {
		if got := b.call("skill_run", `{"skill":"demo",`+tt.args+`}`); !strings.HasPrefix(got, "error: "+tt.want) || len(got) > 300 {
			t.Errorf("%.60s: %.400s", tt.args, got)
		}
	}
	if r := b.run(`{"skill":"demo","command":"bash -s","stdin":"# ` + long + `\necho done\n"}`); r.Stdout != "done\n" {
		t.Errorf("as stdin: exit code %d, stderr %.200s", r.ExitCode, r.Stderr)
	}
	if r := b.run(`{"skill":"demo","command":"# ` + long[:131071-2-5] + `\ntrue"}`); r.ExitCode != 0 {
		t.Errorf("as long as it may be: exit code %d, stderr %.200s", r.ExitCode, r.Stderr)
	}
}

// failingExecutor is an executor that cannot start anything.
type failingExecutor struct{ executor.Executor }

var errFails = errors.New("the machine is on fire")

func (failingExecutor) Run(context.Context, executor.Command) (executor.Result, error) {
	return executor.Result{ExitCode: -1, Reason: executor.ReasonSetup}, errFails
}

func (failingExecutor) Start(context.Context, executor.Command, executor.Terminal) (executor.Process, error) {
	return nil, errFails
}

// A run is an event however it ends.
func TestRunEventsOfEveryEnd(t *testing.T) {
	var mu sync.Mutex
	var details []string
	hook := satchel.WithEvents(func(_ context.Context, e core.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == core.WorkspaceRun {
			details = append(details, e.Skill+": "+e.Detail)
		}
	})
	expect := func(want string) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(details, "; "); got != want {
			t.Errorf("events %q, want %q", got, want)
		}
		details = nil
	}
	b := newBench(t, satchel.Runner{}, hook)
	b.run(command("exit 3", ""))
	expect("demo: exit")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // cancels the context while the command runs
		defer cancel()
		wait := core.ToolCall{Name: "skill_run", Arguments: command("until [ -e work/up ]; do sleep 0.01; done", "")}
		if _, err := b.rt.CallTool(t.Context(), b.key, wait); err != nil {
			t.Error(err)
		}
	}()
	_, err := b.rt.CallTool(ctx, b.key, core.ToolCall{Name: "skill_run", Arguments: command("touch work/up; sleep 300", "")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	expect("demo: exit; demo: cancelled")

	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	b = newBench(t, satchel.Runner{Executor: failingExecutor{local}}, hook)
	for _, tool := range []string{"skill_run", "skill_exec"} {
		if got := b.call(tool, command("true", "")); got != "error: "+errFails.Error() {
			t.Errorf("%s: %s", tool, got)
		}
		expect(fmt.Sprintf("demo: setup: %v", errFails))
	}
}
