package redact

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// Secret is a value that must not be shown. The text "[Name]" replaces it in each form that
// [Forms] lists.
type Secret struct{ Name, Value string }

// Forms returns the forms in which programs print a value, longest first:
//
//   - the value itself
//   - the value without white space around it, as $(…) and editors write it
//   - the value with one space for each run of white space, as a shell writes an unquoted $NAME
//   - each line of at least 8 bytes, trimmed, if the value has several lines
//   - each of these escaped for JSON and for Go's quotes, if that differs
//
// The two characters \n, which keys in one-line files have, end a line too. Forms leaves out the
// lines that begin and end a PEM block, and forms of less than 4 bytes. It does not know other
// encodings, such as base64 or letters with spaces between them.
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
