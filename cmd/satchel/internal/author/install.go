package author

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

// InstallCommand copies skills into a directory.
type InstallCommand struct {
	sourceFlags `embed:""`
	JSON        bool    `help:"One JSON object per line for each skill: name, dir, sha256 and, for an archive, archive_sha256 or, for a repository, commit."`
	SHA256      *string `name:"sha256" placeholder:"HEX" help:"The archive must have this SHA-256."`
	Dir         string  `default:".agents/skills" placeholder:"DIR" help:"Where skills are installed (default ${default})."`
	As          string  `placeholder:"NAME" help:"The name of the folder, where the source has one skill."`
	Source      string  `arg:"" name:"source" help:"A directory, an archive (a file or an address), a SKILL.md (likewise), or a git repository: of this machine (git+file://…, or a path that ends in .git), or at a commit or a tag (https://example.com/repo@v1.0#folder); or a host with an index of skills (https://example.com)."`
}

// Help is the long help of the command.
func (InstallCommand) Help() string {
	return `Copies all skills of the source into the directory, each into a folder with its name, and
notes them with all their files in satchel.lock there. Prints a line for each and its
sha256, which is over its files; for an archive also that of the archive, which --sha256
takes. What is there already is not replaced: satchel update does that.

Archives are refused as a whole if they hold anything that could leave their folder. Of a
repository no hook, filter or submodule is used, and a branch is refused: name a tag or
a commit. --scan runs a scanner of your choice over the skills first, for at most five
minutes: satchel install --scan 'scanner --strict {dir}' SOURCE.`
}

// installedLine is a skill that was installed; the names of its fields in JSON are stable.
type installedLine struct {
	Name    string `json:"name"`
	Dir     string `json:"dir"`
	SHA256  string `json:"sha256"`
	Archive string `json:"archive_sha256,omitempty"`
	Commit  string `json:"commit,omitempty"`
}

// Run installs the skills of a source.
func (cmd *InstallCommand) Run(ctx context.Context, c cli.Console) error {
	pin := ""
	if cmd.SHA256 != nil {
		if pin = strings.TrimPrefix(*cmd.SHA256, "sha256:"); pin == "" {
			return fmt.Errorf("%w: --sha256 is empty: want the 64 hex digits of the archive", cli.ErrUsage)
		}
	}
	working := cli.Progress{Console: c}
	defer working.Done()
	working.At("reading %s", cmd.Source)
	got, err := cmd.sourceFlags.open(ctx, c, cmd.Source, pin)
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	defer got.close()
	skills := got.skills.Snapshot().Skills()
	switch {
	case len(skills) == 0:
		places.WriteFindings(c.Err, got.skills.Snapshot().Diagnostics())
		return fmt.Errorf("install: no skill found in %s", cmd.Source)
	case cmd.As != "" && len(skills) > 1:
		return fmt.Errorf("%w: --as is for a source with one skill, and this has %d", cli.ErrUsage, len(skills))
	}
	target, err := openTarget(cmd.Dir)
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	defer target.close()
	tellUnlisted(c, got)
	err = cmd.install(ctx, c, target, got, &working)
	if got.sha256 != "" && err == nil && !cmd.JSON {
		fmt.Fprintf(c.Out, "archive sha256:%s\n", got.sha256)
	}
	if got.commit != "" && err == nil && !cmd.JSON {
		fmt.Fprintf(c.Out, "commit %s\n", got.commit)
	}
	return errors.Join(err, target.save())
}

// tellUnlisted prints the entries of an index that are not valid.
func tellUnlisted(c cli.Console, got *openedSource) {
	places.WriteFindings(c.Err, slices.DeleteFunc(slices.Clone(got.skills.Snapshot().Diagnostics()), func(d skillmd.Diagnostic) bool { return d.Code != "not-used" }))
}

// install installs all skills of a source. A skill that cannot be installed stops no other one.
func (cmd *InstallCommand) install(ctx context.Context, c cli.Console, target *target, got *openedSource, working *cli.Progress) (failed error) {
	skills := got.skills.Snapshot().Skills()
	failed = got.failed
	for i, s := range skills {
		working.At("installing %d of %d: %s", i+1, len(skills), plainName(s))
		folder := cmp.Or(cmd.As, plainName(s))
		entry, err := target.put(ctx, got.skills, s, folder, got.origin, false)
		working.Done()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("install %q: %w", s.Name, err))
			continue
		}
		if cmd.JSON {
			if err := cli.WriteJSON(c.Out, installedLine{plainName(s), filepath.Join(cmd.Dir, folder), entry.SHA256, got.sha256, got.commit}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(c.Out, "installed %s to %s\nsha256:%s\n", cli.Printable(plainName(s)), cli.Printable(filepath.Join(cmd.Dir, folder)), entry.SHA256)
	}
	return failed
}

// target is a directory that skills are installed in.
type target struct {
	root *os.Root
	dir  string
	lock *places.Lock
}

func openTarget(dir string) (*target, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a directory of skills is no secret
		return nil, err
	}
	l, err := places.ReadLock(dir)
	if errors.Is(err, fs.ErrNotExist) {
		l, err = &places.Lock{}, nil
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	return &target{root, dir, l}, err
}

func (t *target) close()      { t.root.Close() }
func (t *target) save() error { return t.lock.Write(t.dir) }

// checkFolder returns an error if a skill cannot be in a folder of that name.
func checkFolder(folder string) error {
	if !filepath.IsLocal(folder) || folder == "." || strings.ContainsAny(folder, `/\:`) || strings.HasPrefix(folder, ".") || cli.Printable(folder) != folder {
		return fmt.Errorf("%q cannot be the name of a folder; choose one with --as", folder)
	}
	return nil
}

// put copies a skill into a folder and adds it to the lock file. If it fails, the folder is as before.
func (t *target) put(ctx context.Context, skills *catalog.Catalog, s core.Skill, folder string, from origin, replace bool) (entry places.LockedSkill, err error) {
	if err := checkFolder(folder); err != nil {
		return entry, err
	}
	if _, err := t.root.Lstat(folder); err == nil && !replace {
		return entry, fmt.Errorf("%s is there already; satchel update replaces it", filepath.Join(t.dir, folder))
	}
	if entry, err = places.LockOf(ctx, skills, s.Name, from.source); err != nil {
		return entry, err
	}
	entry.Name, entry.Commit = plainName(s), from.commit
	temp := ".install-" + rand.Text()
	defer func() { err = errors.Join(err, t.root.RemoveAll(temp)) }()
	for _, f := range entry.Files {
		if err := t.copy(ctx, skills, s.Name, f.Path, temp+"/"+f.Path); err != nil {
			return entry, err
		}
	}
	old := ".old-" + rand.Text()
	err = t.root.Rename(folder, old)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return entry, err
	}
	replaced := err == nil
	if err := t.root.Rename(temp, folder); err != nil {
		if replaced {
			err = errors.Join(err, t.root.Rename(old, folder))
		}
		return entry, err
	}
	t.lock.Put(entry)
	return entry, t.root.RemoveAll(old)
}

func (t *target) copy(ctx context.Context, from *catalog.Catalog, skill, path, to string) error {
	in, err := from.OpenFile(ctx, skill, path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	if err := t.root.MkdirAll(filepath.Dir(filepath.FromSlash(to)), 0o755); err != nil {
		return err
	}
	out, err := t.root.OpenFile(filepath.FromSlash(to), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
