package source

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/satchel-go/satchel/internal/archive"
)

// ArchiveOptions say how an archive is fetched and unpacked. A field of 0 is the default.
type ArchiveOptions struct {
	MaxDownload int64 // bytes of the archive; 64 MiB
	MaxUnpacked int64 // bytes of all files; 256 MiB
	MaxFile     int64 // bytes of one file; 64 MiB
	MaxFiles    int   // entries, and files with their folders; 10,000
	MaxRatio    int64 // unpacked to packed, with the headers of a tar; 100, beyond the first 64 KiB
	// SHA256 pins the archive: in hexadecimal, "" for none.
	SHA256 string
	// Client fetches the archive. The default client refuses to dial loopback, private and
	// link-local addresses. For another client only the rules about URLs and redirects hold.
	Client *http.Client
	// Timeout bounds the whole download; 60 s.
	Timeout time.Duration
	// Allow returns true for a URL that is permitted although it is http: or file:, or leads to
	// a loopback, private or link-local host. Nil permits none.
	Allow func(*url.URL) bool
	// CacheDir is the directory for unpacked archives. The default is satchel/archives in
	// os.UserCacheDir.
	CacheDir string
}

// Archive returns a root for a .zip, .tar, .tar.gz or a bare SKILL.md at an https address. The
// archive is refused as a whole if an entry could leave its folder. An archive that cannot be
// fetched is a diagnostic and no error of catalog.Open; an earlier copy is used then. A refresh of
// the catalog asks the server for changes at most once in 5 minutes. A pinned archive is fetched
// once.
//
// The name of the root is the last part of the address.
func Archive(address string, opts ArchiveOptions) Root {
	name := address
	if u, err := url.Parse(address); err == nil && path.Base(u.Path) != "/" && path.Base(u.Path) != "." {
		name = path.Base(u.Path)
	}
	return Root{name: name, archive: &archiveRoot{address, opts}}
}

type archiveRoot struct {
	address string
	opts    ArchiveOptions
}

// fetch returns the directory with the files of the archive.
func (a *archiveRoot) fetch(ctx context.Context) (archive.Unpacked, error) {
	cache, err := a.opts.cache()
	if err != nil {
		return archive.Unpacked{}, err
	}
	return cache.Get(ctx, a.address, a.opts.fetching())
}

// cache returns the cache in CacheDir.
func (o *ArchiveOptions) cache() (*archive.Cache, error) {
	dir := o.CacheDir
	if dir == "" {
		caches, err := os.UserCacheDir()
		if err != nil {
			return nil, errors.Join(errors.New("name a directory for archives"), err)
		}
		dir = filepath.Join(caches, "satchel", "archives")
	}
	return archive.NewCache(dir), nil
}

// fetching returns the options of a download.
func (o *ArchiveOptions) fetching() archive.Options {
	return archive.Options{
		Limits: archive.Limits{MaxDownload: o.MaxDownload, MaxUnpacked: o.MaxUnpacked, MaxFile: o.MaxFile, MaxFiles: o.MaxFiles, MaxRatio: o.MaxRatio},
		SHA256: o.SHA256, Client: o.Client, Timeout: o.Timeout, Allow: o.Allow,
	}
}
