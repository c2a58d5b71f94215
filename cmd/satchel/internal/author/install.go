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
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/archive"
)

// openedSource is an open source of skills.
type openedSource struct {
	skills *catalog.Catalog
	sha256 string // of the archive, "" for none
	clean  func()
}

func (f *openedSource) close() {
	f.skills.Close()
	f.clean()
}

// isRepository reports whether a source is a git repository.
func isRepository(place string) bool {
	return strings.HasPrefix(place, "git+file://") || !places.IsAddress(place) && strings.HasSuffix(strings.TrimRight(place, "/"), ".git")
}

// openSource opens the skills of a directory, an archive or a repository. pin is the digest of the
// archive, or "".
func openSource(ctx context.Context, f *places.FetchFlags, place, pin string, env func(string) string) (_ *openedSource, err error) {
	temp, err := os.MkdirTemp("", "satchel-install-")
	if err != nil {
		return nil, err
	}
	out := &openedSource{clean: func() { _ = os.RemoveAll(temp) }}
	defer func() {
		if err != nil {
			out.clean()
		}
	}()
	dir := place
	switch {
	case isRepository(place):
		if dir, err = checkOut(ctx, place, temp); err != nil {
			return nil, err
		}
	case places.IsAddress(place), places.IsArchiveFile(place):
		cache := archive.NewCache(filepath.Join(temp, "archives"))
		var got archive.Unpacked
		if places.IsAddress(place) {
			got, err = cache.Get(ctx, place, archive.Options{SHA256: pin, Allow: f.Options(pin, env).Allow})
		} else {
			got, err = cache.Local(ctx, place, archive.Options{SHA256: pin})
		}
		if err != nil {
			return nil, err
		}
		dir, out.sha256 = got.Dir, got.SHA256
	}
	if pin != "" && out.sha256 == "" {
		return nil, fmt.Errorf("%w: --sha256 is for archives", cli.ErrUsage)
	}
	root := source.Dir(dir)
	if out.sha256 != "" || dir != place { // others wrote it, so no link may lead out of it
		root = source.FS(filepath.Base(place), rootFS(dir))
	}
	if out.skills, err = catalog.Open(ctx, []source.Root{root}, places.WithoutLog); err != nil {
		return nil, err
	}
	return out, nil
}

// rootFS returns a directory as a file system that follows no link out of it.
func rootFS(dir string) fs.FS {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return os.DirFS(dir)
	}
	return root.FS()
}

// InstallCommand copies skills into a directory.
type InstallCommand struct {
	places.FetchFlags `embed:""`
	JSON              bool   `help:"One JSON object per line for each skill: name, dir, sha256 and, for an archive, archive_sha256."`
	SHA256            string `name:"sha256" placeholder:"HEX" help:"The archive must have this SHA-256."`
	Dir               string `default:".agents/skills" placeholder:"DIR" help:"Where skills are installed (default ${default})."`
	As                string `placeholder:"NAME" help:"The name of the folder, where the source has one skill."`
	Source            string `arg:"" name:"source" help:"A directory, an archive (a file or an address), a SKILL.md (likewise), or a git repository of this machine (git+file://…, or a path that ends in .git)."`
}

// Help is the long help of the command.
func (InstallCommand) Help() string {
	return `Copies all skills of the source into the directory, each into a folder with its name, and
notes them with all their files in satchel.lock there. Prints a line for each and its
sha256, which is over its files; for an archive also that of the archive, which --sha256
takes. What is there already is not replaced: satchel update does that.

Archives are refused as a whole if they hold anything that could leave their folder.`
}

// installedLine is a skill that was installed; the names of its fields in JSON are stable.
type installedLine struct {
	Name    string `json:"name"`
	Dir     string `json:"dir"`
	SHA256  string `json:"sha256"`
	Archive string `json:"archive_sha256,omitempty"`
}

// Run installs the skills of a source.
func (cmd *InstallCommand) Run(ctx context.Context, c cli.Console) error {
	pin := strings.TrimPrefix(cmd.SHA256, "sha256:")
	working := cli.Progress{Console: c}
	defer working.Done()
	working.At("reading %s", cmd.Source)
	got, err := openSource(ctx, &cmd.FetchFlags, cmd.Source, pin, c.Env)
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
	source := absoluteSource(cmd.Source)
	for i, s := range skills {
		working.At("installing %d of %d: %s", i+1, len(skills), plainName(s))
		folder := cmp.Or(cmd.As, plainName(s))
		entry, err := target.put(ctx, got.skills, s, folder, source, false)
		if err != nil {
			return fmt.Errorf("install %q: %w", s.Name, err)
		}
		working.Done()
		if cmd.JSON {
			if err := cli.WriteJSON(c.Out, installedLine{plainName(s), filepath.Join(cmd.Dir, folder), entry.SHA256, got.sha256}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(c.Out, "installed %s to %s\nsha256:%s\n", cli.Printable(plainName(s)), cli.Printable(filepath.Join(cmd.Dir, folder)), entry.SHA256)
	}
	if got.sha256 != "" && !cmd.JSON {
		fmt.Fprintf(c.Out, "archive sha256:%s\n", got.sha256)
	}
	return target.save()
}

// absoluteSource returns a source for the lock file: an address, or an absolute path.
func absoluteSource(place string) string {
	if places.IsAddress(place) {
		return place
	}
	abs, err := filepath.Abs(place)
	if err != nil {
		return place
	}
	return abs
}

// plainName returns the name in the front matter of a skill.
func plainName(s core.Skill) string {
	if s.Name == s.Qualified {
		return s.Name[strings.LastIndex(s.Name, ":")+1:]
	}
	return s.Name
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

// put copies a skill into a folder and adds it to the lock file. If it fails, the folder is as before.
func (t *target) put(ctx context.Context, from *catalog.Catalog, s core.Skill, folder, source string, replace bool) (entry places.LockedSkill, err error) {
	if !filepath.IsLocal(folder) || folder == "." || strings.ContainsAny(folder, `/\:`) || strings.HasPrefix(folder, ".") || cli.Printable(folder) != folder {
		return entry, fmt.Errorf("%q cannot be the name of a folder; choose one with --as", folder)
	}
	if _, err := t.root.Lstat(folder); err == nil && !replace {
		return entry, fmt.Errorf("%s is there already; satchel update replaces it", filepath.Join(t.dir, folder))
	}
	if entry, err = places.LockOf(ctx, from, s.Name, source); err != nil {
		return entry, err
	}
	entry.Name = plainName(s)
	temp := ".install-" + rand.Text()
	defer func() { err = errors.Join(err, t.root.RemoveAll(temp)) }()
	for _, f := range entry.Files {
		if err := t.copy(ctx, from, s.Name, f.Path, temp+"/"+f.Path); err != nil {
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
