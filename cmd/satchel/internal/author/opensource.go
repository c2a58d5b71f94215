package author

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
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

// sourceFlags say how the source of an installation is read.
type sourceFlags struct {
	places.FetchFlags `embed:""`
	Scan              *string `placeholder:"CMD" help:"A command that looks at the skills of each source before they are installed, with {dir} for their directory; no shell runs it. Unless it exits with 0, nothing of the source is installed."`
}

// openedSource is an open source of skills.
type openedSource struct {
	skills *catalog.Catalog
	origin
	sha256 string // of the archive, "" for none
	failed error  // skills that could not be read for the scanner
	clean  func()
}

// origin says where an installed skill comes from.
type origin struct {
	source string // an address, or an absolute path
	commit string // of a repository at a commit or a tag, "" for others
}

func (o *openedSource) close() {
	o.skills.Close()
	o.clean()
}

// isRepository reports whether a source is a git repository of this machine.
func isRepository(place string) bool {
	return strings.HasPrefix(place, "git+file://") || !places.IsAddress(place) && strings.HasSuffix(strings.TrimRight(place, "/"), ".git")
}

// open opens the skills of a directory, an archive, a repository or a well-known index. pin is the
// digest of the archive, or "". The scanner has passed the skills.
func (f *sourceFlags) open(ctx context.Context, c cli.Console, place, pin string) (_ *openedSource, err error) {
	scanner, err := parseScanner(f.Scan)
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "satchel-install-")
	if err != nil {
		return nil, err
	}
	out := &openedSource{origin: origin{source: absoluteSource(place)}, clean: func() { _ = os.RemoveAll(temp) }}
	defer func() {
		if err != nil {
			out.clean()
		}
	}()
	root, err := f.root(ctx, out, place, pin, temp, c.Env)
	if err != nil {
		return nil, err
	}
	if pin != "" && out.sha256 == "" {
		return nil, fmt.Errorf("%w: --sha256 is for archives", cli.ErrUsage)
	}
	if out.skills, err = catalog.Open(ctx, []source.Root{root}, places.WithoutLog); err != nil {
		return nil, err
	}
	if err := sourceError(out.skills.Snapshot()); err != nil {
		return nil, errors.Join(err, out.skills.Close())
	}
	if scanner == nil || out.skills.Snapshot().Len() == 0 {
		return out, nil
	}
	if err := out.scan(ctx, c, scanner, filepath.Join(temp, "scanned")); err != nil {
		return nil, errors.Join(err, out.skills.Close())
	}
	return out, nil
}

// sourceError returns why a source could not be listed, or nil.
func sourceError(snapshot *catalog.Snapshot) error {
	for _, d := range snapshot.Diagnostics() {
		if d.Code == catalog.CodeSourceFailed {
			return errors.New(places.Advice(d))
		}
	}
	return nil
}

// root fetches a source below temp, and returns the place with its skills.
func (f *sourceFlags) root(ctx context.Context, out *openedSource, place, pin, temp string, env func(string) string) (source.Root, error) {
	fetched := func(dir string, err error) (source.Root, error) { // others wrote it, so no link may lead out of it
		return source.FS(filepath.Base(place), rootFS(dir)), err
	}
	unpacked := func(got archive.Unpacked, err error) (source.Root, error) {
		out.sha256 = got.SHA256
		return fetched(got.Dir, err)
	}
	cache := archive.NewCache(filepath.Join(temp, "archives"))
	switch {
	case isRepository(place):
		return fetched(checkOut(ctx, place, temp))
	case places.IsArchiveFile(place):
		return unpacked(cache.Local(ctx, place, archive.Options{SHA256: pin}))
	case !places.IsAddress(place):
		return source.Dir(place), nil
	}
	address, err := places.ParseAddress(place)
	if err != nil {
		return source.Root{}, err
	}
	allow := f.Options("", env).Allow
	switch address.Kind {
	case places.RepositoryAddress:
		dir, commit, err := checkOutAt(ctx, address, allow, temp)
		out.commit = commit
		return fetched(dir, err)
	case places.ArchiveAddress:
		if pin == "" {
			pin = address.SHA256
		}
		return unpacked(cache.Get(ctx, address.URL, archive.Options{SHA256: pin, Allow: func(u *url.URL) bool { return allow(u) }}))
	}
	return f.AddressRoot(address, pin, env)
}

// rootFS returns a directory as a file system that follows no link out of it.
func rootFS(dir string) fs.FS {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return os.DirFS(dir)
	}
	return root.FS()
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
