package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

// fill replaces what a command wrote with a file of so many bytes.
func fill(t *testing.T, ws *workspace.Local, file string, size int) {
	t.Helper()
	write(t, filepath.Join(ws.Path(), file), strings.Repeat("x", size))
}

func room(t *testing.T, ws *workspace.Local) workspace.Room {
	t.Helper()
	r, err := ws.Room(t.Context(), false)
	must(t, err)
	return r
}

// A full workspace accepts nothing, lets commands make room, and is no longer
// full as soon as they have.
func TestFullWorkspaceCanBeEmptied(t *testing.T) {
	const most, spare = 1 << 20, 1 << 16
	ws := newWorkspace(t, workspace.WithMaxBytes(most))
	if r := room(t, ws); r.Full != nil || r.Limit != most {
		t.Errorf("empty: %+v", r)
	}
	store := workspace.Sources{Artifacts: &memoryArtifacts{versions: map[string][]string{"a": {"a"}}}}
	put := func() error {
		_, _, err := ws.Inputs(t.Context(), []workspace.Input{{From: "artifact://a"}}, store)
		return err
	}
	must(t, put())
	for range 3 {
		fill(t, ws, "work/big", 5<<20)
		_, err := ws.Usage(t.Context()) // measures the workspace as a command does at its end
		must(t, err)
		r := room(t, ws)
		if !errors.Is(r.Full, workspace.ErrFull) || r.Limit < 5<<20+spare || r.Limit > 6<<20 {
			t.Errorf("full: %+v", r)
		}
		if err := put(); !errors.Is(err, workspace.ErrFull) || !strings.Contains(err.Error(), "remove files") {
			t.Errorf("input into a full workspace: %v", err)
		}
		_, warnings, err := ws.Attach(t.Context(), []workspace.Attachment{{Name: "b", Data: []byte("b")}}, store)
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "full") {
			t.Errorf("attached to a full workspace: %q, %v", warnings, err)
		}
		must(t, os.Remove(filepath.Join(ws.Path(), "work/big")))
		if r := room(t, ws); r.Full != nil || r.Limit != most {
			t.Errorf("emptied: %+v", r)
		}
		must(t, put())
	}
}

// A command runs in a skill, so a small skill can be staged to make room.
func TestFullWorkspaceTakesSmallSkills(t *testing.T) {
	ws := newWorkspace(t, workspace.WithMaxBytes(1<<20))
	fill(t, ws, "work/big", 2<<20)
	room(t, ws)
	dir, staged := stage(t, ws, pdf, "1", pdfFiles())
	if !staged || read(t, filepath.Join(ws.Path(), dir, "reference/forms.md")) != "# Forms\n" {
		t.Error("not staged")
	}
	large := &skillFiles{files: map[string]string{"a": strings.Repeat("x", 100<<10)}}
	if _, _, err := ws.Stage(t.Context(), otherSkill, "1", large); !errors.Is(err, workspace.ErrFull) {
		t.Errorf("a large one: %v", err)
	}
}

func TestTotal(t *testing.T) {
	w := open(t, workspace.WithMaxTotalBytes(1<<20))
	large, small := of(t, w, "large"), of(t, w, "small")
	dir, _ := stage(t, small, pdf, "1", pdfFiles())
	fill(t, large, "out/big", 2<<20)
	room(t, small)
	if r := room(t, large); !errors.Is(r.Full, workspace.ErrFull) || !strings.Contains(r.Full.Error(), "all sessions") || r.Limit < 2<<20 {
		t.Errorf("of the large one: %+v", r)
	}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, workspace.ErrFull) || !strings.Contains(err.Error(), "all sessions together have reached the 1048576 bytes") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := small.Room(t.Context(), false)
	refused("command in the small one", err)
	_, _, err = small.Stage(t.Context(), otherSkill, "1", pdfFiles())
	refused("skill in the small one", err)
	_, err = of(t, w, "new").Room(t.Context(), false)
	refused("new session", err)
	if again, staged := stage(t, small, pdf, "1", pdfFiles()); again != dir || staged {
		t.Error("what is staged was lost")
	}
	for name, free := range map[string]func(){
		"removed by a command": func() {
			must(t, os.Remove(filepath.Join(large.Path(), "out/big")))
			room(t, large)
			large.Release()
		},
		"ended": func() { large.Release(); must(t, w.End("large")) },
		"gone":  func() { large.Release(); removeAll(t, large.Path()); of(t, w, "large").Release() },
	} {
		fill(t, large, "out/big", 2<<20)
		_, err := large.Usage(t.Context())
		must(t, err)
		_, err = small.Room(t.Context(), false)
		refused(name, err)
		free()
		if r := room(t, small); r.Full != nil {
			t.Errorf("%s: %v", name, r.Full)
		}
		large = of(t, w, "large")
	}
	none := newWorkspace(t, workspace.WithMaxTotalBytes(0))
	fill(t, none, "out/big", 2<<20)
	if r := room(t, none); r.Full != nil || r.Limit != 1<<30 {
		t.Errorf("without a total: %+v", r)
	}
}

// The files of a session's last command count even if no other command follows. So do the files
// that an earlier process has left.
func TestTotalCountsWhatWasReleased(t *testing.T) {
	base := t.TempDir()
	first, err := workspace.Open(t.Context(), base, workspace.WithKeep())
	must(t, err)
	kept := of(t, first, "kept")
	fill(t, kept, "out/big", 2<<20)
	must(t, first.Close())
	w, err := workspace.Open(t.Context(), base, workspace.WithKeep(), workspace.WithMaxTotalBytes(3<<20), workspace.WithLogger(quiet()))
	must(t, err)
	t.Cleanup(func() {
		must(t, w.End("kept"))
		must(t, w.Close())
	})
	busy, other := of(t, w, "busy"), of(t, w, "other")
	room(t, busy)
	fill(t, busy, "out/big", 2<<20)
	look := func(full bool) {
		t.Helper()
		workspace.MeasureReleased(t.Context(), w)
		if _, err := other.Room(t.Context(), false); errors.Is(err, workspace.ErrFull) != full {
			t.Errorf("full %t: %v", full, err)
		}
	}
	look(false) // the workspace busy is in use
	busy.Release()
	look(true)
	must(t, w.End("busy"))
	look(false)
	again := of(t, w, "kept")
	fill(t, again, "out/more", 2<<20)
	again.Release()
	look(true)
	must(t, w.End("kept"))
	look(false)
	if n := workspace.Total(w); n < 0 || n > 1<<20 {
		t.Errorf("%d bytes are counted", n)
	}
}
