package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/satchel-go/satchel/core"
)

// Files gives access to the files of a skill, as catalog.Catalog does.
type Files interface {
	// Files lists the files of a skill as slash-separated paths below its
	// directory, at most limit, and reports whether some were left out.
	Files(ctx context.Context, name string, limit int) ([]string, bool, error)
	// OpenFile opens a listed file, which must be closed after use. Its mode says
	// whether it is a program.
	OpenFile(ctx context.Context, name, file string) (fs.File, error)
	// Fingerprint identifies the listed files, as well as it can without reading them all.
	Fingerprint(ctx context.Context, name string) (string, error)
}

// Verbatim marks [Files] of a skill that is staged exactly as it is. Its own files out,
// work, inputs and .venv are where they were. The links and the writable .venv that other
// skills get are not made.
type Verbatim interface {
	Files
	// Verbatim marks the type; no code calls it.
	Verbatim()
}

// slot is the place of one skill. The goroutine that holds its turn may stage it.
type slot struct {
	turn chan struct{} // holds one place
	name string
	dir  string // below skills/

	// Under turn.
	id          string // of the skill that is staged, "" if that is not known
	fingerprint string // of what is staged, "" if nothing is
	verbatim    bool
	aside       []string // see Staging
	loads       []string // loads for which what is staged is known to be right, the latest last
	seal        seal
}

// know records that what is staged is right for a load.
func (s *slot) know(load string) {
	if len(s.loads) == maxLoads {
		s.loads = slices.Delete(s.loads, 0, 1)
	}
	s.loads = append(s.loads, load)
}

// Staging says what [Local.Stage] did.
type Staging struct {
	// Looked: the skill's files were looked at, because they had not been for
	// this load.
	Looked bool
	// Copied: the files were copied. Otherwise what was staged already is used.
	Copied bool
	// Changed is why the same files were copied again: the first path of the
	// skill that was not as it had been staged, "." for its directory. A
	// directory counts as changed when something was added to it or removed.
	Changed string
	// Newer: other files than before were staged for the same load, because the
	// old ones had been changed in the workspace and are gone.
	Newer bool
	// Aside are the entries out, work and inputs that the skill itself has, sorted. They
	// have other names there.
	Aside []string
	// Warnings say what was left out of a copy and what has another name there.
	Warnings []string
}

// Stage puts a skill into the workspace and returns its directory relative to it,
// "skills/<dir>", and what was done. Load is any text that stands for one load of the skill.
// If the skill was staged for that load already, its files are not listed or read again, even
// if they have changed. For another load the fingerprint of the files is computed, and they
// are copied if it differs from the staged one. So the files are those of the first command
// after a load.
//
// A staged copy is used again only while all its files look to lstat as they did then (see
// [Staging]). Otherwise it is staged again, and the log says so. This state is kept in memory
// only, because with an executor that does not isolate, a command could change any file that
// held it. So a workspace that a process has taken over gets its skills again. On unix a
// command can hide a change only by setting the clock. Elsewhere, and where the file system
// keeps no times finer than a second, only sizes and modification times are compared.
//
// Files are read-only: mode 0444, or 0555 for files that their owner may execute, that begin
// with "#!", or that are ELF programs. Directories have mode 0555. The skill's directory also
// contains the links out, work and inputs to those of the workspace, and a writable .venv, see
// [VenvDir] (but see [Verbatim]). A skill's own files of these names become out.skill and so
// on, with a warning. When the new copy is complete, it replaces the previous one in one step
// and takes over its .venv, unless another skill had the name. A command that runs in the old
// copy keeps the rest of it until the workspace is no longer in use.
//
// Errors are those of files, [ErrName] for a skill without name or an empty load, [ErrPath]
// for a listed path that leaves the skill, [ErrTooLarge] and [ErrFull]. After an error nothing
// of the new copy is visible. A small skill, see [WithMaxBytes], can be staged into a full
// workspace too, because the commands that make room run in a skill.
func (ws *Local) Stage(ctx context.Context, skill core.Skill, load string, files Files) (dir string, done Staging, err error) {
	dir, done, err = ws.stage(ctx, skill.Name, skill.ID, load, files)
	if err == nil {
		err = ws.makeHome(dir)
	}
	if err != nil {
		return "", Staging{}, fmt.Errorf("stage skill %q: %w", skill.Name, err)
	}
	return dir, done, nil
}

func (ws *Local) stage(ctx context.Context, name, id, load string, files Files) (string, Staging, error) {
	var done Staging
	if name == "" || load == "" {
		return "", done, fmt.Errorf("%w: name or load is empty", ErrName)
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
	other := !ws.isOwner(s, id) // another skill had the name
	changed, known := "", slices.Contains(s.loads, load) && !other
	if s.fingerprint != "" {
		changed = ws.firstChange(s)
	}
	if known && changed == "" {
		done.Aside = s.aside
		return dir, done, nil
	}
	done.Looked = true
	fingerprint, err := files.Fingerprint(ctx, name)
	if err != nil {
		return "", done, err
	}
	switch {
	case fingerprint != s.fingerprint, other:
		done.Newer = known
	case changed == "":
		s.know(load)
		done.Aside = s.aside
		return dir, done, nil
	default:
		done.Changed = changed
	}
	if changed != "" {
		ws.owner.cfg.logger.Warn("workspaces: a staged skill was changed and is staged again", "skill", name, "path", changed)
	}
	if other { // if the process ends now, the .venv belongs to no skill
		if err := ws.memory.setOwner(s.dir, noOwner); err != nil {
			return "", done, err
		}
	}
	if done.Warnings, err = ws.restage(ctx, s, files, !other); err != nil {
		return "", done, err
	}
	s.id, s.fingerprint, s.loads, done.Copied, done.Aside = id, fingerprint, []string{load}, true, s.aside
	return dir, done, ws.memory.setOwner(s.dir, id)
}

// isOwner reports whether what is in the place of a skill, its .venv above all, is that
// of the skill with this id. What is not known counts as its own.
func (ws *Local) isOwner(s *slot, id string) bool {
	if s.id != "" {
		return s.id == id
	}
	owner := ""
	ws.memory.look(func(m state) { owner = m.Owners[s.dir] })
	return owner == "" || owner == id
}

// makeHome makes the HOME of a skill, also if a command has removed it.
func (ws *Local) makeHome(skillDir string) error {
	ws.repairing.Lock()
	defer ws.repairing.Unlock()
	for _, dir := range []string{runsDir, homeDir, homeOf(skillDir)} {
		if err := repairDir(ws.root, dir); err != nil {
			return err
		}
	}
	return nil
}

// restage copies a skill to its place, and keeps the .venv of what was there if that
// was the same skill.
func (ws *Local) restage(ctx context.Context, s *slot, files Files, same bool) (warnings []string, err error) {
	if err := ws.refusal(); err != nil {
		return nil, err
	}
	if err := ws.repair(); err != nil {
		return nil, err
	}
	skills, err := openDir(ws.root, skillsDir, false)
	if err != nil {
		return nil, err
	}
	defer skills.Close()
	copied, err := ws.copySkill(ctx, skills, s.name, files)
	defer copied.close()
	if err == nil {
		err = ws.swap(ctx, skills, copied, s, same)
	}
	if err != nil {
		return nil, errors.Join(err, removeAll(skills, copied.temp))
	}
	s.verbatim, s.aside = copied.verbatim, nil
	for _, name := range slices.Sorted(maps.Keys(copied.aside)) {
		if name != venvName {
			s.aside = append(s.aside, name)
		}
	}
	return copied.warnings, nil
}

// VenvDir returns the writable directory of the skill in skillDir, which is what
// [Local.Stage] returned.
func VenvDir(skillDir string) string { return skillDir + "/" + venvName }

// slot returns the place of a skill.
func (ws *Local) slot(name string) (*slot, error) {
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

// firstChange returns the first path of a staged skill that is not as it was staged,
// "" if there is none.
func (ws *Local) firstChange(s *slot) string {
	dir, err := openDir(ws.root, skillsDir+"/"+s.dir, false)
	if err != nil {
		return "."
	}
	defer dir.Close()
	if info, err := dir.Lstat(venvName); !s.verbatim && (err != nil || !info.IsDir()) {
		return venvName // commands may change its content, but not the directory itself
	}
	return s.seal.firstChange(dir)
}

// Unstage removes the files of a skill from the workspace, its HOME and .venv
// included, for a session that may not see it any more. A skill that is not staged is
// no error. A command that is running in it keeps what it has open.
func (ws *Local) Unstage(ctx context.Context, name string) error {
	s, err := ws.slot(name)
	if errors.Is(err, ErrName) {
		return nil // its directory is that of another skill
	}
	if err != nil {
		return err
	}
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.give()
	s.fingerprint, s.loads, s.seal = "", nil, nil
	var errs []error
	for _, in := range []string{skillsDir, homeDir} {
		dir, err := openDir(ws.root, in, false)
		if err != nil {
			continue // there is none, or a command has put something else in its place
		}
		errs = append(errs, removeAll(dir, s.dir), dir.Close())
	}
	return errors.Join(errs...)
}
