package archive

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// names are the names of the entries so far, to refuse two that a file system could take
// for one, and entries below a file.
type names map[string]named // by folded name

type named struct {
	name string
	dir  bool
}

// clean checks the name of an entry and returns it as a local path.
func clean(name string) (string, error) {
	switch {
	case strings.ContainsRune(name, 0):
		return "", refused(name, "the name has a NUL")
	case !utf8.ValidString(name):
		return "", refused(name, "the name is not UTF-8")
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		return "", refused(name, "the name has control characters")
	case strings.Contains(name, `\`):
		return "", refused(name, "the name has a backslash")
	case strings.HasPrefix(name, "/"):
		return "", refused(name, "the name is absolute")
	case len(name) >= 2 && name[1] == ':':
		return "", refused(name, "the name has a drive")
	case len(name) > maxName:
		return "", refused(name, "the name is longer than %d bytes", maxName)
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxDepth {
		return "", refused(name, "it is deeper than %d folders", maxDepth)
	}
	if slices.Contains(parts, "..") {
		return "", refused(name, "the name leaves the archive")
	}
	return path.Clean(name), nil
}

// fold is a name as a file system that ignores case and normal forms compares it.
func fold(name string) string { return norm.NFC.String(cases.Fold().String(norm.NFC.String(name))) }

// add notes an entry, with the directories above it.
func (n names) add(name string, dir bool) error {
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		noted := len(n)
		if err := n.note(at, true, name); err != nil {
			return err
		}
		if len(n) == noted { // it was there, with what is above it
			break
		}
	}
	return n.note(name, dir, name)
}

func (n names) note(name string, dir bool, entry string) error {
	key := fold(name)
	before, known := n[key]
	switch {
	case !known:
		n[key] = named{name, dir}
	case before.name != name:
		return refused(entry, "%q and %q are one name to many file systems", before.name, name)
	case !before.dir && dir:
		return refused(entry, "it is below %q, which is no folder", name)
	case !before.dir || !dir:
		return refused(entry, "the name is there twice")
	}
	return nil
}

// stays reports whether the target of a link at name stays in the archive.
func stays(name, target string) bool {
	if target == "" || len(target) > maxName || strings.ContainsAny(target, "\\\x00") || strings.HasPrefix(target, "/") ||
		len(target) >= 2 && target[1] == ':' || !utf8.ValidString(target) {
		return false
	}
	at := path.Join(path.Dir(name), target)
	return at != ".." && !strings.HasPrefix(at, "../")
}
