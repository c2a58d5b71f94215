package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

func TestQuota(t *testing.T) {
	store := &memoryArtifacts{versions: map[string][]string{"a": {strings.Repeat("x", 60_000)}}}
	from := workspace.Sources{Artifacts: store}
	ws := newWorkspace(t, workspace.WithMaxBytes(200_000))
	put := func(to string) error {
		_, _, err := ws.Inputs(t.Context(), []workspace.Input{{From: "artifact://a", To: to}}, from)
		return err
	}
	for range 10 {
		must(t, put("work/same")) // each call replaces the file, so it counts once
	}
	must(t, put("work/two"))
	must(t, put("work/three"))
	if err := put("work/four"); !errors.Is(err, workspace.ErrFull) {
		t.Errorf("error %v", err)
	}
	must(t, os.Remove(filepath.Join(ws.Path(), "work/two")))
	must(t, put("work/four"))
	write(t, filepath.Join(ws.Path(), "out/by-command"), strings.Repeat("x", 150_000))
	usage, err := ws.Usage(t.Context())
	must(t, err)
	if usage.Bytes < 300_000 || usage.Cut {
		t.Errorf("usage %+v", usage)
	}
	if err := put("work/same"); !errors.Is(err, workspace.ErrFull) {
		t.Errorf("what a command wrote does not count: %v", err)
	}
}

func TestUsage(t *testing.T) {
	ws := newWorkspace(t)
	empty, err := ws.Usage(t.Context())
	must(t, err)
	must(t, os.Symlink("/", filepath.Join(ws.Path(), "out/root")))
	for i := range 10 {
		write(t, filepath.Join(ws.Path(), "out/sub", fmt.Sprint(i)), "x")
	}
	got, err := ws.Usage(t.Context())
	must(t, err)
	if got.Entries != empty.Entries+12 || got.Cut || got.Bytes < 10 {
		t.Errorf("usage %+v, empty %+v", got, empty)
	}
	must(t, os.MkdirAll(filepath.Join(ws.Path(), "out", strings.Repeat("d/", 120)), 0o700))
	if got, err = ws.Usage(t.Context()); err != nil || !got.Cut {
		t.Errorf("deep: %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ws.Usage(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
