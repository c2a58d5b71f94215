package deps

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/printable"
)

var (
	// requirement matches a name with extras, versions and a marker. It matches nothing else
	// that pip would read: no option, URL, path, variable or continued line.
	requirement = regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)[ \t]*(\[[A-Za-z0-9._, \t-]*\])?[ \t]*(` + versions + `|\(` + versions + `\))?[ \t]*(;[ \t]*[A-Za-z0-9_ \t.'"()<>=!~,+-]+)?$`)
	comment     = regexp.MustCompile(`(^|[ \t]+)#.*$`)
)

const (
	oneVersion = `(?:===|==|~=|!=|<=|>=|<|>)[ \t]*[A-Za-z0-9.*+!_-]+[ \t]*`
	versions   = `[ \t]*` + oneVersion + `(?:,[ \t]*` + oneVersion + `)*`
)

// archives are the endings of names that pip takes for files.
var archives = []string{".whl", ".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz", ".xz", ".txz", ".tlz", ".lz", ".lzma"}

// checkRequirements checks a requirements.txt and returns it without comments and empty lines.
func checkRequirements(files [][]byte) ([][]byte, error) {
	const name = "requirements.txt"
	if err := checkText(name, files[0]); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	n, names := 0, 0
	for line := range strings.Lines(strings.TrimPrefix(string(files[0]), "\ufeff")) {
		n++
		text := strings.TrimSpace(comment.ReplaceAllString(strings.TrimRight(line, "\r\n"), ""))
		if text == "" {
			continue
		}
		if why := refusal(text); why != "" {
			return nil, fmt.Errorf("%w: %s, line %d: %q: %s", ErrRefused, name, n, printable.Cut(text, maxQuoted), why)
		}
		if names++; names > maxRequirements {
			return nil, fmt.Errorf("%w: %s, line %d: more than %d packages", ErrRefused, name, n, maxRequirements)
		}
		out.WriteString(text + "\n")
	}
	if names == 0 {
		return nil, fmt.Errorf("%w: %s names no package", ErrNothing, name)
	}
	return [][]byte{out.Bytes()}, nil
}

// refusal says why a requirement is refused, "" if it is not.
func refusal(text string) string {
	wanted, _, _ := strings.Cut(text, ";")
	wanted = strings.ToLower(strings.TrimSpace(wanted))
	isEnd := func(end string) bool { return strings.HasSuffix(wanted, end) }
	switch {
	case len(text) > maxLine:
		return fmt.Sprintf("longer than %d bytes", maxLine)
	case strings.HasSuffix(text, `\`):
		return "a line that goes on in the next one is not read"
	case strings.HasPrefix(text, "-") || strings.Contains(text, " --"):
		return "options are not taken, only names with versions"
	case strings.Contains(wanted, "://") || strings.Contains(wanted, "@"):
		return "URLs are not taken, only names with versions"
	case strings.ContainsAny(wanted, `/\`) || strings.HasPrefix(wanted, ".") || slices.ContainsFunc(archives, isEnd):
		return "paths are not taken, only names with versions"
	case !requirement.MatchString(text):
		return "not a name with versions, such as pypdf>=3"
	}
	return ""
}

// checkText refuses a file that is too long or not UTF-8.
func checkText(name string, data []byte) error {
	if len(data) > maxFileBytes {
		return fmt.Errorf("%w: %s has more than %d bytes", ErrRefused, name, maxFileBytes)
	}
	if !utf8.Valid(data) {
		return fmt.Errorf("%w: %s is not UTF-8 text", ErrRefused, name)
	}
	return nil
}
