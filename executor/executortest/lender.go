package executortest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// lender makes the benches of a suite. An executor that keeps a runner for each workspace would start
// hundreds of them. So an empty workspace is lent again, and its runner serves many checks, as
// it serves many commands of a session.
type lender struct {
	base string // of the workspaces
	mu   sync.Mutex
	free map[executor.Executor][]string
}

// newLender returns a lender for a suite. When the suite has ended, its workspaces are released.
func newLender(t *testing.T) *lender {
	t.Helper()
	l := &lender{base: t.TempDir(), free: map[executor.Executor][]string{}}
	t.Cleanup(func() {
		for by, dirs := range l.free {
			for _, dir := range dirs {
				if err := by.(executor.Releaser).Release(dir); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return l
}

// bench returns a bench with an executor for one check.
func (l *lender) bench(t *testing.T, by executor.Executor) bench {
	t.Helper()
	b := bench{t: t, exec: by, beside: t.TempDir(), lender: l}
	if _, ok := by.(executor.Releaser); ok {
		b.dir, b.isNew = l.lend(t, by)
	} else {
		b.dir = t.TempDir()
	}
	makePipe(t, filepath.Join(b.dir, "life"))
	return b
}

// lend returns an empty workspace until the test ends, and reports whether no check has used it.
func (l *lender) lend(t *testing.T, by executor.Executor) (dir string, isNew bool) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := len(l.free[by]) - 1; last >= 0 {
		dir, l.free[by] = l.free[by][last], l.free[by][:last]
	} else {
		var err error
		if dir, err = os.MkdirTemp(l.base, ""); err != nil {
			t.Fatal(err)
		}
		isNew = true
	}
	t.Cleanup(func() { l.takeBack(t, by, dir) })
	return dir, isNew
}

// takeBack empties a workspace, to lend it again. After a failure it is released, as hosts do.
func (l *lender) takeBack(t *testing.T, by executor.Executor, dir string) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
	}
	if err != nil {
		t.Error(err)
	}
	if t.Failed() {
		if err := by.(executor.Releaser).Release(dir); err != nil {
			t.Error(err)
		}
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free[by] = append(l.free[by], dir)
}
