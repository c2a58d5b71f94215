package places

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog/source"
)

// envCache is the environment variable with the directory that caches archives.
const envCache = "SKILLS_CACHE_DIR"

// FetchFlags are the flags about archives.
type FetchFlags struct {
	AllowURL []string `name:"allow-url" sep:"none" placeholder:"PREFIX" help:"Archives may come from addresses that begin so, although they are http, loopback or private; may be repeated."`
}

// Options returns how an archive with the digest pin is fetched.
func (f *FetchFlags) Options(pin string, env func(string) string) source.ArchiveOptions {
	prefixes := f.AllowURL
	return source.ArchiveOptions{CacheDir: env(envCache), SHA256: pin, Allow: func(u *url.URL) bool {
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

// IsAddress reports whether a place of skills is an address and no path.
func IsAddress(place string) bool { return strings.Contains(place, "://") }

// IsArchiveFile reports whether a path is a file with the name of an archive or a SKILL.md.
func IsArchiveFile(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	name := strings.ToLower(filepath.Base(path))
	return name == "skill.md" || slices.ContainsFunc([]string{".zip", ".tar", ".tgz", ".tar.gz"}, func(end string) bool {
		return strings.HasSuffix(name, end)
	})
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

// root returns the place of skills at a path or an address: a directory or an archive. pin is the
// digest of the archive, or "".
func (f *FetchFlags) root(place, pin string, env func(string) string) (source.Root, error) {
	if address, fragment, ok := strings.Cut(place, "#"); ok && IsAddress(place) && !strings.HasPrefix(place, "git") {
		sum, isPin := strings.CutPrefix(fragment, "sha256=")
		if raw, err := hex.DecodeString(sum); !isPin || err != nil || len(raw) != 32 || pin != "" && !strings.EqualFold(pin, sum) {
			return source.Root{}, fmt.Errorf("%s: behind # there may only be sha256= and the 64 hex digits of the archive", place)
		}
		place, pin = address, strings.ToLower(sum)
	}
	switch {
	case IsAddress(place):
		return source.Archive(place, f.Options(pin, env)), nil
	case IsArchiveFile(place):
		address, err := FileURL(place)
		if err != nil {
			return source.Root{}, err
		}
		opts := f.Options(pin, env)
		opts.Allow = func(u *url.URL) bool { return u.String() == address }
		return source.Archive(address, opts), nil
	}
	return source.Dir(place), nil
}
