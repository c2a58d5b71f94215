package workspace

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
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

// A seal is what lstat reported for everything in a skill's directory when it was
// staged, except .venv. A command that runs as root, or as the owner, who may
// chmod, can write there; that breaks the seal. A seal reads no contents and
// opens no files. Added and removed entries show in the times of their directory.
type seal []sealedDir

type sealedDir struct {
	path   string // below the skill's directory
	names  []string
	stamps []stamp
}

// stamp is what lstat reports for one entry.
type stamp struct {
	mode     fs.FileMode
	size     int64
	modified int64 // in nanoseconds of Unix time
	inode    inode // if the system reports it, including the time of the last change
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{info.Mode(), info.Size(), info.ModTime().UnixNano(), inodeOf(info)}
}

// newSeal seals what was made in skill, by directory.
func newSeal(skill *os.Root, made map[string][]string) (seal, error) {
	s := make(seal, 0, len(made))
	for _, dir := range slices.Sorted(maps.Keys(made)) {
		d := sealedDir{path: dir, names: made[dir]}
		var err error
		if d.stamps, err = d.look(skill); err != nil {
			return nil, cause(err)
		}
		s = append(s, d)
	}
	return s, nil
}

// look returns the stamps of the names as they are now, up to the first that
// cannot be read.
func (d sealedDir) look(skill *os.Root) ([]stamp, error) {
	// The dot makes it open directories only: it would block on a pipe.
	dir, err := skill.OpenRoot(filepath.FromSlash(d.path + "/."))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	stamps := make([]stamp, 0, len(d.names))
	for _, name := range d.names {
		info, err := dir.Lstat(name)
		if err != nil {
			return stamps, err
		}
		stamps = append(stamps, stampOf(info))
	}
	return stamps, nil
}

// firstChange returns the first path that is not as it was sealed, "" if there is
// none.
func (s seal) firstChange(skill *os.Root) string {
	for _, d := range s {
		now, _ := d.look(skill) // what cannot be read is missing here
		for i, was := range d.stamps {
			if i == len(now) || now[i] != was {
				return path.Join(d.path, d.names[i])
			}
		}
	}
	return ""
}

// settle waits until a change of what is sealed would show. It finds out with a
// file of its own in dir. It waits about 50 ms at most, because steps of a second
// are too long to wait for.
func (s seal) settle(ctx context.Context, dir *os.Root) error {
	var newest int64
	for _, d := range s {
		for _, st := range d.stamps {
			newest = max(newest, st.newest())
		}
	}
	name := freshName(newPrefix)
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return cause(err)
	}
	defer dir.Remove(name)
	defer f.Close()
	for i := range settleTries {
		if i > 1 { // newer kernels give an exact time to a file that changes after it was looked at
			time.Sleep(settlePause)
		}
		if _, err := f.Write([]byte{0}); err != nil {
			return withoutPath(f, err)
		}
		info, err := f.Stat()
		if err != nil {
			return withoutPath(f, err)
		}
		if stampOf(info).newest() > newest {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (s stamp) newest() int64 { return max(s.modified, s.inode.changed) }
