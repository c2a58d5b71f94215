package skillmd

import "bytes"

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
