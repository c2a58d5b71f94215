package workspace_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// skillFiles is a catalog of one skill that counts its calls.
type skillFiles struct {
	files                map[string]string
	modes                map[string]fs.FileMode
	lists, reads, prints atomic.Int64
	beforeReading        func(file string) error
}

func (s *skillFiles) Files(ctx context.Context, _ string, limit int) ([]string, bool, error) {
	s.lists.Add(1)
	names := slices.Sorted(maps.Keys(s.files))
	if len(names) > limit {
		return names[:limit], true, ctx.Err()
	}
	return names, false, ctx.Err()
}

func (s *skillFiles) OpenFile(_ context.Context, _, file string) (fs.File, error) {
	s.reads.Add(1)
	if s.beforeReading != nil {
		if err := s.beforeReading(file); err != nil {
			return nil, err
		}
	}
	fsys := fstest.MapFS{"file": {Data: []byte(s.files[file]), Mode: s.modes[file]}}
	return fsys.Open("file")
}

func (s *skillFiles) Fingerprint(context.Context, string) (string, error) {
	s.prints.Add(1)
	return fmt.Sprint(s.files, s.modes), nil
}

func pdfFiles() *skillFiles {
	return &skillFiles{files: map[string]string{
		"SKILL.md":           "---\nname: pdf\n---\n",
		"scripts/run.sh":     "#!/bin/sh\necho hi\n",
		"bin/tool":           "\x7fELF\x02",
		"reference/forms.md": "# Forms\n",
	}}
}

var (
	pdf        = core.Skill{Name: "pdf"}
	otherSkill = core.Skill{Name: "other"}
)

func open(t testing.TB, opts ...workspace.Option) *workspace.Workspaces {
	t.Helper()
	w, err := workspace.Open(t.Context(), t.TempDir(), append([]workspace.Option{workspace.WithLogger(quiet())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return w
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func of(t testing.TB, w *workspace.Workspaces, session string) *workspace.Local {
	t.Helper()
	ws, err := w.Of(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return ws.(*workspace.Local)
}

func stage(t testing.TB, ws *workspace.Local, skill core.Skill, digest string, files workspace.Files) (string, bool) {
	t.Helper()
	dir, done, err := ws.Stage(t.Context(), skill, digest, files)
	if err != nil {
		t.Fatal(err)
	}
	return dir, done.Copied
}

// unstaged reports whether a staging did nothing.
func unstaged(done workspace.Staging) bool { return reflect.DeepEqual(done, workspace.Staging{}) }

func newWorkspace(t testing.TB, opts ...workspace.Option) *workspace.Local {
	t.Helper()
	return of(t, open(t, opts...), "chat-1")
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// differ returns "" for equal values, else both.
func differ(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("want %+v\ngot  %+v", want, got)
}

// removeAll removes a directory, including what is read-only in it.
func removeAll(t testing.TB, dir string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	}))
	must(t, os.RemoveAll(dir))
}

// staged lists what lies beside the links of programs in the folder of staged skills.
func staged(t testing.TB, ws *workspace.Local) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(ws.Path(), "skills"))
	must(t, err)
	for _, e := range entries {
		if e.Name() != ".bin" {
			names = append(names, e.Name())
		}
	}
	return names
}

// tree lists what is below dir: path, type and mode, and the target of a link
// or the content of a file.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		what := info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			what = "-> " + target
		case info.Mode().IsRegular():
			data, _ := os.ReadFile(path)
			what += " " + string(data)
		}
		all[filepath.ToSlash(rel)] = what
		return nil
	})
	must(t, err)
	return all
}

// outside is a directory that nothing may change; check fails if something did.
func outside(t *testing.T) (dir string, check func()) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "secret"), "secret")
	write(t, filepath.Join(dir, "deep/er/secret"), "secret")
	before := tree(t, dir)
	return dir, func() {
		t.Helper()
		if after := tree(t, dir); !maps.Equal(before, after) {
			t.Errorf("outside was changed:\n%v\n%v", before, after)
		}
	}
}

// memoryArtifacts keeps versions of artifacts by name.
type memoryArtifacts struct {
	mu       sync.Mutex
	versions map[string][]string
	sessions []string
}

func (m *memoryArtifacts) Open(_ context.Context, session string, ref artifacts.Ref) (io.ReadCloser, artifacts.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions = append(m.sessions, session)
	all := m.versions[ref.Name]
	if ref.Version < 0 {
		ref.Version = len(all) - 1
	}
	if ref.Version < 0 || ref.Version >= len(all) {
		return nil, artifacts.Info{}, artifacts.ErrNotFound
	}
	content := all[ref.Version]
	info := artifacts.Info{Ref: ref, MIME: "text/plain", Size: int64(len(content))}
	return io.NopCloser(strings.NewReader(content)), info, nil
}

// captureLog collects what is logged.
func captureLog() (*slog.Logger, func() string) {
	var mu sync.Mutex
	var buf bytes.Buffer
	return slog.New(slog.NewTextHandler(lockedWriter{&mu, &buf}, nil)), func() string {
		mu.Lock()
		defer mu.Unlock()
		return buf.String()
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
