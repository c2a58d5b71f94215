//go:build unix

package run_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/tools/run"
	"github.com/satchel-go/satchel/workspace"
)

// TestFindPrograms looks on the PATH of commands and on no other. Neither a directory nor a file
// that cannot be executed is a program.
func TestFindPrograms(t *testing.T) {
	bin := t.TempDir()
	for name, mode := range map[string]os.FileMode{"mytool": 0o755, "-dash": 0o755, "a;b": 0o755, "text": 0o644} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\ntouch "+bin+"/ran\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(bin, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH")) // of this process
	r := runner(t, nil)
	system, err := r.SearchPath(t.Context(), core.Skill{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	shown := system + ":" + bin
	got, err := r.FindPrograms(t.Context(), map[string][]string{
		system: {"sh", "mytool", "no-such-program", "cd", "ls"},
		shown:  {"mytool", "text", "folder", "-dash", "a;b", "sh"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{system: {"sh", "ls"}, shown: {"mytool", "-dash", "a;b", "sh"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(bin, "ran")); err == nil {
		t.Error("a program ran")
	}
}

// TestFindManyPrograms looks for 10,000 names with one command.
func TestFindManyPrograms(t *testing.T) {
	calls := 0
	r := runner(t, func(e executor.Executor) executor.Executor { return &counting{e, &calls} })
	path, err := r.SearchPath(t.Context(), core.Skill{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"sh"}
	for i := range 10_000 {
		names = append(names, fmt.Sprintf("no-such-program-%d", i))
	}
	found, err := r.FindPrograms(t.Context(), map[string][]string{path: append(names, "ls")})
	if err != nil {
		t.Fatal(err)
	}
	if calls != 1 || !slices.Equal(found[path], []string{"sh", "ls"}) {
		t.Errorf("%d commands found %q, want one that finds sh and ls", calls, found)
	}
}

// TestFindProgramsElsewhere asks an executor that finds programs itself.
func TestFindProgramsElsewhere(t *testing.T) {
	r := runner(t, func(e executor.Executor) executor.Executor { return elsewhere{e} })
	found, err := r.FindPrograms(t.Context(), map[string][]string{"/p": {"there", "sh"}})
	if err != nil || !slices.Equal(found["/p"], []string{"there"}) {
		t.Errorf("found %q, error %v, want only the program of the executor", found, err)
	}
	if r.System() != "linux" {
		t.Errorf("system %q", r.System())
	}
	if _, err := r.FindPrograms(t.Context(), map[string][]string{"/p": {"lost"}}); err == nil {
		t.Error("a search that failed has a result")
	}
}

// TestPathWithColon checks that commands that see their workspace at its own path do not run if PATH cannot hold it.
func TestPathWithColon(t *testing.T) {
	r := runner(t, nil)
	places, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "a:b"))
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	r.Workspaces = places
	if found, err := r.FindPrograms(t.Context(), map[string][]string{"/bin": {"sh"}}); err == nil || !strings.Contains(err.Error(), "PATH") {
		t.Errorf("found %q, error %v", found, err)
	}
}

// TestGivenVariables says which variables a skill's commands get.
func TestGivenVariables(t *testing.T) {
	r := runner(t, nil)
	skill := core.Skill{Name: "a"}
	if r.GivenVariables(t.Context(), skill)("KEY") {
		t.Error("a runner without Secret and Env gives KEY")
	}
	r.Secret = func(_ context.Context, skill core.Skill, name string) (string, bool) {
		return "value", skill.Name == "a" && name == "KEY"
	}
	r.Env = func(context.Context, core.Skill) map[string]string { return map[string]string{"URL": ""} }
	for name, want := range map[string]bool{"KEY": true, "URL": true, "OTHER": false} {
		if got := r.GivenVariables(t.Context(), skill)(name); got != want {
			t.Errorf("%s is given: %t, want %t", name, got, want)
		}
	}
	skill.Unreviewed = true
	if r.GivenVariables(t.Context(), skill)("KEY") {
		t.Error("a skill that no person has reviewed gets a secret")
	}
}

func runner(t *testing.T, wrap func(executor.Executor) executor.Executor) *run.Runner {
	t.Helper()
	places, err := workspace.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = places.Close() })
	own, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	var by executor.Executor = own
	if wrap != nil {
		by = wrap(by)
	}
	return &run.Runner{Workspaces: places, Executor: by}
}

type counting struct {
	executor.Executor
	calls *int
}

func (c *counting) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	*c.calls++
	return c.Executor.Run(ctx, cmd)
}

// elsewhere has one program, and none of this machine.
type elsewhere struct{ executor.Executor }

func (elsewhere) Find(_ context.Context, name, path string) (string, error) {
	switch name {
	case "there":
		return strings.Split(path, ":")[0] + "/there", nil
	case "lost":
		return "", errors.New("the machine is lost")
	}
	return "", fs.ErrNotExist
}
