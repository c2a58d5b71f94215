package skillmd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/core"
)

// ErrInvalid is wrapped by the error of every text that is not a usable skill.
var ErrInvalid = errors.New("not a usable skill")

// ErrNotSkill is wrapped, together with [ErrInvalid], for a text that does not
// begin with front matter. Such files are often not meant as skills.
var ErrNotSkill = fmt.Errorf("%w: no front matter", ErrInvalid)

// Document is a SKILL.md as it was read.
type Document struct {
	// Skill is the front matter; its Location is empty. Name and Description
	// are trimmed and otherwise as written.
	Skill core.Skill
	// Body is the Markdown after the closing fence: LF line ends, no white
	// space at its start and end, valid UTF-8. It may be empty.
	Body string
	// BodyLine is the 1-based line of the file that Body starts at.
	BodyLine int
	// Metadata is the map behind Skill.Metadata with its nested values, nil
	// where there is none.
	Metadata *yaml.Node
	// Extra are the top-level fields that the specification does not define, by
	// their key. The nodes hold no aliases, anchors, tags or comments; scalars
	// keep the text that was written, so 1.0 stays "1.0"; Line counts in the
	// file. Nil where there are none. The control flags are not among them.
	Extra map[string]yaml.Node
	// UserInvocable reports that people may call the skill by its name:
	// user-invocable, true where it is absent.
	UserInvocable bool
}

// Parse reads the text of a SKILL.md. The error is not nil, and wraps
// [ErrInvalid], exactly if the text is not a usable skill under the mode; the
// diagnostics, ordered by line, then hold at least one Error, or for
// [ErrNotSkill] in the Lenient mode a Warning. A document that comes with an
// error holds what could be read and must not be used as a skill.
//
// Under the default mode a text is usable if it says what the skill does: a
// description that is not blank, and a name from the front matter or from the
// directory. Front matter that is not valid YAML is read field by field, and
// Skill.Repaired is set; see [Mode] for the others.
//
// Parse never panics, and takes time linear in the text. The caller bounds the
// size of the text; nothing of it is shared with the document.
func Parse(text []byte, opts ...Option) (Document, []Diagnostic, error) {
	p := parser{doc: Document{UserInvocable: true}}
	for _, o := range opts {
		o(&p.settings)
	}
	skill := p.parse(text)
	slices.SortStableFunc(p.diags, func(a, b Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	return p.doc, p.diags, p.err(skill)
}

// err is the error of a parse: none, or the first Error that was found.
func (p *parser) err(skill bool) error {
	if skill && p.failed == 0 {
		return nil
	}
	file := cmp.Or(p.file, "SKILL.md")
	if !skill {
		return fmt.Errorf("parse %q: %w", file, ErrNotSkill)
	}
	for _, d := range p.diags {
		if d.Severity == Error {
			return fmt.Errorf("parse %q: line %d: %w: %s", file, d.Line, ErrInvalid, d.Message)
		}
	}
	return fmt.Errorf("parse %q: %w", file, ErrInvalid)
}

// parse fills the document. It reports false for a text without front matter.
func (p *parser) parse(text []byte) bool {
	if order := utf16Order(text); order != "" {
		p.report(fatal, 1, CodeUTF16, "text is UTF-16 (%s); save it as UTF-8", order)
		return true
	}
	s, ok := locate(text)
	if !ok {
		p.noFrontMatter(text)
		return false
	}
	p.checkOpening(text, s)
	if s.after < 0 {
		if p.mode != Lenient {
			p.report(fatal, s.openLine, CodeUnclosed, "no line closes the front matter")
			return true
		}
		p.report(oddity, s.openLine, CodeUnclosed, "no line closes the front matter; its end is guessed")
		s.looseEnd(text)
	}
	p.offset = s.openLine
	p.frontMatter(text, &s)
	p.checkRequired(s.openLine)
	p.body(text, s)
	return true
}

func (p *parser) noFrontMatter(text []byte) {
	w := oddity
	if p.mode != Lenient {
		w = fatal
	}
	if i := bytes.Index(text, []byte("\n---")); i >= 0 && i < 4096 && bytes.Contains(text[i:min(len(text), i+4096)], []byte("\nname:")) {
		p.report(w, 1, CodeNoFrontMatter, "front matter does not start on the first line")
		return
	}
	p.report(w, 1, CodeNoFrontMatter, "text does not begin with front matter")
}

func (p *parser) checkOpening(text []byte, s span) {
	if bytes.HasPrefix(text, utf8BOM) {
		p.report(refNote, 1, CodeBOM, "text begins with a byte order mark")
	}
	if s.openLine > 1 {
		p.report(must, 1, CodeLeadingBlank, "blank lines stand before the front matter")
	}
}

// frontMatter reads the fields. It may move the end of the span.
func (p *parser) frontMatter(text []byte, s *span) {
	raw := text[s.start:s.end]
	if len(raw) > MaxFrontMatter {
		p.report(must, s.openLine, CodeTooLarge, "front matter has %d bytes; at most %d are read", len(raw), MaxFrontMatter)
		if p.mode == Lenient {
			block, _ := p.cleanText(raw, s.openLine+1)
			p.repair(block)
		}
		return
	}
	block, lost := p.cleanText(raw, s.openLine+1)
	p.doc.Skill.Repaired = s.broken || lost
	m, err := decodeMapping(block)
	if err == nil {
		p.apply(p.fields(m))
		if p.doc.Skill.Repaired {
			p.failClosed(block)
		}
		return
	}
	line, msg := p.yamlProblem(err)
	p.report(must, cmp.Or(line, s.openLine+1), yamlCode(err), "%s", msg)
	if p.mode != Lenient {
		return
	}
	p.doc.Skill.Repaired = true
	if p.oddClose(text, s) {
		p.failClosed(block)
		return
	}
	p.repair(block)
}

func yamlCode(err error) Code {
	switch {
	case errors.Is(err, errPanic):
		return CodeYAMLPanic
	case errors.Is(err, errNotMapping):
		return CodeNotMapping
	}
	return CodeYAMLInvalid
}

// checkRequired reports missing fields. Under a strict mode, front matter that
// could not be read at all has its Error already.
func (p *parser) checkRequired(line int) {
	if p.mode != Lenient && p.failed > 0 && !p.seen.description && p.doc.Skill.Name == "" {
		return
	}
	if !p.seen.description {
		p.report(fatal, line, CodeDescriptionMissing, "description is missing")
	}
	p.nameLine = cmp.Or(p.nameLine, line)
	p.checkName()
}

// body takes the text after the front matter.
func (p *parser) body(text []byte, s span) {
	line := s.openLine + countLines(text[s.start:s.after])
	body, _ := p.cleanText(text[s.after:], line+1)
	start := bytes.TrimLeftFunc(body, unicode.IsSpace)
	p.doc.BodyLine = line + 1 + bytes.Count(body[:len(body)-len(start)], []byte("\n"))
	p.doc.Body = string(bytes.TrimRightFunc(start, unicode.IsSpace))
}

// countLines counts the line ends of raw text.
func countLines(b []byte) int {
	n := 0
	for pos := 0; pos < len(b); n++ {
		_, pos = lineEnd(b, pos)
	}
	return n
}
