//go:build unix

package run_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/tools/run"
)

// Packages of a virtual environment that the host shows are imported, also where a
// policy says what may run and python3 is the system's.
func TestReadableVirtualEnvironment(t *testing.T) {
	chattest.Sandbox(t) // skips the test if there is no sandbox
	dir := filepath.Join(t.TempDir(), "venv")
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-m", "venv", "--without-pip", dir).CombinedOutput(); err != nil {
		t.Skipf("this machine makes no virtual environments: %v\n%s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(dir, "lib", "python3*", "site-packages"))
	if err != nil || len(found) != 1 {
		t.Fatalf("Glob: got %q, error %v, want 1 entry", found, err)
	}
	if err := os.WriteFile(filepath.Join(found[0], "tiny.py"), []byte("word = 'found'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for up := filepath.Dir(dir); up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chmod(at, 0o755)
	})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := sandbox.Open(t.Context(), sandbox.WithReadable(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = runs.Close() })
	for name, policy := range map[string]run.Policy{"free": {}, "allowed": {Allowed: []string{"python3"}}} {
		for _, python := range []string{"python3", "/usr/bin/python3"} {
			if name == "allowed" && python != "python3" {
				continue // the policy allows names, and this is a path
			}
			b := newBench(t, satchel.Runner{Executor: runs, Policy: policy})
			if r := b.run(`{"skill":"demo","command":"` + python + ` -c 'import tiny; print(tiny.word)'"}`); r.Stdout != "found\n" {
				t.Errorf("%s, %s: %+v", name, python, r)
			}
		}
	}
}
