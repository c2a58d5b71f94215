package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/satchel-go/satchel/core"
)

// Files gives the files of a skill, as catalog.Catalog does.
type Files interface {
	// Files lists the files of a skill as slash-separated paths below its
	// directory, at most limit, and reports whether some were left out.
	Files(ctx context.Context, name string, limit int) ([]string, bool, error)
	// ReadFile returns the content of a listed file.
	ReadFile(ctx context.Context, name, file string) ([]byte, error)
}

// slot is the place of one skill. Whoever holds its turn stages it.
type slot struct {
	turn chan struct{} // holds one place
	name string
	dir  string // below skills/

	// Under turn.
	digest string // of what is staged, "" if nothing is
	seal   seal
}

// Staging says what [Workspace.Stage] did.
type Staging struct {
	// Copied: the skill's files were copied. If not, what is staged was used.
	Copied bool
	// Changed is why the same digest was copied again: the first path of the
	// skill that was not as it had been staged, "." for its directory. A
	// directory counts as changed when something was added to it or removed.
	Changed string
}

// Stage puts a skill into the workspace and returns its directory relative to
// it, "skills/<dir>", and what was done for it: a digest that is staged already
// is neither listed nor read again. Digest says which content the skill has;
// the caller computes it.
//
// What was staged is used again only while everything in it looks to lstat as
// it did then (see [Staging]); otherwise it is staged anew, and the log says
// so. That is remembered in memory, because an executor that does not isolate
// gives a command any file that could hold it: a workspace that a process has
// taken over gets its skills anew. On unix a command can hide a change only by
// setting the clock. Elsewhere, and where the file system keeps no times finer
// than a second, the check is as good as sizes and modification times.
//
// Files are read-only (mode 0444, and 0555 for those that begin with "#!" or
// as an ELF program; directories 0555). The skill's directory also holds the
// links out, work and inputs to those of the workspace, and a writable .venv,
// see [VenvDir]; a skill's own files of these names become out.skill and so on,
// which is logged. What was staged before is replaced in one step when the new
// copy is complete, which takes over its .venv; a command that runs in the old
// one keeps the rest until the workspace is no longer in use.
//
// Errors are those of files, [ErrName] for a skill without name or a digest
// that is empty, [ErrPath] for a listed path that leaves the skill,
// [ErrTooLarge] and [ErrFull]; nothing of the new copy is then visible.
func (ws *Workspace) Stage(ctx context.Context, skill core.Skill, digest string, files Files) (dir string, done Staging, err error) {
	dir, done, err = ws.stage(ctx, skill.Name, digest, files)
	if err != nil {
		return "", Staging{}, fmt.Errorf("stage skill %q: %w", skill.Name, err)
	}
	return dir, done, nil
}

func (ws *Workspace) stage(ctx context.Context, name, digest string, files Files) (string, Staging, error) {
	var done Staging
	if name == "" || digest == "" {
		return "", done, fmt.Errorf("%w: name or digest is empty", ErrName)
	}
	s, err := ws.slot(name)
	if err != nil {
		return "", done, err
	}
	if err := s.take(ctx); err != nil {
		return "", done, err
	}
	defer s.give()
	dir := skillsDir + "/" + s.dir
	if s.digest == digest {
		if done.Changed = ws.changed(s); done.Changed == "" {
			return dir, done, nil
		}
		ws.owner.cfg.logger.Warn("workspaces: a staged skill was changed and is staged anew", "skill", name, "path", done.Changed)
	}
	if err := ws.repair(); err != nil {
		return "", done, err
	}
	skills, err := openDir(ws.root, skillsDir, false)
	if err != nil {
		return "", done, err
	}
	defer skills.Close()
	copied, err := ws.copySkill(ctx, skills, name, files)
	defer copied.close()
	if err == nil {
		err = ws.swap(ctx, skills, copied, s)
	}
	if err != nil {
		return "", done, errors.Join(err, removeAll(skills, copied.temp))
	}
	s.digest, done.Copied = digest, true
	return dir, done, nil
}

// VenvDir is the writable directory of the skill in skillDir, which is what
// [Workspace.Stage] returned.
func VenvDir(skillDir string) string { return skillDir + "/" + venvName }

// slot returns the place of a skill.
func (ws *Workspace) slot(name string) (*slot, error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	dir := skillDirName(name)
	s, ok := ws.skills[dir]
	if !ok {
		s = &slot{turn: make(chan struct{}, 1), name: name, dir: dir}
		ws.skills[dir] = s
	}
	if s.name != name {
		return nil, fmt.Errorf("%w: its directory is that of skill %q", ErrName, s.name)
	}
	return s, nil
}

func (s *slot) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slot) give() { <-s.turn }

// changed returns the first path of a staged skill that is not as it was
// staged, "" if all is.
func (ws *Workspace) changed(s *slot) string {
	dir, err := openDir(ws.root, skillsDir+"/"+s.dir, false)
	if err != nil {
		return "."
	}
	defer dir.Close()
	if info, err := dir.Lstat(venvName); err != nil || !info.IsDir() {
		return venvName // its content is the commands', the directory is not
	}
	return s.seal.broken(dir)
}

// swap puts a complete copy in the place of a skill and seals it. Until that is
// done, nothing says that the skill is staged.
func (ws *Workspace) swap(ctx context.Context, skills *os.Root, copied *skillCopy, s *slot) error {
	s.digest, s.seal = "", nil
	old := freshName(trashPrefix)
	switch err := skills.Rename(s.dir, old); {
	case err == nil:
		ws.retire(old)
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
	// Not what has the name now, which a command may have exchanged already.
	if s.seal, err = newSeal(copied.dir, copied.made); err != nil {
		return err
	}
	return s.seal.settle(ctx, skills)
}

// keepVenv moves the writable directory of an old copy into the new one: it
// belongs to the commands, as work/ does, and programs there know their path.
func keepVenv(skills *os.Root, old, fresh string) error {
	from, err := openDir(skills, old, false)
	if err != nil {
		return nil // a command has put something else in its place
	}
	defer from.Close()
	info, err := from.Lstat(venvName)
	if err != nil || !info.IsDir() {
		return nil
	}
	// A directory that changes its parent, and both parents, must be writable.
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

// ignoreMissing: there was nothing to put back.
func ignoreMissing(err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cause(err)
}

// retire notes a replaced skill that running commands may still use.
func (ws *Workspace) retire(name string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.retired = append(ws.retired, name)
}

// takeRetired returns what no command uses any more: the caller knows that the
// workspace is not in use.
func (ws *Workspace) takeRetired() []string {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	names := ws.retired
	ws.retired = nil
	return names
}

func (ws *Workspace) removeRetired(names []string) error {
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
