//go:build unix

package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/tools/run"
)

// Programs of directories that the host shows are found by name: before those of the
// system, and behind them where a policy says what may run.
func TestReadablePrograms(t *testing.T) {
	chattest.Sandbox(t) // skips the test if there is no sandbox
	tools := t.TempDir()
	for dir := tools; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	modules := filepath.Join(tools, "node_modules")
	for _, program := range []string{filepath.Join(tools, "bin", "only-here"), filepath.Join(tools, "bin", "cat"), filepath.Join(modules, ".bin", "module-program")} {
		if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho of the host\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, open := range map[string]func() (executor.Executor, error){
		"sandbox": func() (executor.Executor, error) {
			s, err := sandbox.Open(t.Context(), sandbox.WithReadable(tools, modules))
			if err == nil {
				t.Cleanup(func() { s.Close() })
			}
			return s, err
		},
		"local": func() (executor.Executor, error) { return local.New(local.WithReadable(tools, modules)) },
	} {
		t.Run(name, func(t *testing.T) {
			runs, err := open()
			if err != nil {
				t.Fatal(err)
			}
			free := newBench(t, satchel.Runner{Executor: runs})
			for _, program := range []string{"only-here", "module-program", "cat /dev/null"} {
				if r := free.run(`{"skill":"demo","command":"` + program + `"}`); r.Stdout != "of the host\n" {
					t.Errorf("%s: %+v", program, r)
				}
			}
			if r := free.run(`{"skill":"demo","command":"echo $NODE_PATH"}`); r.Stdout != modules+"\n" {
				t.Errorf("modules are found in %q", r.Stdout)
			}
			held := newBench(t, satchel.Runner{Executor: runs, Policy: run.Policy{Allowed: []string{"only-here", "cat"}}})
			if r := held.run(`{"skill":"demo","command":"only-here"}`); r.Stdout != "of the host\n" {
				t.Errorf("allowed: %+v", r)
			}
			if r := held.run(`{"skill":"demo","command":"cat","stdin":"of the system"}`); r.Stdout != "of the system" {
				t.Errorf("allowed, and in the system too: %+v", r)
			}
		})
	}
}
