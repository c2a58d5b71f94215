package catalog

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/skillmd"
)

// Source is a place that skills come from: a database, a server, an archive.
// Directories and file systems are sources too ([OpenSource]). Implementations are
// safe for concurrent use and pass catalogtest.Source.
type Source interface {
	// Scan lists all skills. It returns prev itself when nothing has changed since
	// prev was returned, and never changes it. It ends with the error of ctx soon
	// after ctx ends.
	Scan(ctx context.Context, prev *Listing) (*Listing, error)
	// Open returns the files of one skill at one revision. A skill that is unknown,
	// or a revision that is not kept, is ErrGone.
	Open(ctx context.Context, id, revision string) (fs.FS, error)
}

// Notifier is a [Source] that tells when its skills change. Notify returns a function
// that ends that; changed is called from any goroutine, and returns at once.
type Notifier interface {
	Notify(changed func()) (stop func())
}

// Errors of sources and of what is read from them.
var (
	// ErrGone: the source does not keep that revision of the skill, or has no
	// such skill any more.
	ErrGone = errors.New("the skill has changed since it was listed")
	// ErrDigest: the bytes of a file are not those that the source listed.
	ErrDigest = errors.New("the file has changed since it was listed")
)

// Listing is what a [Source] held at one moment. Callers must not modify it.
type Listing struct {
	Entries []Entry
	// Diagnostics are findings about the source and about what it could not list.
	// Those about front matter are not among them: the catalog parses it.
	Diagnostics []skillmd.Diagnostic

	// live is set where the entries are, and for a directory that is absent.
	live *liveTree
}

// liveTree is the tree of a listing that is read as it is now, and what is known of
// the SKILL.md files in it.
type liveTree struct {
	tree  tree // nil for a directory that is absent
	known map[string]record
	links []*linked // that are followed, by name
	// called is the name that the root has from its files, as a plugin has.
	called string
	// dirs are the directories that were searched, those nearest to the root first.
	dirs []string
}

// Entry is one skill of a [Listing].
type Entry struct {
	// ID names the skill in its source: stable, unique, printable UTF-8 of 1 to
	// 256 bytes.
	ID string
	// Revision changes exactly when a file of the skill does. It is not empty.
	Revision string
	// Head is SKILL.md up to the end of its front matter, at most 64 KiB.
	Head []byte
	// Files are all files of the skill. Nil says that the source does not know
	// them yet: then the tree that Open returns is walked.
	Files []File
	// Editable reports that the skill can be changed at its source.
	Editable bool
	// Unreviewed reports that no person has looked at this revision: its list of
	// tools restricts and grants nothing.
	Unreviewed bool
	// Origin is that of core.Skill: the remote server of the skill, or "".
	Origin string

	// live is the skill in a tree that the catalog reads as it is now: what a
	// TreeSource finds for a catalog. It has neither head nor files.
	live *found
}

// File is a file of an [Entry].
type File struct {
	Path   string // slash-separated, below the skill, as fs.ValidPath wants it
	Size   int64  // in bytes
	SHA256 string // in lower-case hex; what is read is checked against it
}

// Bounds of what a source may list.
const (
	maxEntryID   = 256
	maxEntryHead = 64 << 10
	maxListed    = 50_000   // entries
	maxListedLen = 64 << 20 // bytes of a file
)

// fault says what is wrong with an entry, "" for nothing.
func (e *Entry) fault() string {
	switch {
	case e.ID == "" || len(e.ID) > maxEntryID || !utf8.ValidString(e.ID) || strings.ContainsFunc(e.ID, isControl):
		return "its id is not printable text of 1 to 256 bytes"
	case e.Revision == "":
		return "it has no revision"
	case len(e.Head) > maxEntryHead:
		return "its front matter is longer than 64 KiB"
	}
	if len(e.Files) > maxFiles {
		return "it lists more than 10,000 files"
	}
	for _, f := range e.Files {
		if !fs.ValidPath(f.Path) || f.Path == "." || f.Size < 0 {
			return "it lists a file that has no usable path or size"
		}
	}
	return ""
}

// skillFileOf returns the path of the entry's SKILL.md.
func (e *Entry) skillFileOf() string {
	name := skillFile
	for _, f := range e.Files {
		if f.Path == skillFile {
			return skillFile
		}
		if isSkillFile(f.Path) {
			name = f.Path
		}
	}
	return name
}
