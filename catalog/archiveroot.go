package catalog

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path"
	"path/filepath"

	"github.com/satchel-go/satchel/catalog/archive"
	"github.com/satchel-go/satchel/skillmd"
)

// Codes of diagnostics about archives.
const (
	// CodeStale: an archive cannot be fetched; the one that was fetched last is used.
	CodeStale skillmd.Code = "archive-stale"
)

// ArchiveOptions say how an archive is fetched and unpacked.
type ArchiveOptions struct {
	archive.Options
	// CacheDir is where archives are kept, unpacked. The default is the directory
	// satchel/archives in that of the user's caches.
	CacheDir string
}

// Archive is a .zip, .tar, .tar.gz or a bare SKILL.md at an address, fetched by https.
// The archive is refused as a whole if it holds anything that could leave its folder.
// One that cannot be had is a diagnostic and no error of [Open]; what was fetched before
// is used then. At most once in 5 minutes the address is asked, by [Catalog.Refresh],
// whether it has changed; an archive that is pinned is fetched once.
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
	dir := a.opts.CacheDir
	if dir == "" {
		caches, err := os.UserCacheDir()
		if err != nil {
			return archive.Unpacked{}, errors.Join(errors.New("name a directory for archives"), err)
		}
		dir = filepath.Join(caches, "satchel", "archives")
	}
	return archive.NewCache(dir).Get(ctx, a.address, a.opts.Options)
}

// unpacked returns the root as the directory that the archive is unpacked in, and a
// finding if it is an old one.
func (s *TreeSource) unpacked(ctx context.Context) (Root, []skillmd.Diagnostic, error) {
	got, err := s.root.archive.fetch(ctx)
	if err != nil {
		return Root{}, nil, err
	}
	r := s.root
	r.archive, r.name, r.path, r.inArchive = nil, "", got.Dir, true
	if got.Stale == nil {
		return r, nil, nil
	}
	return r, []skillmd.Diagnostic{{
		File: s.name, Code: CodeStale, Severity: skillmd.Warning,
		Message: "the archive that was fetched last is used: " + printable(got.Stale.Error()),
	}}, nil
}
