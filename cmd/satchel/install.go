package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/archive"
	"github.com/satchel-go/satchel/internal/files/lock"
)

// envCache names the directory where archives are kept.
const envCache = "SKILLS_CACHE_DIR"

// fetchFlags are the flags about archives.
type fetchFlags struct {
	AllowURL []string `name:"allow-url" sep:"none" placeholder:"PREFIX" help:"Archives may come from addresses that begin so, although they are http, loopback or private; may be repeated."`
}

// options are those of an archive.
func (f *fetchFlags) options(pin string, env func(string) string) source.ArchiveOptions {
	prefixes := f.AllowURL
	return source.ArchiveOptions{CacheDir: env(envCache), SHA256: pin, Allow: func(u *url.URL) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return isPrefix(u, p) })
	}}
}

// isPrefix reports whether an address begins with a prefix that ends where a part of the
// address does, so that http://a does not stand for http://a.example.
func isPrefix(u *url.URL, prefix string) bool {
	rest, ok := strings.CutPrefix(u.String(), prefix)
	return ok && u.User == nil && (rest == "" || strings.HasSuffix(prefix, "/") || strings.ContainsAny(rest[:1], "/?#") ||
		strings.Count(prefix, "/") > 2)
}

// isAddress reports whether a place of skills is an address and no path.
func isAddress(place string) bool { return strings.Contains(place, "://") }

// isArchiveFile reports whether a path is that of an archive.
func isArchiveFile(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	name := strings.ToLower(filepath.Base(path))
	return name == "skill.md" || slices.ContainsFunc([]string{".zip", ".tar", ".tgz", ".tar.gz"}, func(end string) bool {
		return strings.HasSuffix(name, end)
	})
}

// fileURL is the address of a file of this machine.
func fileURL(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	slash := filepath.ToSlash(abs)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash
	}
	return (&url.URL{Scheme: "file", Path: slash}).String(), nil
}

// root is a place that somebody has named: a directory, an archive, or its address.
func (f *fetchFlags) root(place, pin string, env func(string) string) (source.Root, error) {
	if address, fragment, ok := strings.Cut(place, "#"); ok && isAddress(place) && !strings.HasPrefix(place, "git") {
		sum, isPin := strings.CutPrefix(fragment, "sha256=")
		if raw, err := hex.DecodeString(sum); !isPin || err != nil || len(raw) != 32 || pin != "" && !strings.EqualFold(pin, sum) {
			return source.Root{}, fmt.Errorf("%s: behind # there may only be sha256= and the 64 hex digits of the archive", place)
		}
		place, pin = address, strings.ToLower(sum)
	}
	switch {
	case isAddress(place):
		return source.Archive(place, f.options(pin, env)), nil
	case isArchiveFile(place):
		address, err := fileURL(place)
		if err != nil {
			return source.Root{}, err
		}
		opts := f.options(pin, env)
		opts.Allow = func(u *url.URL) bool { return u.String() == address }
		return source.Archive(address, opts), nil
	}
	return source.Dir(place), nil
}

// fetched is a source of skills that is open.
type fetched struct {
	skills *catalog.Catalog
	sha256 string // of the archive, "" for none
	clean  func()
}

func (f *fetched) close() {
	f.skills.Close()
	f.clean()
}

// isRepository reports whether a source is a git repository.
func isRepository(place string) bool {
	return strings.HasPrefix(place, "git+file://") || !isAddress(place) && strings.HasSuffix(strings.TrimRight(place, "/"), ".git")
}

// open gets the skills of a source, and fails where it cannot have them all.
func (f *fetchFlags) open(ctx context.Context, place, pin string, env func(string) string) (_ *fetched, err error) {
	temp, err := os.MkdirTemp("", "satchel-install-")
	if err != nil {
		return nil, err
	}
	out := &fetched{clean: func() { _ = os.RemoveAll(temp) }}
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
	case isAddress(place), isArchiveFile(place):
		cache := archive.NewCache(filepath.Join(temp, "archives"))
		var got archive.Unpacked
		if isAddress(place) {
			got, err = cache.Get(ctx, place, archive.Options{SHA256: pin, Allow: f.options(pin, env).Allow})
		} else {
			got, err = cache.Local(ctx, place, archive.Options{SHA256: pin})
		}
		if err != nil {
			return nil, err
		}
		dir, out.sha256 = got.Dir, got.SHA256
	}
	if pin != "" && out.sha256 == "" {
		return nil, fmt.Errorf("%w: --sha256 is for archives", errUsage)
	}
	root := source.Dir(dir)
	if out.sha256 != "" || dir != place { // others made it: no link leads out of it
		root = source.FS(filepath.Base(place), rootFS(dir))
	}
	if out.skills, err = catalog.Open(ctx, []source.Root{root}, unlogged); err != nil {
		return nil, err
	}
	return out, nil
}

// rootFS is a directory that no link leads out of.
func rootFS(dir string) fs.FS {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return os.DirFS(dir)
	}
	return root.FS()
}

type installCmd struct {
	fetchFlags `embed:""`
	JSON       bool   `help:"One JSON object per line for each skill: name, dir, sha256 and, for an archive, archive_sha256."`
	SHA256     string `name:"sha256" placeholder:"HEX" help:"The archive must have this SHA-256."`
	Dir        string `default:".agents/skills" placeholder:"DIR" help:"Where skills are installed (default ${default})."`
	As         string `placeholder:"NAME" help:"The name of the folder, where the source has one skill."`
	Source     string `arg:"" name:"source" help:"A directory, an archive (a file or an address), a SKILL.md (likewise), or a git repository of this machine (git+file://…, or a path that ends in .git)."`
}

// Help is the long help of the command.
func (installCmd) Help() string {
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
func (cmd *installCmd) Run(ctx context.Context, c console) error {
	pin := strings.TrimPrefix(cmd.SHA256, "sha256:")
	working := progress{c: c}
	defer working.done()
	working.at("reading %s", cmd.Source)
	got, err := cmd.open(ctx, cmd.Source, pin, c.env)
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	defer got.close()
	skills := got.skills.Snapshot().Skills()
	switch {
	case len(skills) == 0:
		writeFindings(c.err, got.skills.Snapshot().Diagnostics())
		return fmt.Errorf("install: no skill found in %s", cmd.Source)
	case cmd.As != "" && len(skills) > 1:
		return fmt.Errorf("%w: --as is for a source with one skill, and this has %d", errUsage, len(skills))
	}
	target, err := openTarget(cmd.Dir)
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	defer target.close()
	source := sourceNoted(cmd.Source)
	for i, s := range skills {
		working.at("installing %d of %d: %s", i+1, len(skills), plainName(s))
		folder := cmp.Or(cmd.As, plainName(s))
		entry, err := target.put(ctx, got.skills, s, folder, source, false)
		if err != nil {
			return fmt.Errorf("install %q: %w", s.Name, err)
		}
		working.done()
		if cmd.JSON {
			if err := encodeLine(c.out, installedLine{plainName(s), filepath.Join(cmd.Dir, folder), entry.SHA256, got.sha256}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(c.out, "installed %s to %s\nsha256:%s\n", printable(plainName(s)), printable(filepath.Join(cmd.Dir, folder)), entry.SHA256)
	}
	if got.sha256 != "" && !cmd.JSON {
		fmt.Fprintf(c.out, "archive sha256:%s\n", got.sha256)
	}
	return target.save()
}

// sourceNoted is how a source is noted, so that it is found from anywhere.
func sourceNoted(place string) string {
	if isAddress(place) {
		return place
	}
	abs, err := filepath.Abs(place)
	if err != nil {
		return place
	}
	return abs
}

// plainName is the name that a skill's front matter spells.
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
	lock *lock.Lock
}

func openTarget(dir string) (*target, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a directory of skills is no secret
		return nil, err
	}
	l, err := lock.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		l, err = &lock.Lock{}, nil
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	return &target{root, dir, l}, err
}

func (t *target) close()      { t.root.Close() }
func (t *target) save() error { return t.lock.Write(t.dir) }

// put copies a skill into a folder, which is there as a whole or not at all.
func (t *target) put(ctx context.Context, from *catalog.Catalog, s core.Skill, folder, source string, replace bool) (entry lock.Skill, err error) {
	if !filepath.IsLocal(folder) || folder == "." || strings.ContainsAny(folder, `/\:`) || strings.HasPrefix(folder, ".") || printable(folder) != folder {
		return entry, fmt.Errorf("%q cannot be the name of a folder; choose one with --as", folder)
	}
	if _, err := t.root.Lstat(folder); err == nil && !replace {
		return entry, fmt.Errorf("%s is there already; satchel update replaces it", filepath.Join(t.dir, folder))
	}
	if entry, err = lock.Of(ctx, from, s.Name, source); err != nil {
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
