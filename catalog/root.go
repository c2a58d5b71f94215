package catalog

import (
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Root is one place that holds skills: a directory of the operating system
// ([Dir]) or any file system ([FS]). The zero Root is not usable.
type Root struct {
	path     string // Dir: the directory as the host wrote it
	name     string // FS: the name that people see
	fsys     fs.FS
	optional bool
}

// Dir is the directory path of the operating system, searched for skills; it
// may be a skill itself. The path may be a symbolic link, and [Catalog.Refresh]
// opens it anew, so a deployment may swap the directory. All access goes
// through [os.Root]: nothing outside the directory is ever read.
//
// In locations the directory is called by its path if that is relative and
// stays below the working directory, else by as much of the end of its path
// as tells the roots of one catalog apart.
func Dir(path string) Root { return Root{path: path} }

// FS is a file system that holds skills: an [embed.FS], a zip.Reader, a
// fstest.MapFS and so on. The name stands in front of the locations of its
// skills. Files without a modification time are read anew whenever they are
// needed, so edits are seen there too.
//
// Links are followed inside the file system only, as far as it can tell
// ([fs.ReadLinkFS]). For directories of the operating system use [Dir], which
// holds this even against somebody who changes links at the same time.
func FS(name string, fsys fs.FS) Root { return Root{name: name, fsys: fsys} }

// Optional returns the root with leave to be absent: a directory that does not
// exist holds no skills until a Refresh finds it. It fits the places that a
// user may or may not have, such as ~/.agents/skills.
func (r Root) Optional() Root {
	r.optional = true
	return r
}

// String is the path of a Dir and the name of an FS, for messages.
func (r Root) String() string {
	if r.fsys != nil {
		return r.name
	}
	return r.path
}

// dirName is the name of the root's own directory, for a skill that is the
// root itself; empty where there is none.
func (r Root) dirName() string {
	if r.fsys != nil {
		return ""
	}
	abs, err := filepath.Abs(r.path)
	if err != nil || filepath.Dir(abs) == abs {
		return ""
	}
	return filepath.Base(abs)
}

// displayNames gives each root the name that stands in front of its locations.
// Earlier roots get the shorter names; no two names are equal.
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

// displayNames lists the names the root may be called by, the best first.
func (r Root) displayNames() []string {
	if r.fsys != nil {
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

// printable makes a path fit for one line of a message or a prompt: control
// characters and broken UTF-8 become U+FFFD.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// isControl reports the runes that end or disturb a line of text.
func isControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029'
}
