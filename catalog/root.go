package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	escape "github.com/satchel-go/satchel/internal/text/printable"
)

// Root is one place that holds skills: a directory of the operating system
// ([Dir]), any file system ([FS]) or any other source ([From]). The zero Root is
// not usable.
type Root struct {
	path     string // Dir: the directory as the host wrote it
	name     string // FS and From: the name that people see
	fsys     fs.FS
	source   Source
	optional bool
	scope    Scope
	called   *string  // Named
	display  string   // preferred in front of locations, "" for none
	follow   []string // FollowLinks
	project  string   // the directory that is trusted or not, "" for the root itself
	plugin   string   // Plugin: its directory
	archive  *archiveRoot
	reading  []Option // Reading
	// inArchive: the directory is what was unpacked, and no link in it is followed.
	inArchive bool
}

// Dir is a directory of the operating system that is searched for skills. It may be a skill
// itself. The path may be a symbolic link; [Catalog.Refresh] opens it again, so a deployment
// may swap the directory. Nothing outside the directory is ever read, because all access goes
// through [os.Root].
//
// In locations the directory is called by its path if that is relative and stays below the
// working directory. Else it is called by as much of the end of its path as tells the roots of
// one catalog apart.
func Dir(path string) Root { return Root{path: path} }

// FS is a file system that holds skills: an [embed.FS], a zip.Reader, a fstest.MapFS and so
// on. The name stands in front of the locations of its skills. Files without a modification
// time are read each time, so edits are seen there too.
//
// Links are followed only inside the file system, if it reports them ([fs.ReadLinkFS]). Use
// [Dir] for directories of the operating system: it guarantees that even if links change at
// the same time.
func FS(name string, fsys fs.FS) Root { return Root{name: name, fsys: fsys} }

// From is a root whose skills come from a [Source]. The name stands in front of the
// locations of its skills, followed by their ids.
//
// Skills are read as they were listed. An edit is seen after [Catalog.Refresh];
// until then reading something that was changed fails with [ErrGone] or
// [ErrDigest], unless the source keeps the old revision. If the source fails, the
// skills that it listed last stay in the catalog and there is a diagnostic; that is
// never an error of [Open].
func From(name string, source Source) Root { return Root{name: name, source: source} }

// Optional returns the root with permission to be absent: a directory that does not
// exist holds no skills until a Refresh finds it. One that is there and cannot be opened
// is a diagnostic and no error of [Open]. Use it for places that a user may or may not
// have, such as ~/.agents/skills.
func (r Root) Optional() Root {
	r.optional = true
	return r
}

// mayBeAbsent reports whether a directory that is not there is no error: that of an
// optional root, and the skills of a plugin that has none.
func (r Root) mayBeAbsent() bool {
	if r.plugin != "" && !r.optional {
		info, err := os.Stat(r.plugin)
		return err == nil && info.IsDir()
	}
	return r.optional
}

// absent says what is wrong where a root that may be absent is: a plugin has no skills, or
// a link leads nowhere. It is "" where nothing is wrong.
func (r Root) absent() string {
	switch why := r.lostLink(); {
	case why != "":
		return why
	case r.plugin != "" && !r.optional:
		return "the plugin has no folder skills/"
	}
	return ""
}

// lostLink says which link of the path leads nowhere or in a circle, "" for none.
func (r Root) lostLink() string {
	for at := filepath.Clean(r.path); ; at = filepath.Dir(at) {
		if target, err := os.Readlink(at); err == nil {
			switch _, err := os.Stat(at); {
			case errors.Is(err, syscall.ELOOP):
				return fmt.Sprintf("the link to %s leads in a circle; remove it", printable(target))
			case err != nil && errors.Is(cause(err), ErrNotExist):
				return fmt.Sprintf("the link to %s leads nowhere; remove it, or put back what it leads to", printable(target))
			}
		}
		if _, err := os.Lstat(at); err == nil || filepath.Dir(at) == at {
			return ""
		}
	}
}

// unopened adds to the error of a directory which link is at fault, if one is.
func (r Root) unopened(err error) error {
	if why := r.lostLink(); why != "" {
		return fmt.Errorf("%s: %w", why, cause(err))
	}
	return err
}

// String returns the path of a Dir, or the name of an FS or a source.
func (r Root) String() string {
	if r.isNamed() {
		return r.name
	}
	return r.path
}

func (r Root) isNamed() bool { return r.fsys != nil || r.source != nil || r.archive != nil }

// kind begins the ids of the root's skills.
func (r Root) kind() string {
	switch {
	case r.plugin != "":
		return "plugin"
	case r.fsys != nil:
		return "fs"
	case r.archive != nil:
		return "zip"
	case r.source != nil:
		return "source"
	}
	return "dir"
}

// absolute is the absolute path of a Dir, "" for other roots.
func (r Root) absolute() string {
	if r.isNamed() {
		return ""
	}
	abs, err := filepath.Abs(r.path)
	if err != nil {
		return ""
	}
	return abs
}

// dirName is the name of the root's own directory, for a skill that is the root
// itself. It is empty where there is none.
func (r Root) dirName() string {
	abs := r.absolute()
	if abs == "" || filepath.Dir(abs) == abs {
		return ""
	}
	return filepath.Base(abs)
}

// displayNames gives each root the name that stands in front of its locations.
// Earlier roots get the shorter names, and no two names are equal.
func displayNames(roots []Root) []string {
	names := make([]string, len(roots))
	used := make(map[string]bool, len(roots))
	for i, r := range roots {
		candidates := r.displayNames()
		name := candidates[len(candidates)-1]
		for _, c := range candidates {
			if !used[c] {
				name = c
				break
			}
		}
		for base, n := name, 2; used[name]; n++ {
			name = base + "#" + strconv.Itoa(n)
		}
		used[name] = true
		names[i] = name
	}
	return names
}

// ownName is the name of a root that stands alone: the path of a directory as it was written.
func (r Root) ownName() string {
	if r.display != "" || r.isNamed() {
		return r.displayNames()[0]
	}
	return printable(filepath.ToSlash(filepath.Clean(r.path)))
}

// displayNames lists the names that the root may be called by, the preferred ones
// first.
func (r Root) displayNames() []string {
	if r.display != "" {
		return []string{printable(r.display)}
	}
	if r.isNamed() {
		return []string{path.Clean(printable(r.name))}
	}
	if filepath.IsLocal(r.path) {
		return []string{printable(filepath.ToSlash(filepath.Clean(r.path)))}
	}
	abs, err := filepath.Abs(r.path)
	if err != nil {
		abs = r.path
	}
	slash := printable(filepath.ToSlash(abs))
	var candidates []string
	for i := len(slash) - 1; i > 0; i-- {
		if slash[i] == '/' && i+1 < len(slash) {
			candidates = append(candidates, slash[i+1:])
		}
	}
	return append(candidates, strings.TrimPrefix(slash, "/"), slash)
}

// printable makes a path fit on one line of a message or a prompt: it replaces control and
// invisible characters and broken UTF-8 by U+FFFD.
func printable(s string) string { return escape.Replaced(s) }

// isControl reports runes that end or disturb a line of text.
func isControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029'
}
