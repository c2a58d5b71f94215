//go:build unix

package run_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/tools/run"
)

// elsewhere runs commands as if on another machine, which has only some programs and may be lost.
type elsewhere struct {
	executor.Executor
	programs map[string]string // paths by name

	mu       sync.Mutex
	lost     bool
	ran      []string // the first argument of each command
	released []string
}

func openElsewhere(t *testing.T) *elsewhere {
	t.Helper()
	by, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	return &elsewhere{Executor: by, programs: map[string]string{"sh": "/bin/sh"}}
}

func (e *elsewhere) Find(_ context.Context, name, _ string) (string, error) {
	if file, ok := e.programs[name]; ok {
		return file, nil
	}
	return "", fmt.Errorf("%q: %w", name, fs.ErrNotExist)
}

// Release records whether the workspace is still there.
func (e *elsewhere) Release(workspace string) error {
	_, err := os.Stat(workspace)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.released = append(e.released, workspace)
	return err
}

func (e *elsewhere) note(cmd executor.Command) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ran = append(e.ran, cmd.Args[0])
	if e.lost {
		return fmt.Errorf("%w: the connection was closed", executor.ErrLost)
	}
	return nil
}

func (e *elsewhere) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	result, err := e.Executor.Run(ctx, cmd)
	if lost := e.note(cmd); lost != nil {
		return executor.Result{ExitCode: -1, Reason: executor.ReasonLost, Stdout: result.Stdout}, lost
	}
	return result, err
}

func (e *elsewhere) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	p, err := e.Executor.Start(ctx, cmd, term)
	if err != nil {
		return nil, err
	}
	return lostProcess{p, e, cmd}, nil
}

type lostProcess struct {
	executor.Process
	by  *elsewhere
	cmd executor.Command
}

func (p lostProcess) Wait(ctx context.Context) (executor.Result, error) {
	result, err := p.Process.Wait(ctx)
	if lost := p.by.note(p.cmd); lost != nil {
		return executor.Result{ExitCode: -1, Reason: executor.ReasonLost}, lost
	}
	return result, err
}

const lostText = "the machine that ran this command was lost; it may have finished: look at its files before you run it again"

// The answer to a command that was lost says so in place of stderr. The command is not started
// again, and its files are collected.
func TestLostCommand(t *testing.T) {
	e := openElsewhere(t)
	b := newBench(t, satchel.Runner{Executor: e})
	e.lost = true
	got := b.run(`{"skill":"demo","command":"echo made > out/a.txt; echo hidden >&2","output_files":["out/*.txt"]}`)
	if got.Reason != "lost" || got.Stderr != lostText || got.ExitCode != -1 || len(got.Files) != 1 {
		t.Errorf("skill_run: %+v", got)
	}
	if len(e.ran) != 1 {
		t.Errorf("started %d times", len(e.ran))
	}
	said := b.call("skill_exec", `{"skill":"demo","command":"true","yield_ms":60000}`)
	if !strings.Contains(said, `"reason":"lost"`) || !strings.Contains(said, lostText) || strings.Contains(said, "connection was closed") {
		t.Errorf("skill_exec: %s", said)
	}
	e.lost = false
	if got := b.run(`{"skill":"demo","command":"cat out/a.txt"}`); got.Stdout != "made\n" {
		t.Errorf("the next command: %+v", got)
	}
}

// A list finds the programs where commands run, not on this machine.
func TestListFindsProgramsElsewhere(t *testing.T) {
	e := openElsewhere(t)
	b := newBench(t, satchel.Runner{Executor: e, Policy: run.Policy{Allowed: []string{"sh", "ls", "python"}}})
	if got := b.run(`{"skill":"demo","command":"sh -c 'echo it runs'"}`); got.Stdout != "it runs\n" {
		t.Errorf("sh: %+v", got)
	}
	if !slices.Equal(e.ran, []string{"/bin/sh"}) {
		t.Errorf("ran %q", e.ran)
	}
	if got := b.call("skill_run", `{"skill":"demo","command":"ls"}`); !strings.Contains(got, `"ls": not found on PATH`) {
		t.Errorf("ls, which only this machine has: %s", got)
	}
}

// An executor that keeps something for a workspace releases it before the directory is removed.
func TestWorkspaceIsReleasedFirst(t *testing.T) {
	e := openElsewhere(t)
	b := newBench(t, satchel.Runner{Executor: e})
	at := strings.TrimSpace(b.run(`{"skill":"demo","command":"echo $WORKSPACE_DIR"}`).Stdout)
	if err := b.rt.EndSession(t.Context(), b.key.Session); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(e.released, []string{at}) {
		t.Errorf("released %q, want %q", e.released, at)
	}
	if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the workspace is still there: %v", err)
	}
}

// withoutBash runs commands where there is no bash.
type withoutBash struct{ executor.Executor }

// hide returns the command with a name for bash that is not there.
func (withoutBash) hide(cmd executor.Command) executor.Command {
	if cmd.Args[0] == "bash" {
		cmd.Args = append([]string{"no-such-bash"}, cmd.Args[1:]...)
	}
	return cmd
}

func (e withoutBash) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	return e.Executor.Run(ctx, e.hide(cmd))
}

func (e withoutBash) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	return e.Executor.Start(ctx, e.hide(cmd), term)
}

// Where there is no bash, as in small images, sh runs commands, and the answer says so.
func TestCommandsWithoutBash(t *testing.T) {
	by, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, satchel.Runner{Executor: withoutBash{by}}, satchel.WithSkillFS("shell", fstest.MapFS{
		"shell/SKILL.md": {Data: []byte("---\nname: shell\ndescription: Has scripts.\n---\nx\n")},
		"shell/plain.sh": {Data: []byte("echo plain $1\n")},
		"shell/bash.sh":  {Data: []byte("#!/bin/bash\necho $1\n")},
		"shell/other.sh": {Data: []byte("#!/bin/no-such-shell\necho other $1\n")},
	}))
	const warning = "bash was not found: sh is taken for it"
	args := `{"skill":"demo","command":"read x; echo $0 $x","stdin":"in\n"`
	r := b.run(args + "}")
	if r.Stdout != "sh in\n" || r.ExitCode != 0 || !slices.Equal(r.Warnings, []string{warning}) {
		t.Errorf("skill_run: %+v", r)
	}
	out, ended := b.finish(b.talk("skill_exec", args+`,"yield_ms":0}`))
	if ended.Result == nil || !strings.Contains(out, "sh in") || !slices.Equal(ended.Result.Warnings, []string{warning}) {
		t.Errorf("skill_exec: %q %+v", out, ended.Result)
	}
	r = b.run(`{"skill":"demo","command":"echo x","env":{"PATH":"/nowhere"}}`)
	if r.ExitCode != 127 || !strings.Contains(r.Stderr, `"sh" was not found on the PATH of env`) {
		t.Errorf("neither: %+v", r)
	}
	b.call("skill_load", `{"skill":"shell"}`)
	for _, tt := range []struct {
		script, stdout, warning string
		code                    int
	}{
		{"plain.sh", "plain a\n", "sh is taken for it", 0}, {"other.sh", "other a\n", "sh is taken for it", 0}, {"bash.sh", "", "", 127},
	} {
		r := b.run(`{"skill":"shell","script":"` + tt.script + `","args":["a"]}`)
		if r.ExitCode != tt.code || r.Stdout != tt.stdout || !strings.Contains(strings.Join(r.Warnings, " "), tt.warning) {
			t.Errorf("%s: %+v", tt.script, r)
		}
	}
}
