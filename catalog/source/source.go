package source

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/skillmd"
)

// Source is a place that skills come from: a database, a server, an archive.
// Directories and file systems are sources too ([Open]). Implementations are
// safe for concurrent use and pass catalogtest.Source.
type Source interface {
	// Scan lists all skills. prev is an earlier result, or nil. Scan returns prev itself if
	// nothing has changed since, and never modifies it. It returns the error of ctx soon
	// after ctx ends.
	Scan(ctx context.Context, prev *Listing) (*Listing, error)
	// Open returns the files of one skill at one revision. The error is ErrGone if the
	// source does not have the skill or does not keep the revision.
	Open(ctx context.Context, id, revision string) (fs.FS, error)
}

// RevisionSource is a [Source] that keeps old revisions of skills.
type RevisionSource interface {
	Source
	// Entry returns the entry that Scan listed for a skill at a revision. The error is ErrGone
	// if the source does not keep the revision.
	Entry(ctx context.Context, id, revision string) (Entry, error)
}

// Notifier is a [Source] that reports when its skills change.
type Notifier interface {
	// Notify calls changed after each change until the caller calls stop. It may call changed
	// from any goroutine; changed returns at once.
	Notify(changed func()) (stop func())
}

// The errors of sources, and of reading files from them.
var (
	// ErrGone reports that the source does not keep that revision of the skill, or has no
	// such skill any more.
	ErrGone = errors.New("the skill has changed since it was listed")
	// ErrDigest reports that the bytes of a file are not those that the source listed.
	ErrDigest = errors.New("the file has changed since it was listed")
)

// Listing holds the skills of a [Source] at one moment. Callers must not modify it.
type Listing struct {
	Entries []Entry
	// Diagnostics are findings about the source and about skills that it could not list. They
	// say nothing about front matter, which the catalog parses.
	Diagnostics []skillmd.Diagnostic
}

// Entry is one skill of a [Listing].
type Entry struct {
	// ID names the skill in its source: stable, unique, printable UTF-8 of 1 to
	// 256 bytes.
	ID string
	// Revision changes exactly when a file of the skill does. It is not empty.
	Revision string
	// Head is the beginning of SKILL.md, at least to the end of its front matter and at most
	// 64 KiB.
	Head []byte
	// Files are all files of the skill. If it is nil, the catalog walks the tree that Open
	// returns.
	Files []File
	// Editable reports that the skill can be changed at its source.
	Editable bool
	// Unreviewed reports that no person has approved this revision. Its allowed-tools then
	// restricts the skill but grants nothing.
	Unreviewed bool
	// OnDemand reports that the files are fetched when they are first read. Searches and lists
	// do not read them then. If Files is nil too, Head may lack fields: calls that open the files
	// get those of the SKILL.md among them.
	OnDemand bool
	// Origin names the remote server of the skill, for core.Skill; "" for none.
	Origin string
}

// File is a file of an [Entry].
type File struct {
	Path   string // slash-separated, below the skill, as fs.ValidPath wants it
	Size   int64  // in bytes
	SHA256 string // in lower-case hex; the catalog checks the content against it
}

// Fault returns the reason why a catalog cannot use the entry, or "".
func (e *Entry) Fault() string {
	switch {
	case e.ID == "" || len(e.ID) > maxEntryID || !utf8.ValidString(e.ID) || strings.ContainsFunc(e.ID, scan.IsControl):
		return "its id is not printable text of 1 to 256 bytes"
	case e.Revision == "":
		return "it has no revision"
	case len(e.Head) > maxEntryHead:
		return "its front matter is longer than 64 KiB"
	}
	if len(e.Files) > scan.MaxFiles {
		return "it lists more than 10,000 files"
	}
	for _, f := range e.Files {
		if !fs.ValidPath(f.Path) || f.Path == "." || f.Size < 0 {
			return "it lists a file that has no usable path or size"
		}
	}
	return ""
}

// SkillFile returns the path of the entry's SKILL.md, which a source may spell in another case.
func (e *Entry) SkillFile() string {
	name := scan.SkillFile
	for _, f := range e.Files {
		if f.Path == scan.SkillFile {
			return scan.SkillFile
		}
		if scan.IsSkillFile(f.Path) {
			name = f.Path
		}
	}
	return name
}
