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

// swap renames a complete copy to the skill's directory and seals it. Until then the skill
// does not count as staged. If keep is set, the copy takes over the previous .venv.
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
	// Seal the copy that is open, because a command may already have replaced the directory of
	// that name.
	if s.seal, err = newSeal(copied.dir, copied.entries); err != nil {
		return err
	}
	return s.seal.settle(ctx, skills)
}

// keepVenv moves the .venv of the old copy into the new one. Commands own its contents, and
// programs in it contain its path.
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
	// Moving a directory to another parent needs write permission for it and for both parents.
	err = errors.Join(makeAccessible(from, venvName, info), skills.Chmod(old, 0o700), skills.Chmod(fresh, 0o700))
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

// ignoreMissing returns nil for fs.ErrNotExist, and cause(err) for another error.
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

// takeRetired returns the replaced skills and forgets them. The caller knows that the
// workspace is not in use, so no command runs in them.
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

// A seal holds the results of lstat for all entries of a staged skill's directory except .venv.
// It detects changes by a command that runs as root, or as the owner after chmod. Checking it
// opens no file. An added or removed entry changes the times of its directory.
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

// newSeal seals the entries of a copy, given by directory.
func newSeal(skill *os.Root, entries map[string][]string) (seal, error) {
	s := make(seal, 0, len(entries))
	for _, dir := range slices.Sorted(maps.Keys(entries)) {
		d := sealedDir{path: dir, names: entries[dir]}
		var err error
		if d.stamps, err = d.stamp(skill); err != nil {
			return nil, cause(err)
		}
		s = append(s, d)
	}
	return s, nil
}

// stamp returns the stamps of the names as they are now, up to the first that
// cannot be read.
func (d sealedDir) stamp(skill *os.Root) ([]stamp, error) {
	// With "/." only a directory can be opened; opening a pipe would block.
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
		current, _ := d.stamp(skill) // ends before an entry that cannot be read
		for i, sealed := range d.stamps {
			if i == len(current) || current[i] != sealed {
				return path.Join(d.path, d.names[i])
			}
		}
	}
	return ""
}

// settle waits until a change of a sealed file would get a later time than the seal has. It
// tries that with a temporary file in dir. It waits about 50 ms at most: a step of a whole
// second is too long to wait for.
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
		if i > 1 { // newer kernels give an exact time to a file that changes after a stat
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
