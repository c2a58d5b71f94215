package source

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/satchel-go/satchel/core"
)

// Root is one place that holds skills: a directory of the operating system
// ([Dir]), any file system ([FS]) or any other source ([From]). The zero Root is
// not usable.
type Root struct {
	path      string // Dir: the directory as the host wrote it
	name      string // the name of a root that is no directory, as people see it
	fsys      fs.FS
	source    Source
	archive   *archiveRoot
	plugin    string // Plugin: its directory
	optional  bool
	scope     core.Scope
	givenName *string  // Named
	display   string   // preferred in front of locations, "" for none
	follow    []string // FollowLinks
	project   string   // the directory that is trusted or not, "" for the root itself
}

// Dir returns a root for a directory of the operating system. The directory may be a skill itself.
// The path may be a symbolic link. Each refresh of a catalog opens the path again, so a deployment
// may swap the directory. Nothing outside the directory is ever read, because all access goes
// through [os.Root].
//
// Locations begin with the path if it is relative and stays below the working directory. Of
// another path they begin with the shortest end that no other root of the catalog has.
func Dir(path string) Root { return Root{path: path} }

// FS returns a root for a file system: an [embed.FS], a zip.Reader, a fstest.MapFS and so on. The
// name stands in front of the locations of its skills. Files without a modification time are read
// each time, so that no edit is missed.
//
// Links are followed only inside the file system, if it reports them ([fs.ReadLinkFS]). Use
// [Dir] for directories of the operating system: it guarantees that even if links change at
// the same time.
func FS(name string, fsys fs.FS) Root { return Root{name: name, fsys: fsys} }

// From returns a root whose skills come from a [Source]. The name stands in front of the
// locations of its skills, followed by their ids.
//
// A catalog reads skills at the revision that the source listed, and sees an edit at its next
// refresh. Until then, reading an edited skill fails with [ErrGone] or [ErrDigest], unless the
// source keeps the old revision. If the source fails, the catalog keeps the skills of the last
// listing and adds a diagnostic. That is never an error of catalog.Open.
func From(name string, source Source) Root { return Root{name: name, source: source} }

// Optional returns the root with permission to be absent. A directory that does not exist holds
// no skills until a refresh finds it. A directory that exists but cannot be opened is a diagnostic
// and no error of catalog.Open. Use it for places that some users do not have, such as
// ~/.agents/skills.
func (r Root) Optional() Root {
	r.optional = true
	return r
}

// In returns the root in a scope; the default is [core.ScopeHost]. The scopes rank in the order
// of their constants; within a scope the earlier root ranks higher, and within a root the path
// that sorts first. A root in scope [core.ScopeProject] is searched only if catalog.WithTrust
// allows it.
func (r Root) In(s core.Scope) Root {
	r.scope = s
	return r
}

// Named returns the root with a name for qualified names and ids: 1 to 32 of a-z, 0-9 and "-".
// catalog.Open returns an error for any other name. The default is the name that stands in front
// of its locations.
func (r Root) Named(name string) Root {
	r.givenName = &name
	return r
}

// FollowLinks returns the root with permission to follow links to directories below dirs.
// Without it, a link directly below a [Dir] is followed if it leads to a directory inside the
// git work tree of the root. If the root is in no work tree, the link must lead to a directory
// inside the home directory.
func (r Root) FollowLinks(dirs ...string) Root {
	r.follow = slices.Concat(r.follow, dirs)
	return r
}

// String returns the path of a [Dir], or the name of another root.
func (r Root) String() string {
	if r.isNamed() {
		return r.name
	}
	return r.path
}

// Path returns the directory of a [Dir] as the host wrote it, "" for other roots.
func (r Root) Path() string {
	if r.isNamed() {
		return ""
	}
	return r.path
}

// isNamed reports whether the root is no directory.
func (r Root) isNamed() bool { return r.fsys != nil || r.source != nil || r.archive != nil }

// Scope returns the scope of the root.
func (r Root) Scope() core.Scope { return r.scope }

// Project returns the directory of the project that the root belongs to: for roots of
// [Discover] the project's, else the root's own.
func (r Root) Project() string {
	if r.project != "" {
		return r.project
	}
	return r.path
}

// Source returns the source of a root made by [From], nil for other roots.
func (r Root) Source() Source { return r.source }

// FileSystem returns the file system of a root made by [FS], nil for other roots.
func (r Root) FileSystem() fs.FS { return r.fsys }

// PluginDir returns the directory of a root made by [Plugin], "" for other roots.
func (r Root) PluginDir() string { return r.plugin }

// IsArchive reports whether the root was made by [Archive].
func (r Root) IsArchive() bool { return r.archive != nil }

// IsOptional reports whether the root may be absent.
func (r Root) IsOptional() bool { return r.optional }

// Display returns the name that stands in front of the root's locations if no other root has it,
// "" for the default.
func (r Root) Display() string { return r.display }

// LinkTargets returns the directories of [Root.FollowLinks].
func (r Root) LinkTargets() []string { return r.follow }

// Name returns the name of [Root.Named], and false if the root has none. The error says that the
// name is not valid.
func (r Root) Name() (name string, ok bool, err error) {
	if r.givenName == nil {
		return "", false, nil
	}
	name = *r.givenName
	valid := len(name) >= 1 && len(name) <= maxName
	for _, c := range []byte(name) {
		valid = valid && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
	}
	if !valid {
		return "", false, fmt.Errorf("root %q: the name %q is not 1 to %d of a-z, 0-9 and \"-\"", r, name, maxName)
	}
	return name, true, nil
}

// Unpack fetches the archive of a root made by [Archive] if it has changed, and returns the
// directory with its files. If the fetch fails, it returns an earlier copy, and stale says why.
func (r Root) Unpack(ctx context.Context) (dir string, stale, err error) {
	if r.archive == nil {
		return "", nil, fmt.Errorf("source: root %q is no archive", r)
	}
	got, err := r.archive.fetch(ctx)
	return got.Dir, got.Stale, err
}

// Plugin returns a root in scope plugin for a folder with skills in skills/ and a name in
// .claude-plugin/plugin.json. Without a usable name there, the name is that of the folder. Nothing
// outside the folder is read, and no link to a directory is followed.
func Plugin(dir string) Root {
	return Root{path: filepath.Join(dir, "skills"), plugin: dir, scope: core.ScopePlugin}
}
