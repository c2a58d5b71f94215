package satchel_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/executor"
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

// A host that names no logger sees in slog.Default, once, which places give no skills, and
// Ready returns it: whether all have failed or some.
func TestReadyNamesPlacesWithoutSkills(t *testing.T) {
	good, empty := t.TempDir(), t.TempDir()
	writePDF(t, good)
	dead := catalog.Archive("http://127.0.0.1:1/skills.zip", catalog.ArchiveOptions{CacheDir: t.TempDir()})
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	for _, tt := range []struct {
		name  string
		roots []catalog.Root
		none  bool
		named []string
	}{
		{"good", []catalog.Root{catalog.Dir(good)}, false, nil},
		{"some", []catalog.Root{catalog.Dir(good), dead}, false, []string{"skills.zip"}},
		{"all", []catalog.Root{catalog.Dir(empty), dead}, true, []string{empty, "skills.zip"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
			rt, err := satchel.New(satchel.WithSkillRoots(tt.roots...), satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}))
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
