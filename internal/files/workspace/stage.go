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

// Verbatim marks [Files] of a skill that is staged without changes. Its own files out, work,
// inputs and .venv keep their names. The copy gets neither the links nor the writable .venv
// of other skills.
type Verbatim interface {
	Files
	// Verbatim marks the type; no code calls it.
	Verbatim()
}

// slot is the directory of one skill. A goroutine locks it to stage the skill.
type slot struct {
	turn chan struct{} // of capacity 1; full while the slot is locked
	name string
	dir  string // below skills/

	// Under turn.
	id          string // of the staged skill, "" if unknown
	fingerprint string // of the staged files, "" if there are none
	verbatim    bool
	renamed     []string // see Staging
	loads       []string // loads whose files are the staged ones, the latest last
	seal        seal
}

// addLoad records that the staged files are those of a load.
func (s *slot) addLoad(load string) {
	if len(s.loads) == maxLoads {
		s.loads = slices.Delete(s.loads, 0, 1)
	}
	s.loads = append(s.loads, load)
}

// Staging says what [Local.Stage] did.
type Staging struct {
	// HasChecked reports that the fingerprint of the skill's files was computed, because
	// this load was not staged yet or the staged files had changed.
	HasChecked bool
	// Copied reports that the files were copied. Otherwise the staged ones are used again.
	Copied bool
	// ChangedPath is set if the same files were copied again: it is the first path in the
	// skill's directory that had changed, or "." for the directory. A directory counts as
	// changed when an entry was added or removed.
	ChangedPath string
	// IsNewer reports that files other than the earlier ones were staged for the same load.
	// The earlier ones had been changed in the workspace and cannot be restored.
	IsNewer bool
	// Renamed holds the skill's own entries out, work and inputs, sorted. They have other
	// names in the copy.
	Renamed []string
	// Warnings say which files were left out of the copy and which have another name there.
	Warnings []string
}

// Stage copies a skill into the workspace and returns its directory there, "skills/<dir>".
// load is any text that identifies one load of the skill. If the skill was staged for that load
// already, its files are not listed or read again, even if they have changed. For another load
// Stage computes the fingerprint of the files and copies them if it differs from the staged
// one. So all commands of a load use the files of its first command.
//
// A staged copy is used again only while lstat reports the same for all its files. Otherwise
// Stage copies the files again and logs a warning. The results of lstat are kept in memory
// only, because without isolation a command could change any file that held them. So a process
// that takes over a workspace stages its skills again. On unix a command can hide a change only
// by setting the clock. Elsewhere, and on file systems whose times are whole seconds, only
// sizes and modification times are compared.
//
// Files are read-only: mode 0444, or 0555 for files that their owner may execute, that begin
// with "#!", or that are ELF programs. Directories have mode 0555. The skill's directory also
// contains the links out, work and inputs to those of the workspace, and a writable .venv, see
// [VenvDir] (but see [Verbatim]). A skill's own files of these names become out.skill and so
// on, with a warning. A complete new copy replaces the previous one in one step and takes over
// its .venv, unless that belonged to another skill of the same name. The other files of the
// previous copy stay until no command uses the workspace.
//
// Errors are those of files, [ErrName] for a skill without name or an empty load, [ErrPath]
// for a listed path that leaves the skill, [ErrTooLarge] and [ErrFull]. After an error no part
// of the new copy is visible. A small skill, see [WithMaxBytes], can be staged into a full
// workspace too: the commands that remove files run in a skill.
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
	if name == "" || load == "" {
		return "", Staging{}, fmt.Errorf("%w: name or load is empty", ErrName)
	}
	s, err := ws.slot(name)
	if err != nil {
		return "", Staging{}, err
	}
	if err := s.lock(ctx); err != nil {
		return "", Staging{}, err
	}
	defer s.unlock()
	dir := skillsDir + "/" + s.dir
	isOwner := ws.isOwner(s, id)
	hasLoad := isOwner && slices.Contains(s.loads, load)
	changed := ""
	if s.fingerprint != "" {
		changed = ws.firstChange(s)
	}
	if hasLoad && changed == "" {
		return dir, Staging{Renamed: s.renamed}, nil
	}
	done := Staging{HasChecked: true}
	fingerprint, err := files.Fingerprint(ctx, name)
	if err != nil {
		return "", done, err
	}
	isSame := isOwner && fingerprint == s.fingerprint
	if isSame && changed == "" {
		s.addLoad(load)
		done.Renamed = s.renamed
		return dir, done, nil
	}
	if isSame {
		done.ChangedPath = changed
	} else {
		done.IsNewer = hasLoad
	}
	if changed != "" {
		ws.owner.cfg.logger.Warn("workspaces: a staged skill was changed and is staged again", "skill", name, "path", changed)
	}
	if !isOwner { // if the process ends now, the .venv belongs to no skill
		if err := ws.state.setOwner(s.dir, noOwner); err != nil {
			return "", done, err
		}
	}
	if done.Warnings, err = ws.restage(ctx, s, files, isOwner); err != nil {
		return "", done, err
	}
	s.id, s.fingerprint, s.loads = id, fingerprint, []string{load}
	done.Copied, done.Renamed = true, s.renamed
	return dir, done, ws.state.setOwner(s.dir, id)
}

// isOwner reports whether the skill's directory, with its .venv, belongs to the skill with
// this id. A directory of unknown origin does.
func (ws *Local) isOwner(s *slot, id string) bool {
	if s.id != "" {
		return s.id == id
	}
	owner := ""
	ws.state.read(func(m state) { owner = m.Owners[s.dir] })
	return owner == "" || owner == id
}

// makeHome makes the HOME of a skill if it does not exist.
func (ws *Local) makeHome(skillDir string) error {
	ws.repairMu.Lock()
	defer ws.repairMu.Unlock()
	for _, dir := range []string{runsDir, homeDir, homeOf(skillDir)} {
		if err := repairDir(ws.root, dir); err != nil {
			return err
		}
	}
	return nil
}

// restage copies a skill into its directory. If keepVenv is set, the copy takes over the
// previous .venv.
func (ws *Local) restage(ctx context.Context, s *slot, files Files, keepVenv bool) (warnings []string, err error) {
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
		err = ws.swap(ctx, skills, copied, s, keepVenv)
	}
	if err != nil {
		return nil, errors.Join(err, removeAll(skills, copied.temp))
	}
	s.verbatim, s.renamed = copied.verbatim, nil
	for _, name := range slices.Sorted(maps.Keys(copied.newNames)) {
		if name != venvName {
			s.renamed = append(s.renamed, name)
		}
	}
	return copied.warnings, nil
}

// VenvDir returns the writable .venv of a skill. skillDir is the result of [Local.Stage].
func VenvDir(skillDir string) string { return skillDir + "/" + venvName }

// slot returns the slot of a skill. It fails if another skill has the same directory.
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

func (s *slot) lock(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slot) unlock() { <-s.turn }

// firstChange returns the first path of a staged skill that has changed since, "" if none
// has.
func (ws *Local) firstChange(s *slot) string {
	dir, err := openDir(ws.root, skillsDir+"/"+s.dir, false)
	if err != nil {
		return "."
	}
	defer dir.Close()
	if info, err := dir.Lstat(venvName); !s.verbatim && (err != nil || !info.IsDir()) {
		return venvName // commands may change its contents, but not replace the directory
	}
	return s.seal.firstChange(dir)
}

// Unstage removes the files of a skill from the workspace, its HOME and .venv
// included, for a session that may not see it any more. A skill that is not staged is
// no error. A command that is running in it keeps what it has open.
func (ws *Local) Unstage(ctx context.Context, name string) error {
	s, err := ws.slot(name)
	if errors.Is(err, ErrName) {
		return nil // the directory belongs to another skill
	}
	if err != nil {
		return err
	}
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	s.fingerprint, s.loads, s.seal = "", nil, nil
	var errs []error
	for _, in := range []string{skillsDir, homeDir} {
		dir, err := openDir(ws.root, in, false)
		if err != nil {
			continue // a command has removed or replaced it
		}
		errs = append(errs, removeAll(dir, s.dir), dir.Close())
	}
	return errors.Join(errs...)
}
