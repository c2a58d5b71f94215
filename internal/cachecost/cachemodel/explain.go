package cachemodel

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Difference is the first place where a request differs from the beginning of the next.
type Difference struct {
	// Place names the first part that differs: "tool lookup", "message 3 (tool)".
	Place string `json:"place"`
	// Before and After are excerpts of the texts at that place, from shortly before the
	// difference. After is "" if the part was removed.
	Before string `json:"before"`
	After  string `json:"after"`
	// Hint names the likely cause, or is "".
	Hint string `json:"hint"`
}

// Explain finds the first difference between the texts of two requests. It returns the
// zero Difference if the second begins with the first.
func Explain(before, after prompt.Request) Difference {
	for i, t := range before.Tools {
		if i < len(after.Tools) && sameTool(t, after.Tools[i]) {
			continue
		}
		was, place := definition(t), "tool "+t.Name
		if i >= len(after.Tools) {
			return Difference{Place: place, Before: cut(was), Hint: "a tool was removed: keep the list constant"}
		}
		if now := definition(after.Tools[i]); was != now {
			d := differ(place, was, now)
			if t.Name != after.Tools[i].Name {
				d.Hint = "another tool stands here: keep the list and its order constant"
			}
			return d
		}
	}
	if len(after.Tools) > len(before.Tools) {
		t := after.Tools[len(before.Tools)]
		return Difference{Place: "tool " + t.Name, After: cut(definition(t)), Hint: "a tool was added: declare all tools from the start"}
	}
	for i, m := range before.Messages {
		if i < len(after.Messages) && sameMessage(m, after.Messages[i]) {
			continue
		}
		place := fmt.Sprintf("message %d (%s)", i, m.Role)
		if i >= len(after.Messages) {
			return Difference{Place: place, Before: cut(written(m)), Hint: "the history became shorter"}
		}
		now := after.Messages[i]
		if m.Role != now.Role {
			return Difference{Place: place, Before: cut(written(m)), After: cut(now.Role + ": " + written(now)), Hint: "another message stands here"}
		}
		if written(m) != written(now) {
			return differ(place, written(m), written(now))
		}
	}
	return Difference{}
}

func sameTool(a, b prompt.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Parameters, b.Parameters)
}

func sameMessage(a, b prompt.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && slices.Equal(a.Media, b.Media) && slices.EqualFunc(a.Calls, b.Calls, func(a, b prompt.Call) bool {
		return a.Name == b.Name && a.Arguments == b.Arguments
	})
}

func definition(t prompt.Tool) string {
	text, err := prompt.Definition(t)
	if err != nil {
		return t.Name
	}
	return text
}

func written(m prompt.Message) string {
	text := ""
	for _, part := range m.Media {
		text += fmt.Sprintf("[%s %s] ", part.Kind, part.Digest)
	}
	text += m.Content
	for _, c := range m.Calls {
		text += "\n" + c.Name + c.Arguments
	}
	return text
}

// volatile lists values that commonly change from request to request and should not be
// in a prompt.
var volatile = []struct {
	pattern *regexp.Regexp
	hint    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d|\d{1,2}:\d\d(:\d\d)?|\b1[67]\d{8}(\d{3})?\b`), "this looks like a date or a time: move it to the end of the request"},
	{regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "this looks like a random id"},
	{regexp.MustCompile(`/tmp/|\\Temp\\|/var/folders/`), "this looks like a temporary directory"},
}

// differ returns the difference of two texts, with the text shortly before it.
func differ(place, was, now string) Difference {
	n := 0
	for n < len(was) && n < len(now) && was[n] == now[n] {
		n++
	}
	from := max(0, n-excerptBefore)
	for from > 0 && !utf8.RuneStart(was[from]) {
		from--
	}
	d := Difference{Place: place, Before: cut(was[from:]), After: cut(now[from:])}
	for _, v := range volatile {
		if v.pattern.MatchString(d.Before) && v.pattern.MatchString(d.After) && v.pattern.FindString(d.Before) != v.pattern.FindString(d.After) {
			d.Hint = v.hint
			return d
		}
	}
	switch {
	case n == len(was):
		d.Hint = "text was added to a message that was sent before: append a message instead"
	case n == len(now):
		d.Hint = "text was taken from a message that was sent before"
	}
	return d
}

// cut returns the first bytes of a text.
func cut(s string) string {
	if len(s) <= excerpt {
		return s
	}
	n := excerpt
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
