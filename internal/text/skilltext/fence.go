package skilltext

import "bytes"

// UTF8BOM is the byte order mark that some editors write at the beginning of a file.
var UTF8BOM = []byte("\xef\xbb\xbf")

// Span is the place of the front matter in a text, in bytes of the raw text.
type Span struct {
	OpenLine int  // 1-based line of the opening fence
	Start    int  // first byte after the opening fence line
	End      int  // first byte of the closing fence line
	After    int  // first byte after the closing fence line, or -1
	Guessed  bool // no fence closes the front matter
}

// FrontMatterEnd returns the offset after the line of the closing fence, or -1 if text does not
// contain the whole front matter. text may be the beginning of a longer file. So a fence counts
// only with its line break. Parse(text[:FrontMatterEnd(text)]) finds the same fields as
// Parse(text).
func FrontMatterEnd(text []byte) int {
	s, ok := Locate(text)
	if !ok || s.After < 0 {
		return -1
	}
	last := text[s.After-1]
	if last != '\n' && (last != '\r' || s.After == len(text)) {
		return -1
	}
	return s.After
}

// WholeFrontMatterEnd is [FrontMatterEnd] for a whole file, where the closing fence may be
// the last line and lack its line break.
func WholeFrontMatterEnd(text []byte) int {
	end := FrontMatterEnd(text)
	if end < 0 && !bytes.HasSuffix(text, []byte("\n")) {
		end = min(FrontMatterEnd(append(text[:len(text):len(text)], '\n')), len(text))
	}
	return end
}

// Locate finds the fences. The opening fence is the first line that is not blank;
// the closing fence is the next line that consists of "---" at column 0 and blanks.
// Unlike in parsers that split at substrings, a "---" inside a line is text.
func Locate(text []byte) (Span, bool) {
	s := Span{After: -1}
	pos := 0
	if bytes.HasPrefix(text, UTF8BOM) {
		pos = len(UTF8BOM)
	}
	for {
		if pos >= len(text) {
			return s, false
		}
		end, next := LineEnd(text, pos)
		s.OpenLine++
		if isFence(text[pos:end]) {
			s.Start = next
			break
		}
		if len(bytes.TrimSpace(text[pos:end])) > 0 {
			return s, false
		}
		pos = next
	}
	for pos = s.Start; pos < len(text); {
		end, next := LineEnd(text, pos)
		if isFence(text[pos:end]) {
			s.End, s.After = pos, next
			return s, true
		}
		pos = next
	}
	s.End = len(text)
	return s, true
}

func isFence(line []byte) bool {
	return len(line) >= 3 && string(line[:3]) == "---" && len(bytes.TrimRight(line[3:], " \t")) == 0
}

// LineEnd returns the offsets at which the line that contains pos ends and the next one begins.
// LF, CR LF and CR end a line. It reads each byte once: separate searches for LF and CR would
// take quadratic time in texts that have only one of them.
func LineEnd(b []byte, pos int) (end, next int) {
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
