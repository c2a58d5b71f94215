package cgroup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// dirVar names a directory of cgroup v2 that was delegated to the tests.
const dirVar = "SATCHEL_CGROUP"

// tree returns the tree of this machine. If this process may not make groups, it
// checks that Open says so, and ends the test.
func tree(t testing.TB) *Tree {
	t.Helper()
	tr, err := Open(os.Getenv(dirVar))
	if err != nil {
		refused(t, err)
		t.Skipf("Open refuses as it must: %v", err)
	}
	if hasMemory, hasPids := tr.Has(); !hasMemory || !hasPids {
		t.Skipf("this machine has not both controllers: %s", tr.Describe())
	}
	return tr
}

// refused fails the test if this process can create groups in version 1, which it tries, or if the
// error does not say what is wrong and what to do.
func refused(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "run as root, or") {
		t.Fatalf("refused without advice: %v", err)
	}
	for _, controller := range []string{memory, pids} {
		dir := ownDirectory(t, controller)
		if dir == "" {
			continue // cgroup version 2, or the process has no such group
		}
		made, mkdirErr := os.MkdirTemp(dir, "satchel-test-")
		if mkdirErr == nil {
			_ = os.Remove(made)
			t.Fatalf("a group can be made in %s, but: %v", dir, err)
		}
		cause := fs.ErrPermission
		if errors.Is(mkdirErr, unix.EROFS) { // the hierarchy is read-only, as in a container
			cause = unix.EROFS
		}
		if !errors.Is(mkdirErr, cause) {
			t.Fatalf("the cause of %v is not known: %v", err, mkdirErr)
		}
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), dir+" is not writable for user") {
			t.Fatalf("without the right to make groups: %v", err)
		}
	}
}

// ownDirectory finds the group of this process in version 1 at the usual mount
// point.
func ownDirectory(t testing.TB, controller string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if fields[1] == controller {
			return filepath.Join("/sys/fs/cgroup", controller, fields[2])
		}
	}
	return ""
}

func group(t testing.TB, tr *Tree, l Limits) *Group {
	t.Helper()
	g, err := tr.New(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(g.Kill(), g.Remove()); err != nil {
			t.Error(err)
		}
	})
	return g
}

// waiting is a shell command that waits for a line before it does anything, like
// a child that waits to be put into its group.
type waiting struct {
	*exec.Cmd
	in  interface{ Close() error }
	out bytes.Buffer
}

func wait(t testing.TB, g *Group, script string) *waiting {
	t.Helper()
	w := &waiting{Cmd: exec.Command("sh", "-c", "read go; "+script)}
	in, err := w.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.in, w.Stdout, w.Stderr = in, &w.out, &w.out
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	if err := move(g, w.Process.Pid); err != nil {
		_ = w.Process.Kill()
		_ = w.Wait()
		t.Fatal(err)
	}
	return w
}

// move puts a process with all its threads into a group.
func move(g *Group, pid int) error {
	for _, p := range g.parts {
		if err := p.write(procsFile, int64(pid)); err != nil {
			return err
		}
	}
	return nil
}

// processesOf returns the processes of a group, each once, in ascending order.
func processesOf(g *Group) (all []int) {
	for _, p := range g.parts {
		all = append(all, p.members()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// run lets the command continue and returns its exit code: 128 plus the signal if it was killed.
func (w *waiting) run() int {
	_ = w.in.Close()
	_ = w.Wait()
	if code := w.ProcessState.ExitCode(); code >= 0 {
		return code
	}
	return 128 + 9
}

// checkLeftovers fails if groups of this process are left.
func checkLeftovers(t testing.TB, tr *Tree) {
	t.Helper()
	for _, h := range tr.hierarchies {
		if left := groupsOf(t, h, tr.self); len(left) > 0 {
			t.Errorf("left in %s: %q", h.dir, left)
		}
	}
}

func groupsOf(t testing.TB, h hierarchy, p process) []string {
	t.Helper()
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if owner, ok := ownerOf(e.Name()); ok && owner == p {
			all = append(all, e.Name())
		}
	}
	return all
}

// waitUntil waits for done to become true, and fails if that takes too long.
func waitUntil(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
