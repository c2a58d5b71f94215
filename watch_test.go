package satchel_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
)

// A runtime that watches tells of skills that come, and ends watching with itself.
func TestWithWatch(t *testing.T) {
	dir := t.TempDir()
	scanned := make(chan string, 100)
	told := make(chan int, 100)
	rt, err := satchel.New(satchel.WithSkillDirs(dir),
		satchel.WithSkillRoots(nil, catalog.WithWatch(catalog.WatchOptions{
			Quiet: time.Millisecond, Latest: 10 * time.Millisecond, Poll: 24 * time.Hour,
			Changed: func(_ context.Context, s *catalog.Snapshot) { told <- s.Len() },
		})),
		satchel.WithEvents(func(_ context.Context, e core.Event) {
			if e.Kind == core.CatalogScanned {
				scanned <- e.Detail
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	if err := os.MkdirAll(filepath.Join(dir, "pdf"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pdf", "SKILL.md"), []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for n := 0; n != 1; {
		select {
		case n = <-told:
		case <-time.After(2 * time.Minute):
			t.Fatal("the skill was not noticed")
		}
	}
	for last := ""; last != "1 skills, 0 diagnostics"; {
		select {
		case last = <-scanned:
		default:
			t.Fatalf("no event tells of it, the last one is %q", last)
		}
	}
}
