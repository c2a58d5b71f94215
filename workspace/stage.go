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
	digest string
	info   fs.FileInfo // of what was staged, to notice that it was replaced
}

// Stage puts a skill into the workspace and returns its directory relative to
// it, "skills/<dir>", and whether something was copied: a digest that is staged
// already is neither listed nor read again, also after a restart of the
// process. Digest says which content the skill has; the caller computes it.
//
// Files are read-only (mode 0444, and 0555 for those that begin with "#!" or
// as an ELF program; directories 0555). The skill's directory also holds the
// links out, work and inputs to those of the workspace, and a writable .venv;
// a skill's own files of these names become out.skill and so on, which is
// logged. Another digest of the same skill is replaced in one step when the
// new one is complete; a command that runs in the old one keeps it until the
// workspace is no longer in use.
//
// Errors are those of files, [ErrName] for a skill without name or a digest
// that is empty, [ErrPath] for a listed path that leaves the skill,
// [ErrTooLarge] and [ErrFull]; nothing of the new copy is then visible.
func (ws *Workspace) Stage(ctx context.Context, skill core.Skill, digest string, files Files) (dir string, staged bool, err error) {
	dir, staged, err = ws.stage(ctx, skill.Name, digest, files)
	if err != nil {
		return "", false, fmt.Errorf("stage skill %q: %w", skill.Name, err)
	}
	return dir, staged, nil
}

func (ws *Workspace) stage(ctx context.Context, name, digest string, files Files) (string, bool, error) {
	if name == "" || digest == "" {
		return "", false, fmt.Errorf("%w: name or digest is empty", ErrName)
	}
	s, err := ws.slot(name)
	if err != nil {
		return "", false, err
	}
	if err := s.take(ctx); err != nil {
		return "", false, err
	}
	defer s.give()
	dir := skillsDir + "/" + s.dir
	if ws.isStaged(s, digest) {
		return dir, false, nil
	}
	if err := ws.repair(); err != nil {
		return "", false, err
	}
	skills, err := openDir(ws.root, skillsDir, false)
	if err != nil {
		return "", false, err
	}
	defer skills.Close()
	temp, err := ws.copySkill(ctx, skills, name, files)
	if err == nil {
		err = ws.swap(skills, temp, s, digest)
	}
	if err != nil {
		return "", false, errors.Join(err, removeAll(skills, temp))
	}
	return dir, true, nil
}

// slot returns the place of a skill.
func (ws *Workspace) slot(name string) (*slot, error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	dir := skillDirName(name)
	s, ok := ws.skills[dir]
	if !ok {
		s = &slot{turn: make(chan struct{}, 1), name: name, dir: dir}
		ws.remember(s)
		ws.skills[dir] = s
	}
	if s.name != name {
		return nil, fmt.Errorf("%w: its directory is that of skill %q", ErrName, s.name)
	}
	return s, nil
}

// remember fills a new slot with what an earlier process has staged.
func (ws *Workspace) remember(s *slot) {
	ws.memory.look(func(st state) {
		mark := st.Skills[s.dir]
		if mark.Name != s.name {
			return
		}
		if info, err := ws.root.Lstat(skillsDir + "/" + s.dir); err == nil && info.IsDir() {
			s.digest, s.info = mark.Digest, info
		}
	})
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

// isStaged reports whether the digest is staged and still in its place.
func (ws *Workspace) isStaged(s *slot, digest string) bool {
	if s.digest != digest {
		return false
	}
	info, err := ws.root.Lstat(skillsDir + "/" + s.dir)
	return err == nil && info.IsDir() && os.SameFile(info, s.info)
}

// swap puts a complete copy in the place of a skill. Until it is there, nothing
// says that the skill is staged.
func (ws *Workspace) swap(skills *os.Root, temp string, s *slot, digest string) error {
	info, err := skills.Lstat(temp)
	if err != nil {
		return cause(err)
	}
	s.digest = ""
	if err := ws.memory.change(func(st *state) { delete(st.Skills, s.dir) }); err != nil {
		return err
	}
	old := freshName(trashPrefix)
	switch err := skills.Rename(s.dir, old); {
	case err == nil:
		ws.retire(old)
	case !errors.Is(err, fs.ErrNotExist):
		return cause(err)
	}
	if err := skills.Rename(temp, s.dir); err != nil {
		return errors.Join(cause(err), ignoreMissing(skills.Rename(old, s.dir)))
	}
	err = ws.memory.change(func(st *state) { st.Skills[s.dir] = staged{Name: s.name, Digest: digest} })
	if err != nil {
		return err
	}
	s.digest, s.info = digest, info
	return nil
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
