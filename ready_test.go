package satchel_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/skillmd"
	"github.com/satchel-go/satchel/tools"
)

func writePDF(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "pdf"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pdf", "SKILL.md"), []byte("---\nname: pdf\ndescription: Reads PDF.\n---\nB\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A host without a logger sees in slog.Default, once, which places have no skills. Ready
// returns the same, whether all places failed or some.
func TestReadyNamesPlacesWithoutSkills(t *testing.T) {
	good, empty := t.TempDir(), t.TempDir()
	writePDF(t, good)
	dead := source.Archive("http://127.0.0.1:1/skills.zip", source.ArchiveOptions{CacheDir: t.TempDir()})
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	for _, tt := range []struct {
		name  string
		roots []source.Root
		none  bool
		named []string
	}{
		{"good", []source.Root{source.Dir(good)}, false, nil},
		{"some", []source.Root{source.Dir(good), dead}, false, []string{"skills.zip"}},
		{"all", []source.Root{source.Dir(empty), dead}, true, []string{empty, "skills.zip"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
			rt, err := satchel.New(satchel.WithSkillRoots(tt.roots), satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}))
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			for range 2 {
				err = errors.Join(rt.Refresh(t.Context()), rt.Ready(t.Context()))
			}
			failed, _ := errors.AsType[*catalog.RootError](err)
			if (failed != nil) != (tt.named != nil) || errors.Is(err, catalog.ErrNoSkills) != tt.none || errors.Is(err, executor.ErrSetup) {
				t.Errorf("Ready is %v", err)
			}
			for _, name := range tt.named {
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%q does not name %s", err, name)
				}
			}
			if n := strings.Count(log.String(), "level=WARN"); n != len(tt.named) {
				t.Errorf("%d lines of the log:\n%s", n, log.String())
			}
			if found := len(rt.Diagnostics()); found != len(tt.named) {
				t.Errorf("diagnostics %v", rt.Diagnostics())
			}
		})
	}
}

// Ready looks for changes itself. A host that never calls Refresh finds out that a place was
// removed or emptied, even if a cache still serves it, and that it is back.
func TestReadyLooksForChanges(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "skills")
	open := func() *satchel.Runtime {
		var log bytes.Buffer
		rt, err := satchel.New(satchel.WithSkillDirs(dir), satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}), satchel.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
			satchel.WithSkillRoots(nil, catalog.WithCache(filepath.Join(base, "cache"))))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = rt.Close() })
		return rt
	}
	want := func(what string, rt *satchel.Runtime, code skillmd.Code) {
		t.Helper()
		err := rt.Ready(t.Context())
		if failed, ok := errors.AsType[*catalog.RootError](err); ok != (code != "") || ok && failed.Finding.Code != code {
			t.Errorf("%s: Ready is %v, want %q", what, err, code)
		}
	}
	writePDF(t, dir)
	rt := open()
	want("there", rt, "")
	for _, change := range []struct {
		path string
		code skillmd.Code
	}{{dir, catalog.CodeSourceFailed}, {filepath.Join(dir, "pdf"), catalog.CodeNoSkills}} {
		if err := os.RemoveAll(change.path); err != nil {
			t.Fatal(err)
		}
		want("removed "+change.path, rt, change.code)
		writePDF(t, dir)
		want("back", rt, "")
	}
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "pdf")); err != nil {
		t.Fatal(err)
	}
	rt = open()
	want("cached", rt, catalog.CodeNoSkills)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := rt.Ready(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("Ready is %v", err)
	}
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	if err := rt.Ready(t.Context()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Ready of a closed runtime is %v", err)
	}
}

// If a session sees no skill although there are some, the log says so once. Either all skills
// are hidden, or an audience allows none.
func TestSessionWithoutVisibleSkillsIsTold(t *testing.T) {
	dir, hidden := t.TempDir(), t.TempDir()
	writePDF(t, dir)
	writePDF(t, hidden)
	if err := os.WriteFile(filepath.Join(hidden, "pdf", "SKILL.md"), []byte("---\nname: pdf\ndescription: P.\ndisable-model-invocation: true\n---\nB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	allows := func(_ context.Context, key core.SessionKey) satchel.Audience {
		return satchel.Audience{Key: key.Session, Allow: func(core.Skill) bool { return key.Session == "staff" }}
	}
	for _, tt := range []struct {
		dir, text string
		opts      []satchel.Option
	}{
		{dir, "", nil},
		{hidden, "the model sees no skill: all are hidden from it", nil},
		{dir, "the model sees no skill: an audience allows none", []satchel.Option{satchel.WithAudience(allows)}},
	} {
		var log bytes.Buffer
		opts := append(tt.opts, satchel.WithSkillDirs(tt.dir), satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}), satchel.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		rt, err := satchel.New(opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		for _, name := range []string{"staff", "one", "two", "one"} {
			req := core.Request{Key: core.SessionKey{Session: name}, Messages: []core.Message{{Role: core.User, Text: "hi"}}}
			if _, err := rt.Prepare(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		if lines := strings.Count(log.String(), "\n"); lines != min(1, len(tt.text)) || !strings.Contains(log.String(), tt.text) {
			t.Errorf("want one line %q:\n%s", tt.text, log.String())
		}
	}
}

// A place that is lost while the runtime works is reported once, and Ready returns it.
func TestLostPlaceIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "skills")
	writePDF(t, dir)
	var log bytes.Buffer
	rt, err := satchel.New(satchel.WithSkillDirs(dir), satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}), satchel.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	if err := rt.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, ok := errors.AsType[*catalog.RootError](rt.Refresh(t.Context())); !ok {
			t.Error("Refresh tells of no place")
		}
	}
	if err := rt.Ready(t.Context()); !errors.Is(err, os.ErrNotExist) || errors.Is(err, catalog.ErrNoSkills) {
		t.Errorf("Ready is %v", err)
	}
	if ds := rt.Diagnostics(); len(ds) != 1 || ds[0].Code != catalog.CodeSourceFailed {
		t.Errorf("diagnostics %v", ds)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
}
