//go:build unix

package remote

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// TestMarks runs a command by a runner whose numbers of files are others, as those of gVisor are.
func TestMarks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, tt := range []struct {
		name  string
		opts  []Option
		sees  string // the directory that the runner sees as its workspace
		works bool
	}{
		{"numbers", nil, dir, false}, {"marks", []Option{WithMarks()}, dir, true}, {"another directory", []Option{WithMarks()}, other, false},
		{"no directory", []Option{WithMarks()}, filepath.Join(dir, "none"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var seen []string
			c := &carrier{stub: stub{run: func(context.Context, executor.Command) (executor.Result, error) {
				seen = names(t, dir)
				return executor.Result{Reason: executor.ReasonExit}, nil
			}}}
			c.wire = func(rw io.ReadWriteCloser) { renumbered(t, rw, tt.sees, c.stub) }
			e := newTestExecutor(t, c, tt.opts...)
			_, err := e.Run(t.Context(), commandIn(dir))
			if tt.works != (err == nil) || err != nil && (!errors.Is(err, executor.ErrSetup) || !strings.Contains(err.Error(), "does not see")) {
				t.Errorf("works %v, want %v: %v", err == nil, tt.works, err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if left := append(seen, names(t, dir)...); len(left) > 0 {
				t.Errorf("%q are left in the workspace", left)
			}
		})
	}
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Error(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// renumbered serves a runner that sees the directory at in place of each path of the hello, and numbers files
// itself.
func renumbered(t *testing.T, rw io.ReadWriteCloser, at string, run executor.Executor) {
	f, err := (&frameReader{from: rw}).next()
	if err != nil {
		t.Error(err)
		return
	}
	hello, err := decode[helloMessage](f.body)
	if err != nil {
		t.Error(err)
		return
	}
	for i := range hello.Paths {
		hello.Paths[i] = []byte(at)
	}
	s := &server{ctx: t.Context(), opened: make(chan struct{}), executor: run, greeted: true, tasks: map[uint32]*task{}}
	close(s.opened)
	s.conn = newConn(rw, s.take)
	s.conn.serve()
	answer := s.answerTo(hello)
	for i := range answer.Seen {
		answer.Seen[i].Ino += 1000
	}
	s.sendHello(answer)
	<-s.conn.ended
	s.running.Wait()
}

// TestHasMark checks that a runner looks for a mark in the directory alone, and for nothing else.
func TestHasMark(t *testing.T) {
	dir := t.TempDir()
	m, err := putMark(dir)
	if err != nil {
		t.Fatal(err)
	}
	sub, link := filepath.Join(dir, "sub"), markPrefix+"link"
	if err := errors.Join(os.Mkdir(sub, 0o700), os.Symlink(m.name, filepath.Join(dir, link)), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dir, name string
		want      bool
	}{
		{dir, m.name, true}, {sub, m.name, false}, {sub, "../" + m.name, false}, {sub, markPrefix + "/../../" + m.name, false}, {dir, link, false},
		{dir, "file", false}, {dir, "", false}, {dir, markPrefix, false},
	} {
		if got := hasMark(tt.dir, tt.name); got != tt.want {
			t.Errorf("%q in %q: %v", tt.name, tt.dir, got)
		}
	}
	if err := m.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, m.name)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the mark is left: %v", err)
	}
	if _, err := putMark(filepath.Join(dir, "none")); !errors.Is(err, executor.ErrCommand) {
		t.Error(err)
	}
}
