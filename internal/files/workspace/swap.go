package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// swap puts a complete copy in the place of a skill and seals it. Until that is
// done, the skill does not count as staged. The .venv is taken over if keep is set.
func (ws *Local) swap(ctx context.Context, skills *os.Root, copied *skillCopy, s *slot, keep bool) error {
	s.fingerprint, s.loads, s.seal = "", nil, nil
	old := freshName(trashPrefix)
	switch err := skills.Rename(s.dir, old); {
	case err == nil:
		ws.retire(old)
		if !keep || copied.verbatim {
			break
		}
		if err := keepVenv(skills, old, copied.temp); err != nil {
			ws.owner.cfg.logger.Warn("workspaces: "+venvName+" of the skill is lost", "skill", s.name, "error", cause(err))
		}
	case !errors.Is(err, fs.ErrNotExist):
		return cause(err)
	}
	if err := skills.Rename(copied.temp, s.dir); err != nil {
		return errors.Join(cause(err), ignoreMissing(skills.Rename(old, s.dir)))
	}
	var err error
	// Not what has the name now, because a command may have exchanged that
	// already.
	if s.seal, err = newSeal(copied.dir, copied.made); err != nil {
		return err
	}
	return s.seal.settle(ctx, skills)
}

// keepVenv moves the writable directory of an old copy into the new one: it
// belongs to the commands, as work/ does, and programs in it contain its path.
func keepVenv(skills *os.Root, old, fresh string) error {
	from, err := openDir(skills, old, false)
	if err != nil {
		return nil // a command has replaced it
	}
	defer from.Close()
	info, err := from.Lstat(venvName)
	if err != nil || !info.IsDir() {
		return nil
	}
	// To change its parent a directory must be writable, and so must both
	// parents.
	err = errors.Join(makeOpen(from, venvName, info), skills.Chmod(old, 0o700), skills.Chmod(fresh, 0o700))
	if err == nil {
		err = skills.Remove(fresh + "/" + venvName)
	}
	if err == nil {
		if err = skills.Rename(old+"/"+venvName, fresh+"/"+venvName); err != nil {
			err = errors.Join(err, skills.Mkdir(fresh+"/"+venvName, 0o755))
		}
	}
	return errors.Join(err, skills.Chmod(fresh, 0o555))
}

// ignoreMissing accepts that there was nothing to put back.
func ignoreMissing(err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cause(err)
}

// retire records a replaced skill that running commands may still use.
func (ws *Local) retire(name string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.retired = append(ws.retired, name)
}

// takeRetired returns the replaced skills that no command uses any more: the
// caller knows that the workspace is not in use.
func (ws *Local) takeRetired() []string {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	names := ws.retired
	ws.retired = nil
	return names
}

func (ws *Local) removeRetired(names []string) error {
	if len(names) == 0 {
		return nil
	}
	skills, err := openDir(ws.root, skillsDir, false)
	if err != nil {
		return err
	}
	defer skills.Close()
	var errs []error
	for _, name := range names {
		errs = append(errs, removeAll(skills, name))
	}
	return errors.Join(errs...)
}
