package places

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// envCache is the environment variable with the directory that caches archives.
const envCache = "SKILLS_CACHE_DIR"

// FetchFlags are the flags about archives.
type FetchFlags struct {
	AllowURL []string `name:"allow-url" sep:"none" placeholder:"PREFIX" help:"Archives, indexes and repositories may come from addresses that begin so, although they are http, loopback or private; may be repeated."`
}

// Options returns how an archive with the digest pin is fetched.
func (f *FetchFlags) Options(pin string, env func(string) string) source.ArchiveOptions {
	prefixes, cache := f.AllowURL, ""
	if env != nil {
		cache = env(envCache)
	}
	return source.ArchiveOptions{CacheDir: cache, SHA256: pin, Allow: func(u *url.URL) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return isPrefix(u, p) })
	}}
}

// isPrefix reports whether an address begins with prefix. A prefix without a path must match the whole
// host: http://a does not match http://a.example.
func isPrefix(u *url.URL, prefix string) bool {
	rest, ok := strings.CutPrefix(u.String(), prefix)
	return ok && u.User == nil && (rest == "" || strings.HasSuffix(prefix, "/") || strings.ContainsAny(rest[:1], "/?#") ||
		strings.Count(prefix, "/") > 2)
}

// IsArchiveFile reports whether a path is a file with the name of an archive or a SKILL.md.
func IsArchiveFile(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return isArchiveName(filepath.ToSlash(path))
}

// FileURL returns the file:// address of a path.
func FileURL(path string) (string, error) {
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

// Root returns the place of skills that --skills names: a directory, an archive, a well-known index
// or a library. Of a library it has the skills that reader may see; nil means the defaults.
func (f *FetchFlags) Root(ctx context.Context, c cli.Console, reader *LibraryFlags, place string) (source.Root, error) {
	switch {
	case isLibrary(place):
		if reader == nil {
			reader = &LibraryFlags{}
		}
		return reader.openPlace(ctx, c, place)
	case IsAddress(place):
		a, err := ParseAddress(place)
		if err != nil {
			return source.Root{}, err
		}
		return f.AddressRoot(a, "", c.Env)
	case IsArchiveFile(place):
		address, err := FileURL(place)
		if err != nil {
			return source.Root{}, err
		}
		opts := f.Options("", c.Env)
		opts.Allow = func(u *url.URL) bool { return u.String() == address }
		return source.Archive(address, opts), nil
	}
	return source.Dir(place), nil
}

// AddressRoot returns the root for an archive or a well-known index. pin is the digest of the
// archive, or "".
func (f *FetchFlags) AddressRoot(a Address, pin string, env func(string) string) (source.Root, error) {
	switch a.Kind {
	case IndexAddress:
		return source.WellKnown(a.URL, f.Options("", env)), nil
	case ArchiveAddress:
		if pin != "" && a.SHA256 != "" && !strings.EqualFold(pin, a.SHA256) {
			return source.Root{}, cli.Usage(fmt.Errorf("%s: the archive is pinned twice, to different digests", a.URL))
		}
		return source.Archive(a.URL, f.Options(cmp.Or(pin, a.SHA256), env)), nil
	}
	return source.Root{}, cli.Usage(fmt.Errorf("%s is a git repository: satchel install copies its skills into a directory", a.URL))
}
