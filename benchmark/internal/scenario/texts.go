package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// ErrMissing reports a need for which there is no skill or doc.
var ErrMissing = errors.New("not found")

// Text is the body of a skill, one of its docs, or a section of a doc.
type Text struct {
	Skill string
	Doc   string // "" is the body, and "path#heading" a section
	Whole string
	// Source is the doc that a section is part of. First is its first line there, from 0, and
	// Count how many lines it has.
	Source       string
	First, Count int
	lines        []string
}

// Path returns the path of a doc, or of the doc that a section is part of.
func (t *Text) Path() string {
	path, _, _ := strings.Cut(t.Doc, "#")
	return path
}

// IsSection reports whether the text is a section of a doc.
func (t *Text) IsSection() bool { return strings.Contains(t.Doc, "#") }

// Name returns the text's name in reports.
func (t *Text) Name() string {
	if t.Doc == "" {
		return t.Skill
	}
	return t.Skill + "/" + t.Doc
}

// Span is where a text stands in a message, in bytes.
type Span struct {
	Text     *Text
	From, To int
}

// Texts holds the bodies of all skills and the docs that scenarios need. It finds them in messages,
// however a system has written them there. It is not safe for concurrent use.
type Texts struct {
	all    []*Text
	byName map[[2]string]*Text
	spans  map[string][]Span
}

// Open reads the skills of a directory and the docs that the scenarios need. A
// need that does not exist is an error that names it.
func Open(ctx context.Context, dir string, scenarios []*Scenario) (*Texts, error) {
	skills, err := catalog.Open(ctx, []source.Root{source.Dir(dir)})
	if err != nil {
		return nil, fmt.Errorf("open skills: %w", err)
	}
	defer skills.Close()
	t := &Texts{byName: make(map[[2]string]*Text), spans: make(map[string][]Span)}
	for _, s := range skills.Snapshot().Skills() {
		_, body, err := skills.Body(ctx, s.Name)
		if err != nil {
			return nil, fmt.Errorf("body of %q: %w", s.Name, err)
		}
		t.add(s.Name, "", body.Text)
	}
	for _, s := range scenarios {
		for i, turn := range s.Turns {
			for j, step := range turn.Steps {
				if err := t.need(ctx, skills, step); err != nil {
					return nil, fmt.Errorf("scenario %q, turns[%d].steps[%d]: %w in %s", s.Name, i, j, err, dir)
				}
			}
		}
	}
	return t, nil
}

func (t *Texts) need(ctx context.Context, skills *catalog.Catalog, step Step) error {
	if step.Need == "" {
		return nil
	}
	if t.byName[[2]string{step.Need, ""}] == nil {
		return fmt.Errorf("%w: skill %q", ErrMissing, step.Need)
	}
	for _, doc := range step.Docs {
		if t.byName[[2]string{step.Need, doc}] != nil {
			continue
		}
		path, heading, isSection := strings.Cut(doc, "#")
		content, err := skills.Doc(ctx, step.Need, path)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrMissing, err)
		}
		if !isSection {
			t.add(step.Need, doc, content.Text)
			continue
		}
		headings := skilltext.Headings(content.Text)
		i := skilltext.FindHeading(headings, heading)
		if i < 0 {
			return fmt.Errorf("%w: section %q of %q", ErrMissing, heading, path)
		}
		section := t.add(step.Need, doc, content.Text[headings[i].Start:headings[i].End])
		section.Source, section.First = content.Text, strings.Count(content.Text[:headings[i].Start], "\n")
		section.Count = strings.Count(section.Whole, "\n") + 1
	}
	return nil
}

func (t *Texts) add(skill, doc, whole string) *Text {
	text := &Text{Skill: skill, Doc: doc, Whole: strings.TrimSpace(whole)}
	for line := range strings.Lines(whole) {
		if line = strings.TrimSpace(line); line != "" {
			text.lines = append(text.lines, line)
		}
	}
	t.all = append(t.all, text)
	t.byName[[2]string{skill, doc}] = text
	return text
}

// All returns every text, bodies first.
func (t *Texts) All() []*Text { return t.all }

// Of returns the text of a need, the body first.
func (t *Texts) Of(step Step) []*Text {
	texts := []*Text{t.byName[[2]string{step.Need, ""}]}
	for _, doc := range step.Docs {
		texts = append(texts, t.byName[[2]string{step.Need, doc}])
	}
	return texts
}

// Find returns the texts that a message contains, each once. A message contains a text if it has
// all its lines in their order. Systems may indent, number or escape the lines. The zero Texts
// finds none.
func (t *Texts) Find(message string) []Span {
	if len(t.all) == 0 {
		return nil
	}
	if spans, ok := t.spans[message]; ok {
		return spans
	}
	spans := []Span{}
	for _, text := range t.all {
		if s, ok := text.in(message); ok {
			spans = append(spans, s)
		}
	}
	t.spans[message] = spans
	return spans
}

func (t *Text) in(message string) (Span, bool) {
	if len(t.lines) == 0 || len(message) < len(t.lines[0]) {
		return Span{}, false
	}
	if i := strings.Index(message, t.Whole); i >= 0 {
		return Span{t, i, i + len(t.Whole)}, true
	}
	from, to := -1, 0
	for _, line := range t.lines {
		i, n := index(message[to:], line)
		if i < 0 {
			return Span{}, false
		}
		if from < 0 {
			from = i
		}
		to += i + n
	}
	return Span{t, from, to}, true
}

// index finds a line unchanged, or with the escape with which Satchel writes an end tag in a skill's
// text.
func index(message, line string) (at, length int) {
	if i := strings.Index(message, line); i >= 0 || !strings.Contains(line, "</") {
		return i, len(line)
	}
	escaped := strings.ReplaceAll(line, "</", `<\/`)
	return strings.Index(message, escaped), len(escaped)
}
