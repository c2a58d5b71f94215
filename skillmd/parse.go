package skillmd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// ErrInvalid is wrapped by the error for every text that is not a usable skill.
var ErrInvalid = errors.New("not a usable skill")

// ErrNotSkill is wrapped, together with [ErrInvalid], by the error for a text that
// does not begin with front matter. Often such files are not meant to be skills.
var ErrNotSkill = fmt.Errorf("%w: no front matter", ErrInvalid)

// Document is the content of a SKILL.md.
type Document struct {
	// Skill is the front matter; its Location is empty. Name and Description are trimmed and
	// otherwise as written, except that a description loses invisible characters.
	Skill core.Skill
	// Body is the Markdown after the closing fence: LF line ends, no white
	// space at its start and end, valid UTF-8. It may be empty.
	Body string
	// BodyLine is the 1-based line of the file that Body starts at.
	BodyLine int
	// Metadata is the map behind Skill.Metadata, with its nested values. It is nil if there is
	// none.
	Metadata *yaml.Node
	// Extra are the top-level fields that the specification does not define, by
	// their key. It is nil if there are none, and does not hold the control flags.
	// The nodes have no aliases, anchors, tags or comments. Scalars keep the text that
	// was written, so 1.0 stays "1.0". Line counts in the file.
	Extra map[string]yaml.Node
	// UserInvocable reports that people may call the skill by its name. It is the field
	// user-invocable, or true without that field.
	UserInvocable bool
}

// Parse reads the text of a SKILL.md. It returns an error, which wraps [ErrInvalid], exactly if
// the text is not a usable skill under the mode. The diagnostics are ordered by line; with an
// error they contain at least one Error, or for [ErrNotSkill] in the Lenient mode a Warning. A
// document that is returned with an error holds what could be read and must not be used as a
// skill.
//
// Under the default mode a text is usable if it has a description that is not blank, and a name
// from the front matter or from the directory. Front matter that is not valid YAML is read
// field by field, and Skill.Repaired is set. See [Mode] for the other modes.
//
// Parse never panics and takes time linear in the length of the text. The caller bounds that
// length. The document shares no memory with the text.
func Parse(text []byte, opts ...Option) (Document, []Diagnostic, error) {
	p := parser{doc: Document{UserInvocable: true}}
	for _, o := range opts {
		if err := o(&p.config); err != nil {
			return p.doc, nil, err
		}
	}
	hasFrontMatter := p.parse(text)
	slices.SortStableFunc(p.diags, func(a, b Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	return p.doc, p.diags, p.err(hasFrontMatter)
}

// err returns the error of the parse: nil, or the first Error that was found.
func (p *parser) err(hasFrontMatter bool) error {
	file := cmp.Or(p.file, "SKILL.md")
	if !hasFrontMatter {
		return fmt.Errorf("parse %q: %w", file, ErrNotSkill)
	}
	for _, d := range p.diags {
		if d.Severity == Error {
			return fmt.Errorf("parse %q: line %d: %w: %s", file, d.Line, ErrInvalid, d.Message)
		}
	}
	return nil
}

// parse fills the document. It reports false for a text without front matter.
func (p *parser) parse(text []byte) bool {
	if order := utf16Order(text); order != "" {
		p.report(fatal, 1, codeUTF16, "text is UTF-16 (%s); save it as UTF-8", order)
		return true
	}
	s, ok := skilltext.Locate(text)
	if !ok {
		p.noFrontMatter(text)
		return false
	}
	p.checkOpening(text, s)
	if s.After < 0 {
		if p.mode != Lenient {
			p.report(fatal, s.OpenLine, codeUnclosed, "no line closes the front matter")
			return true
		}
		p.report(oddity, s.OpenLine, codeUnclosed, "no line closes the front matter; its end is guessed")
		looseEnd(&s, text)
	}
	p.offset = s.OpenLine
	p.frontMatter(text, &s)
	if p.metadataField != nil || p.doc.Extra != nil {
		p.needs(s.OpenLine)
	}
	p.checkRequired(s.OpenLine)
	p.body(text, s)
	return true
}

func (p *parser) noFrontMatter(text []byte) {
	w := oddity
	if p.mode != Lenient {
		w = fatal
	}
	if i := bytes.Index(text, []byte("\n---")); i >= 0 && i < maxLeading && bytes.Contains(text[i:min(len(text), i+maxLeading)], []byte("\nname:")) {
		p.report(w, 1, codeNoFrontMatter, "front matter does not start on the first line")
		return
	}
	p.report(w, 1, codeNoFrontMatter, "text does not begin with front matter")
}

func (p *parser) checkOpening(text []byte, s skilltext.Span) {
	if bytes.HasPrefix(text, skilltext.UTF8BOM) {
		p.report(refNote, 1, codeBOM, "text begins with a byte order mark")
	}
	if s.OpenLine > 1 {
		p.report(must, 1, codeLeadingBlank, "blank lines stand before the front matter")
	}
}

// frontMatter reads the fields in the span s of text. If the front matter turns out to end at
// an odd fence, it moves the end of s there.
func (p *parser) frontMatter(text []byte, s *skilltext.Span) {
	raw := text[s.Start:s.End]
	if len(raw) > skilltext.MaxFrontMatter {
		p.report(must, s.OpenLine, codeTooLarge, "front matter has %d bytes; at most %d are read", len(raw), skilltext.MaxFrontMatter)
		if p.mode == Lenient {
			block, _ := p.cleanText(raw, s.OpenLine+1, controlMark)
			p.repair(block)
		}
		return
	}
	block, lost := p.cleanText(raw, s.OpenLine+1, controlMark)
	p.doc.Skill.Repaired = s.Guessed || lost
	m, err := decodeMapping(block)
	if err == nil {
		p.apply(p.fields(m))
		if p.doc.Skill.Repaired {
			p.failClosed(block)
		}
		return
	}
	line, msg := p.yamlProblem(err)
	p.report(must, cmp.Or(line, s.OpenLine+1), yamlCode(err), "%s", msg)
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
		return codeYAMLPanic
	case errors.Is(err, errNotMapping):
		return codeNotMapping
	}
	return codeYAMLInvalid
}

// checkRequired reports missing fields. In a strict mode, front matter that could
// not be read at all already has its Error.
func (p *parser) checkRequired(line int) {
	if p.mode != Lenient && p.failed && !p.present.description && p.doc.Skill.Name == "" {
		return
	}
	if !p.present.description && !p.shortDescription() {
		p.report(fatal, line, codeDescriptionMissing, "description is missing")
	}
	p.addWhenToUse()
	p.nameLine = cmp.Or(p.nameLine, line)
	p.checkName()
}

// body reads the text after the front matter.
func (p *parser) body(text []byte, s skilltext.Span) {
	line := s.OpenLine + countLines(text[s.Start:s.After])
	body, _ := p.cleanText(text[s.After:], line+1, utf8.RuneError)
	start := bytes.TrimLeftFunc(body, unicode.IsSpace)
	p.doc.BodyLine = line + 1 + bytes.Count(body[:len(body)-len(start)], []byte("\n"))
	p.doc.Body = string(bytes.TrimRightFunc(start, unicode.IsSpace))
	if at := printable.FirstInvisible(p.doc.Body); at >= 0 {
		p.report(oddity, p.doc.BodyLine+strings.Count(p.doc.Body[:at], "\n"), codeInvisible, "the body holds invisible characters, which models read")
	}
}

// countLines counts the line ends of raw text.
func countLines(b []byte) int {
	n := 0
	for pos := 0; pos < len(b); n++ {
		_, pos = skilltext.LineEnd(b, pos)
	}
	return n
}

// Mode says which texts count as usable skills.
type Mode uint8

// The modes.
const (
	// Lenient, the default, accepts every file that says what the skill does. It
	// repairs invalid YAML and takes a missing name from the directory.
	Lenient Mode = iota
	// Strict takes what the specification's MUSTs allow.
	Strict
	// SkillsRef takes what the skills-ref reference tool takes. Unlike Strict it rejects
	// unknown fields, flow collections, anchors, aliases, tags, a byte order mark, and a
	// description of more than 1024 characters with the blanks around it. It does not imitate
	// that tool's split at any "---".
	SkillsRef
)

// Option changes how [Parse] reads a text.
type Option func(*config) error

type config struct {
	mode Mode
	dir  string
	file string
}

// WithMode sets the mode; the default is [Lenient]. An unknown mode counts as
// [SkillsRef], the strictest one.
func WithMode(m Mode) Option {
	return func(s *config) error { s.mode = min(m, SkillsRef); return nil }
}

// WithDirName sets the base name of the directory that holds the file. The name of
// the skill must match it, and in the [Lenient] mode it replaces a missing name.
// The default, "", means that the directory is unknown and nothing is compared.
func WithDirName(name string) Option {
	return func(s *config) error { s.dir = name; return nil }
}

// WithFile sets the file name that diagnostics and the error show.
func WithFile(name string) Option {
	return func(s *config) error { s.file = name; return nil }
}

// weight says how severe a finding is in each mode.
type weight uint8

const (
	note       weight = iota // Info in every mode
	oddity                   // Warning in every mode
	ref                      // Error in SkillsRef, not reported elsewhere
	refOdd                   // Error in SkillsRef, Warning elsewhere
	refNote                  // Error in SkillsRef, Info elsewhere
	must                     // Error in Strict and SkillsRef, Warning in Lenient
	strict                   // Error in Strict, Warning elsewhere: the reference tool accepts it
	strictNote               // Error in Strict, Info elsewhere: the reference tool accepts it
	fatal                    // Error in every mode
)

// severity returns the severity of the finding in mode m, and false if m does not report it.
func (w weight) severity(m Mode) (Severity, bool) {
	switch w {
	case note:
		return Info, true
	case oddity:
		return Warning, true
	case must:
		if m == Lenient {
			return Warning, true
		}
	case strict:
		if m != Strict {
			return Warning, true
		}
	case strictNote:
		if m != Strict {
			return Info, true
		}
	case ref, refOdd, refNote:
		switch {
		case m == SkillsRef:
			return Error, true
		case w == refOdd:
			return Warning, true
		case w == refNote:
			return Info, true
		}
		return 0, false
	}
	return Error, true
}

// parser is the state of one parse: the settings, the document and the findings.
type parser struct {
	config
	doc                Document
	diags              []Diagnostic
	failed             bool // diags has an Error
	offset             int  // line n of the front matter is line offset+n of the file
	nameLine           int
	hasUnprintableName bool
	aliasBytes         int // bytes of text that were copied because of aliases
	present            requiredFields
	metadataField      *yaml.Node // the field metadata, of any kind
	whenToUse          string     // to append to the description
}

// report adds a finding at a line of the file.
func (p *parser) report(w weight, line int, code Code, format string, args ...any) {
	sev, ok := w.severity(p.mode)
	if !ok || sev != Error && len(p.diags) >= maxDiagnostics {
		return
	}
	if sev == Error && p.failed && len(p.diags) >= 2*maxDiagnostics {
		return
	}
	p.diags = append(p.diags, Diagnostic{
		File: p.file, Line: line, Code: code, Severity: sev, Message: fmt.Sprintf(format, args...),
	})
	p.failed = p.failed || sev == Error
}
