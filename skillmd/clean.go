package skillmd

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/internal/text/printable"
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

// unmark writes r for the control characters in a value.
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

// isControl reports the control characters that YAML forbids, and DEL.
func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff
}

// isUnprintable reports a text with control characters, line breaks among them, with
// invisible characters that its script does not need, or with what stands for characters
// that were replaced.
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
	p.report(must, line, codeControl, "control characters in %s are replaced", quote(field))
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

// MaxFrontMatter is how many bytes of front matter are read as YAML. Real front
// matter stays below a few kilobytes. Longer front matter is an error in the strict
// modes; the [Lenient] mode reads its beginning line by line.
const MaxFrontMatter = 64 << 10

var utf8BOM = []byte("\xef\xbb\xbf")

// span is the place of the front matter in a text, in bytes of the raw text.
type span struct {
	openLine int // 1-based line of the opening fence
	start    int // first byte after the opening fence line
	end      int // first byte of the closing fence line
	after    int // first byte after the closing fence line, or -1
	broken   bool
}

// FrontMatterEnd returns the offset just after the line of the closing fence, or -1
// if text does not contain the whole front matter yet. text may be the beginning of
// a longer file; a fence without its line break does not count, because the line
// may go on. Parse(text[:FrontMatterEnd(text)]) finds the same skill as
// Parse(text).
func FrontMatterEnd(text []byte) int {
	s, ok := locate(text)
	if !ok || s.after < 0 {
		return -1
	}
	last := text[s.after-1]
	if last != '\n' && (last != '\r' || s.after == len(text)) {
		return -1
	}
	return s.after
}

// locate finds the fences. The opening fence is the first line that is not blank;
// the closing fence is the next line that consists of "---" at column 0 and blanks.
// Unlike in parsers that split at substrings, a "---" inside a line is text.
func locate(text []byte) (span, bool) {
	s := span{after: -1}
	pos := 0
	if bytes.HasPrefix(text, utf8BOM) {
		pos = len(utf8BOM)
	}
	for {
		if pos >= len(text) {
			return s, false
		}
		end, next := lineEnd(text, pos)
		s.openLine++
		if isFence(text[pos:end]) {
			s.start = next
			break
		}
		if len(bytes.TrimSpace(text[pos:end])) > 0 {
			return s, false
		}
		pos = next
	}
	for pos = s.start; pos < len(text); {
		end, next := lineEnd(text, pos)
		if isFence(text[pos:end]) {
			s.end, s.after = pos, next
			return s, true
		}
		pos = next
	}
	s.end = len(text)
	return s, true
}

// looseEnd sets the end of front matter that nothing closes. It ends at a line that
// begins with "---", at an indented "---", or at a blank line before text that
// cannot belong to it, whichever comes first.
func (s *span) looseEnd(text []byte) {
	s.broken = true
	s.end, s.after = len(text), len(text)
	blank := -1
	limit := min(len(text), s.start+MaxFrontMatter)
	for pos := s.start; pos < limit; {
		end, next := lineEnd(text, pos)
		line := text[pos:end]
		trimmed := bytes.TrimSpace(line)
		_, _, key := keyLine(line, 0)
		switch {
		case len(trimmed) == 0:
			if blank < 0 {
				blank = pos
			}
		case bytes.HasPrefix(line, []byte("---")), bytes.Equal(trimmed, []byte("---")):
			s.end, s.after = pos, next
			return
		case blank >= 0 && line[0] != ' ' && line[0] != '\t' && !key:
			s.end, s.after = blank, blank
			return
		default:
			blank = -1
		}
		pos = next
	}
	if len(text) > limit {
		s.end, s.after = limit, limit
	}
}

func isFence(line []byte) bool {
	return len(line) >= 3 && string(line[:3]) == "---" && len(bytes.TrimRight(line[3:], " \t")) == 0
}

// lineEnd returns where the line that contains pos ends and where the next one
// begins. LF, CR LF and CR end a line. It looks at each byte once; separate
// searches for LF and CR would take quadratic time in texts that have only one of
// them.
func lineEnd(b []byte, pos int) (end, next int) {
	for i := pos; i < len(b); i++ {
		switch {
		case b[i] == '\n':
			return i, i + 1
		case b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n':
			return i, i + 2
		case b[i] == '\r':
			return i, i + 1
		}
	}
	return len(b), len(b)
}
