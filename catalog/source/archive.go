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
	// Client fetches instead of one that refuses loopback, private and link-local
	// addresses as it dials them. The rules about addresses and redirects hold for
	// it too, but not those about what it dials.
	Client *http.Client
	// Timeout bounds the whole download; 60 s.
	Timeout time.Duration
	// Allow permits an address although it is http: or file:, or leads to a loopback,
	// private or link-local host. Nil permits none.
	Allow func(*url.URL) bool
	// CacheDir is where archives are kept, unpacked. The default is the directory
	// satchel/archives in that of the user's caches.
	CacheDir string
}

// Archive is a .zip, .tar, .tar.gz or a bare SKILL.md at an address, fetched by https.
// The archive is refused as a whole if it holds anything that could leave its folder.
// One that cannot be fetched is a diagnostic and no error of catalog.Open; what was fetched
// before is used then. A catalog that is refreshed asks the address at most once in 5 minutes
// whether it has changed. An archive that is pinned is fetched once.
//
// The skills are called as the last part of the address is.
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
	o := a.opts
	dir := o.CacheDir
	if dir == "" {
		caches, err := os.UserCacheDir()
		if err != nil {
			return archive.Unpacked{}, errors.Join(errors.New("name a directory for archives"), err)
		}
		dir = filepath.Join(caches, "satchel", "archives")
	}
	return archive.NewCache(dir).Get(ctx, a.address, archive.Options{
		Limits: archive.Limits{MaxDownload: o.MaxDownload, MaxUnpacked: o.MaxUnpacked, MaxFile: o.MaxFile, MaxFiles: o.MaxFiles, MaxRatio: o.MaxRatio},
		SHA256: o.SHA256, Client: o.Client, Timeout: o.Timeout, Allow: o.Allow,
	})
}
