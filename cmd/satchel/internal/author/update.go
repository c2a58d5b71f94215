package author

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
)

// UpdateCommand replaces installed skills by newer ones.
type UpdateCommand struct {
	sourceFlags `embed:""`
	Dir         string   `default:".agents/skills" placeholder:"DIR" help:"Where the skills are installed (default ${default})."`
	JSON        bool     `help:"One JSON object per line for each skill: name, status (same, replaced or would-replace), sha256 and, where a tag has moved, old_commit and new_commit."`
	DryRun      bool     `help:"Say what would be replaced, and replace nothing."`
	Names       []string `arg:"" optional:"" name:"name" help:"The skills to update. None: all that were installed."`
}

// Help is the long help of the command.
func (UpdateCommand) Help() string {
	return `Asks the sources that satchel.lock names for the skills, and replaces those that have
changed there. Of a git repository a tag is followed, and both commits are shown; what was
installed at a commit stays. Skills that the repository has now and that are not installed are
named. A skill whose files here are not what satchel.lock has is left alone and named, and the
exit code is 1.`
}

// Run replaces the skills that have changed at their sources.
func (cmd *UpdateCommand) Run(ctx context.Context, c cli.Console) error {
	_, err := places.ReadLock(cmd.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("update: %s has no %s: satchel install writes it, or --dir names another directory", cmd.Dir, places.LockFile)
	}
	if err != nil {
		return fmt.Errorf("update: %w", err)
	}
	target, err := openTarget(cmd.Dir)
	if err != nil {
		return fmt.Errorf("update: %w", err)
	}
	defer target.close()
	here, err := catalog.Open(ctx, []source.Root{source.Dir(cmd.Dir)}, places.WithoutLog)
	if err != nil {
		return fmt.Errorf("update: %w", err)
	}
	defer here.Close()
	failed, working := false, cli.Progress{Console: c}
	var moved []string // sources whose tags have moved
	sources := openedSources{}
	defer sources.close()
	for _, name := range cmd.Names {
		if _, ok := target.lock.Find(name); !ok {
			fmt.Fprintf(c.Err, "satchel: %q is not in %s\n", cli.Printable(name), places.LockFile)
			failed = true
		}
	}
	for _, locked := range slices.Clone(target.lock.Skills) {
		if len(cmd.Names) > 0 && !slices.Contains(cmd.Names, locked.Name) || locked.Source == "" {
			continue
		}
		working.At("asking for %s", locked.Name)
		line, err := cmd.one(ctx, c, sources, target, here, locked)
		working.Done()
		if err != nil {
			fmt.Fprintf(c.Err, "satchel: %s: %s\n", cli.Printable(locked.Name), cli.OneLine(err.Error()))
			failed = true
			continue
		}
		if line.NewCommit != "" && !slices.Contains(moved, locked.Source) {
			moved = append(moved, locked.Source)
		}
		if cmd.JSON {
			if err := cli.WriteJSON(c.Out, line); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(c.Out, "%s: %s\n", cli.Printable(locked.Name), line)
	}
	if len(cmd.Names) == 0 {
		for _, place := range moved {
			tellNew(c, target, place, sources[place].skills)
		}
	}
	if !cmd.DryRun {
		if err := target.save(); err != nil {
			return fmt.Errorf("update: %w", err)
		}
	}
	if failed {
		return cli.ErrReported
	}
	return nil
}

// tellNew names the skills of a source that are not installed.
func tellNew(c cli.Console, target *target, place string, now *catalog.Catalog) {
	var names []string
	for _, skill := range now.Snapshot().Skills() {
		if _, ok := target.lock.Find(plainName(skill)); !ok {
			names = append(names, cli.Printable(plainName(skill)))
		}
	}
	if len(names) == 0 {
		return
	}
	text := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	fmt.Fprintf(c.Err, "satchel: not installed: %s; satchel install %s --dir %s installs what is not there\n", text, cli.Printable(place), cli.Printable(target.dir))
}

// updatedLine is the line of --json for a skill; the names of its fields in JSON are stable.
type updatedLine struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	SHA256 string `json:"sha256"`
	// OldCommit and NewCommit are set if a tag has another commit than before.
	OldCommit string `json:"old_commit,omitempty"`
	NewCommit string `json:"new_commit,omitempty"`
}

// String returns the line for people.
func (u updatedLine) String() string {
	line := "replaced by sha256:" + u.SHA256
	switch u.Status {
	case updateSame:
		line = "is what its source has"
	case updateWould:
		line = "would be replaced by sha256:" + u.SHA256
	}
	if u.NewCommit != "" {
		line += fmt.Sprintf(" (its tag was commit %s and is %s)", u.OldCommit, u.NewCommit)
	}
	return line
}

// openedSources are the sources that were opened, by their names. Each is read and scanned once.
type openedSources map[string]*openedSource

// open opens a source, or returns the error with which that has failed before.
func (s openedSources) open(ctx context.Context, c cli.Console, flags *sourceFlags, place string) (*openedSource, error) {
	if got, ok := s[place]; ok {
		if got.skills == nil {
			return nil, got.failed
		}
		return got, nil
	}
	got, err := flags.open(ctx, c, place, "")
	if err != nil {
		s[place] = &openedSource{failed: err}
		return nil, err
	}
	s[place] = got
	return got, nil
}

func (s openedSources) close() {
	for _, got := range s {
		if got.skills != nil {
			got.close()
		}
	}
}

// The values of status.
const (
	updateSame     = "same"
	updateWould    = "would-replace"
	updateReplaced = "replaced"
)

// one updates a skill and returns what it did.
func (cmd *UpdateCommand) one(ctx context.Context, c cli.Console, sources openedSources, target *target, here *catalog.Catalog, locked places.LockedSkill) (line updatedLine, err error) {
	installed, ok := here.Snapshot().Skill(locked.Name)
	if !ok {
		return line, errors.New("it is not here any more; install it again")
	}
	now, err := places.LockOf(ctx, here, installed.Name, locked.Source)
	if err != nil {
		return line, err
	}
	if now.Name = locked.Name; now.SHA256 != locked.SHA256 {
		return line, fmt.Errorf("it was changed here and is left alone: %s", target.lock.Differences(now)[0])
	}
	if a, err := places.ParseAddress(locked.Source); err == nil && a.Kind == places.RepositoryAddress && a.Ref != "" && a.Ref == locked.Commit {
		return updatedLine{Name: locked.Name, Status: updateSame, SHA256: locked.SHA256}, nil // a commit stays what it is
	}
	got, err := sources.open(ctx, c, &cmd.sourceFlags, locked.Source)
	if err != nil {
		return line, err
	}
	i := slices.IndexFunc(got.skills.Snapshot().Skills(), func(s core.Skill) bool { return plainName(s) == locked.Name })
	if i < 0 && got.failed != nil {
		return line, got.failed
	}
	if i < 0 {
		return line, fmt.Errorf("%s has it no more", locked.Source)
	}
	next := got.skills.Snapshot().Skills()[i]
	offered, err := places.LockOf(ctx, got.skills, next.Name, locked.Source)
	if err != nil {
		return line, err
	}
	line = updatedLine{Name: locked.Name, Status: updateReplaced, SHA256: offered.SHA256}
	if got.commit != locked.Commit {
		line.OldCommit, line.NewCommit = locked.Commit, got.commit
	}
	switch {
	case offered.SHA256 == locked.SHA256:
		line.Status, locked.Commit = updateSame, got.commit
		if !cmd.DryRun {
			target.lock.Put(locked)
		}
		return line, nil
	case cmd.DryRun:
		line.Status = updateWould
		return line, nil
	}
	_, err = target.put(ctx, got.skills, next, filepath.Base(installed.RootDir), origin{locked.Source, got.commit}, true)
	return line, err
}

// LockCommand writes the lock file of a directory.
type LockCommand struct {
	JSON bool   `help:"One JSON object: file and skills (how many)."`
	Dir  string `arg:"" name:"dir" help:"A directory of skills."`
}

// Help is the long help of the command.
func (LockCommand) Help() string {
	return `Writes satchel.lock into the directory: for each skill its name, where it was installed from,
and the sha256 and size of each file. --locked of other commands compares it.`
}

// lockedLine is a lock file; the names of its fields in JSON are stable.
type lockedLine struct {
	File   string `json:"file"`
	Skills int    `json:"skills"`
}

// Run writes the lock file of a directory.
func (cmd *LockCommand) Run(ctx context.Context, c cli.Console) error {
	before, err := places.ReadLock(cmd.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("lock: %w", err)
	}
	skills, err := catalog.Open(ctx, []source.Root{source.Dir(cmd.Dir)}, places.WithoutLog)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	defer skills.Close()
	var l places.Lock
	for _, s := range skills.Snapshot().Skills() {
		var known places.LockedSkill
		if before != nil {
			known, _ = before.Find(s.Name)
		}
		entry, err := places.LockOf(ctx, skills, s.Name, known.Source)
		if err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		entry.Commit = known.Commit
		l.Put(entry)
	}
	if err := l.Write(cmd.Dir); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if cmd.JSON {
		return cli.WriteJSON(c.Out, lockedLine{filepath.Join(cmd.Dir, places.LockFile), len(l.Skills)})
	}
	_, err = fmt.Fprintf(c.Out, "%d skills in %s\n", len(l.Skills), cli.Printable(filepath.Join(cmd.Dir, places.LockFile)))
	return err
}
