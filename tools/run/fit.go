package run

import (
	"encoding/json"
	"fmt"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/printable"
)

// besides is reserved in an answer for warnings that are added later.
const besides = 2 << 10

// fit writes an answer of at most limit bytes of JSON. What happened takes precedence over
// what was found: fit first cuts long lists and streams, then shows content in the room that
// is left.
func (w *answer) fit(a *runAnswer, limit int) (string, error) {
	contents := make([]string, len(a.Files))
	for i := range a.Files {
		contents[i], a.Files[i].Content = a.Files[i].Content, ""
	}
	text, err := plainjson.Encode(a)
	if err == nil && len(text) > limit-limit/8 { // room for the warnings about files
		w.shorten(a, limit)
		text, err = plainjson.Encode(a)
	}
	if err != nil {
		return "", err
	}
	limits := w.st.scope.Limits.OrDefaults()
	room := min(limits.InlineTotal, limit-len(text)-besides)
	cut := 0
	for i := range a.Files {
		f := &a.Files[i]
		f.Content = plainjson.Prefix(contents[i], max(0, min(limits.InlineFile, room-len(`"content":"","truncated":true,`))))
		if f.Content != "" {
			room -= plainjson.Size(f.Content) + len(`"content":"","truncated":true,`)
		}
		if f.Truncated = f.Truncated || len(f.Content) < len(contents[i]); f.Truncated {
			cut++
		}
	}
	if cut > 0 {
		a.Warnings = append(a.Warnings, warning("the content of %d files is cut or left out: read the rest with skill_read, by their ref", cut))
	}
	return plainjson.Encode(a)
}

// shorten cuts each part of an answer to its share of the limit.
func (w *answer) shorten(a *runAnswer, limit int) {
	for _, stream := range []*string{a.Stdout, a.Stderr} {
		if stream != nil {
			*stream = shortStream(*stream, limit/4)
		}
	}
	if a.Primary != nil && printable.Size(string(a.Primary.Name)) > limit/64 {
		a.Primary = nil // the list has the rest, if there is room
	}
	var staged, files, saved, warnings int
	a.Staged, staged = shortList(a.Staged, limit/12)
	a.Files, files = shortList(a.Files, limit/6)
	a.Artifacts, saved = shortList(a.Artifacts, limit/16)
	a.Warnings, warnings = shortList(a.Warnings, limit/12)
	for _, left := range []struct {
		n    int
		text string
	}{
		{staged, "%d more staged inputs are not listed: see work/inputs"},
		{files, "%d more output files are not listed: name them in a call of their own"},
		{saved, "%d more artifacts were saved and are not listed"},
		{warnings, "%d more warnings are left out"},
	} {
		if left.n > 0 {
			a.Warnings = append(a.Warnings, warning(left.text, left.n))
		}
	}
}

// shortStream keeps the beginning and the end of a text that takes too many bytes
// in JSON.
func shortStream(text string, limit int) string {
	if plainjson.Size(text) <= limit {
		return text
	}
	head := plainjson.Prefix(text, limit/2-64)
	tail := plainjson.Suffix(text[len(head):], limit/2-64)
	return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", head, len(text)-len(head)-len(tail), tail)
}

// shortList keeps as many elements from the beginning as fit, and says how many
// are left out.
func shortList[T any](list []T, limit int) (kept []T, left int) {
	for i, element := range list {
		text, err := json.Marshal(element)
		if limit -= len(text) + 1; err != nil || limit < 0 {
			return list[:i], len(list) - i
		}
	}
	return list, 0
}
