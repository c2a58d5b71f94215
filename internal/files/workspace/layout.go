package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// Directories of a workspace, relative to it.
const (
	skillsDir = "skills"
	workDir   = "work"
	inputsDir = "work/inputs"
	outDir    = "out"
	runsDir   = "runs"
	homeDir   = "runs/home"
	tempDir   = "runs/tmp"
)

// Directories of a session below an instance.
const (
	treeName    = "workspace"
	controlName = "control"
)

// fixed lists what every workspace has, parents first.
func fixed() []string {
	return []string{skillsDir, workDir, inputsDir, outDir, runsDir, homeDir, tempDir}
}

// repair makes the fixed directories, also if a command has removed them, made
// them unreadable, or replaced them with a link or a file: these places belong to
// the workspace. Links are removed, not followed.
func (ws *Local) repair() error {
	ws.repairing.Lock()
	defer ws.repairing.Unlock()
	// From the parent down: nothing inside an unreadable directory can be
	// reached.
	inst, tree := ws.owner.inst.root, ws.dir+"/"+treeName
	info, err := inst.Lstat(tree)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrClosed // it was removed
	}
	if err == nil {
		err = makeOpen(inst, tree, info)
	}
	if err != nil {
		return fmt.Errorf("open the workspace: %w", cause(err))
	}
	for _, dir := range fixed() {
		if err := repairDir(ws.root, dir); err != nil {
			return fmt.Errorf("make %q: %w", dir, err)
		}
	}
	if err := ws.linkPrograms(); err != nil {
		return fmt.Errorf("make %q: %w", linksDir, err)
	}
	return nil
}

func repairDir(root *os.Root, dir string) error {
	parent, name := root, path.Base(dir)
	if up := path.Dir(dir); up != "." {
		var err error
		if parent, err = openDir(root, up, false); err != nil {
			return err
		}
		defer parent.Close()
	}
	info, err := parent.Lstat(name)
	switch {
	case err == nil && info.IsDir():
		return makeOpen(parent, name, info)
	case err == nil:
		err = parent.Remove(name)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err == nil {
		err = parent.Mkdir(name, 0o755)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) { // another call may be faster
		return cause(err)
	}
	return nil
}

// maxTidied bounds how many entries are checked for what a killed process left,
// which takes some tens of milliseconds. Anything that is left beyond that is
// never shown.
const maxTidied = 20_000

// tidy removes from a workspace of an earlier process what that process left
// half-written or half-removed.
func (ws *Local) tidy() {
	if !ws.kept {
		return
	}
	t := tidying{left: maxTidied}
	t.walk(ws.control, 0)
	for _, dir := range []struct {
		path  string
		depth int
	}{{skillsDir, 0}, {inputsDir, 0}, {outDir, maxUsageDepth}, {workDir, maxUsageDepth}, {runsDir, maxUsageDepth}} {
		sub, err := openDir(ws.root, dir.path, false)
		if err != nil {
			t.failed = err
			continue
		}
		t.walk(sub, dir.depth)
		sub.Close()
	}
	if t.failed != nil {
		ws.owner.cfg.logger.Warn("workspaces: leftovers not removed", "session", ws.session, "error", t.failed)
	}
}

type tidying struct {
	left   int   // entries
	failed error // the latest one stands for all
}

// walk tidies a directory and those in it, depth levels down.
func (t *tidying) walk(dir *os.Root, depth int) {
	entries, err := readSome(dir, max(t.left, 1))
	if err != nil {
		t.failed = err
	}
	t.left -= len(entries)
	for _, e := range entries {
		if plainfile.IsTemporary(e.Name()) {
			if err := removeAll(dir, e.Name()); err != nil {
				t.failed = err
			}
		}
	}
	for _, e := range entries {
		if t.left <= 0 || depth == 0 {
			return
		}
		if !e.IsDir() || plainfile.IsTemporary(e.Name()) {
			continue
		}
		if sub, err := openStep(dir, e.Name(), false); err == nil { // otherwise we may not read it
			t.walk(sub, depth-1)
			sub.Close()
		}
	}
}
