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

// names holds the names of all entries so far, by folded name. It detects two names that a file
// system could take for one, and entries below a file.
type names map[string]entryName

type entryName struct {
	name  string
	isDir bool
}

// CheckName returns an error that wraps [ErrRefused] if an archive may not have an entry of that name.
func CheckName(name string) error {
	_, err := clean(name)
	return err
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

// fold returns the form of a name in which a file system compares it that ignores case and
// Unicode normal forms.
func fold(name string) string { return norm.NFC.String(cases.Fold().String(norm.NFC.String(name))) }

// add adds an entry and its parent directories.
func (n names) add(name string, isDir bool) error {
	for parent := path.Dir(name); parent != "."; parent = path.Dir(parent) {
		count := len(n)
		if err := n.addOne(parent, true, name); err != nil {
			return err
		}
		if len(n) == count { // it was known, with its parents
			break
		}
	}
	return n.addOne(name, isDir, name)
}

// addOne adds one name. Errors are about entry.
func (n names) addOne(name string, isDir bool, entry string) error {
	key := fold(name)
	before, known := n[key]
	switch {
	case !known:
		n[key] = entryName{name, isDir}
	case before.name != name:
		return refused(entry, "%q and %q are one name to many file systems", before.name, name)
	case !before.isDir && isDir:
		return refused(entry, "it is below %q, which is no folder", name)
	case !before.isDir || !isDir:
		return refused(entry, "the name is there twice")
	}
	return nil
}

// staysInside reports whether the target of a link at name is in the archive.
func staysInside(name, target string) bool {
	if target == "" || len(target) > maxName || strings.ContainsAny(target, "\\\x00") || strings.HasPrefix(target, "/") ||
		len(target) >= 2 && target[1] == ':' || !utf8.ValidString(target) {
		return false
	}
	at := path.Join(path.Dir(name), target)
	return at != ".." && !strings.HasPrefix(at, "../")
}
