package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
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

// repair makes the fixed directories, also where a command has removed them,
// closed them, or put a link or a file in their place: these places belong to
// the workspace. Links are removed, not followed.
func (ws *Workspace) repair() error {
	ws.repairing.Lock()
	defer ws.repairing.Unlock()
	// From above: a directory that is closed to its owner has no inside.
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

// removeTemporary removes what a killed process left half-written where this
// package writes by itself.
func removeTemporary(root *os.Root) error {
	var errs []error
	for _, dir := range []string{skillsDir, inputsDir} {
		sub, err := openDir(root, dir, false)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		names, err := listNames(sub)
		errs = append(errs, err)
		for _, name := range names {
			if strings.HasPrefix(name, newPrefix) || strings.HasPrefix(name, trashPrefix) {
				errs = append(errs, removeAll(sub, name))
			}
		}
		sub.Close()
	}
	return errors.Join(errs...)
}
