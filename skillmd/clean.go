package skillmd

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// cleanText makes raw text safe to read: LF line ends, valid UTF-8, and no control
// characters but tab and LF. line is the file line of its first byte. If there is
// nothing to do it returns raw itself. control stands for control characters. lost
// reports whether characters were replaced.
func (p *parser) cleanText(raw []byte, line int, control rune) (text []byte, lost bool) {
	if isClean(raw) {
		return raw, false
	}
	out := make([]byte, 0, len(raw)+16)
	var badUTF8, controls, crlf int // lines of the first ones
	first := func(at *int) {
		if *at == 0 {
			*at = line
		}
	}
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		switch {
		case r == '\r':
			first(&crlf)
			if i+1 < len(raw) && raw[i+1] == '\n' {
				size = 2
			}
			r = '\n'
		case r == utf8.RuneError && size == 1:
			first(&badUTF8)
		case isControl(r):
			first(&controls)
			r = control
		}
		if r == '\n' {
			line++
		}
		out = utf8.AppendRune(out, r)
		i += size
	}
	p.reportOnce(note, crlf, codeCRLF, "lines end in CR LF or CR")
	p.reportOnce(must, badUTF8, codeInvalidUTF8, "bytes that are not UTF-8 are replaced")
	p.reportOnce(strict, controls, codeControl, "control characters are replaced")
	return out, badUTF8 > 0 || controls > 0
}

// controlMark stands for a control character in front matter until the field is known: a
// noncharacter, which YAML takes and no text should hold.
const controlMark = '\uFDD1'

// unmark replaces the control marks in a value, and in the values below it, by r.
func unmark(n *yaml.Node, r string) {
	if n == nil {
		return
	}
	n.Value = strings.ReplaceAll(n.Value, string(controlMark), r)
	for _, c := range n.Content {
		unmark(c, r)
	}
}

// reportOnce reports a finding once per file. A line of 0 means that there is
// nothing to report.
func (p *parser) reportOnce(w weight, line int, code Code, msg string) {
	if line == 0 {
		return
	}
	for _, d := range p.diags {
		if d.Code == code {
			return
		}
	}
	p.report(w, line, code, "%s", msg)
}

// isClean reports whether cleanText has nothing to do.
func isClean(b []byte) bool {
	for i, c := range b {
		switch {
		case c >= ' ' && c < 0x7f, c == '\n', c == '\t':
		case c < 0x80:
			return false
		case c == 0xc2: // U+0080 to U+009F, except NEL, which YAML reads as a line end
			if i+1 < len(b) && b[i+1] < 0xa0 && b[i+1] != 0x85 {
				return false
			}
		case c == 0xef: // U+FFFE and U+FFFF
			if i+2 < len(b) && b[i+1] == 0xbf && b[i+2] >= 0xbe {
				return false
			}
		}
	}
	return utf8.Valid(b)
}

// isControl reports whether r is a control character that YAML forbids, or DEL.
func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff
}

// isUnprintable reports whether a text holds control characters, line breaks, invisible
// characters that its script does not need, or U+FFFD, which replaces broken characters.
func isUnprintable(s string) bool {
	return printable.HasInvisible(s) || strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar
	})
}

// cleanValue trims a decoded value and replaces the control characters that
// YAML escapes can put into it.
func (p *parser) cleanValue(s, field string, line int) string {
	s = strings.TrimSpace(s)
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	p.report(must, line, codeControl, "control characters in %s are replaced", skilltext.Quote(field))
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// utf16Order names the byte order of text that begins with a UTF-16 mark.
func utf16Order(text []byte) string {
	switch {
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}):
		return "little-endian"
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		return "big-endian"
	}
	return ""
}

// looseEnd guesses the end of front matter that no fence closes. It ends at a line that
// begins with "---", at an indented "---", or at a blank line before text that
// cannot belong to it, whichever comes first.
func looseEnd(s *skilltext.Span, text []byte) {
	s.Guessed = true
	s.End, s.After = len(text), len(text)
	blank := -1
	limit := min(len(text), s.Start+skilltext.MaxFrontMatter)
	for pos := s.Start; pos < limit; {
		end, next := skilltext.LineEnd(text, pos)
		line := text[pos:end]
		trimmed := bytes.TrimSpace(line)
		_, _, key := keyLine(line, 0)
		switch {
		case len(trimmed) == 0:
			if blank < 0 {
				blank = pos
			}
		case bytes.HasPrefix(line, []byte("---")), bytes.Equal(trimmed, []byte("---")):
			s.End, s.After = pos, next
			return
		case blank >= 0 && line[0] != ' ' && line[0] != '\t' && !key:
			s.End, s.After = blank, blank
			return
		default:
			blank = -1
		}
		pos = next
	}
	if len(text) > limit {
		s.End, s.After = limit, limit
	}
}
