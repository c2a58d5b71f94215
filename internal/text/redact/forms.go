package redact

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// Secret is a value that must not be shown: [Name] replaces it. The value is
// found in the forms that [Forms] lists.
type Secret struct{ Name, Value string }

// Forms returns the texts in which programs show a value, longest first:
//
//   - the value itself
//   - without the white space around it, as $(…) and an editor leave it
//   - with one space for each run of white space, as a shell's unquoted $NAME gives it
//   - each line of at least 8 bytes of a value of several lines, without the white space around
//     it
//   - each of these as it appears in JSON and in Go's quotes, if that is a different text
//
// A backslash and an n, as keys have in one-line files, end a line too. The lines that begin and
// end a PEM block are left out, and so are forms of less than 4 bytes.
// Other encodings, such as base64 or letters with spaces between them, are not found.
func Forms(value string) []string {
	forms := []string{value, strings.TrimSpace(value), strings.Join(strings.Fields(value), " ")}
	lines := strings.Split(strings.ReplaceAll(value, `\n`, "\n"), "\n")
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if len(lines) > 1 && len(line) >= minLine && !strings.HasPrefix(line, "-----") {
			forms = append(forms, line)
		}
	}
	for _, form := range forms {
		forms = append(forms, inJSON(form), inQuotes(form))
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	forms = slices.Compact(forms)
	if i := slices.IndexFunc(forms, func(f string) bool { return len(f) < minForm }); i >= 0 {
		forms = forms[:i]
	}
	return forms
}

func inQuotes(s string) string {
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

func inJSON(s string) string {
	text, _ := plainjson.Encode(s) // encoding a string never fails
	return text[1 : len(text)-1]
}
