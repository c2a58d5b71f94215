package skilltext

import "strings"

// codeTags are the HTML tags around code.
var codeTags = []string{"pre", "code"}

// InlineCode finds the inline code of a line, in order.
type InlineCode struct {
	unclosed map[string]bool // marks and tags that nothing closes in the rest of the line
}

// At returns the inline code with which rest, the rest of the line, begins: what is in it, and its
// length. isCode is false if it begins with none; then size is the length of the mark or tag that
// nothing closes, or 0. Code is between runs of as many backticks, or between the tags <code> or
// <pre>.
func (in *InlineCode) At(rest string) (content string, size int, isCode bool) {
	var mark string
	end := -1
	switch {
	case strings.HasPrefix(rest, "`"):
		size = len(rest) - len(strings.TrimLeft(rest, "`"))
		mark = rest[:size]
		if !in.unclosed[mark] {
			end = closingRun(rest[size:], size)
		}
	case strings.HasPrefix(rest, "<"):
		if mark = openTag(rest); mark == "" {
			return "", 0, false
		}
		size = strings.IndexByte(rest, '>') + 1
		if !in.unclosed[mark] {
			end = endTag(rest[size:], mark)
		}
	default:
		return "", 0, false
	}
	if end < 0 {
		if in.unclosed == nil {
			in.unclosed = make(map[string]bool)
		}
		in.unclosed[mark] = true
		return "", size, false
	}
	content = rest[size : size+end]
	size += end + len(mark)
	if mark[0] != '`' {
		size += len("</")
	}
	return content, size, true
}

// closingRun returns the index of the first run of exactly n backticks, or -1.
func closingRun(text string, n int) int {
	for i := 0; i < len(text); {
		next := strings.IndexByte(text[i:], '`')
		if next < 0 {
			return -1
		}
		i += next
		run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

// openTag returns the name of the tag of code with which text begins, or "". The tag ends in its
// first 200 bytes.
func openTag(text string) string {
	for _, name := range codeTags {
		if !isTag(text, "<"+name) {
			continue
		}
		if end := strings.IndexAny(text[1:min(len(text), maxTag)], "<>"); end >= 0 && text[end+1] == '>' && text[end] != '/' {
			return name
		}
	}
	return ""
}

// endTag returns the index of the first end tag of that name, or -1.
func endTag(text, name string) int {
	for i := 0; i < len(text); i++ {
		next := strings.Index(text[i:], "</")
		if next < 0 {
			return -1
		}
		if i += next; isTag(text[i:], "</"+name) {
			return i
		}
	}
	return -1
}

// isTag reports whether text begins with a tag, in any case.
func isTag(text, tag string) bool {
	return len(text) > len(tag) && strings.EqualFold(text[:len(tag)], tag) && strings.IndexByte("> \t", text[len(tag)]) >= 0
}

// cutCode returns a line up to the tag of code that ends in a later line, or all of it. Its first
// bytes up to from are no code. isBlock says that a tag is there with which a block begins. at is
// the offset of the line in the text.
func (b *blocks) cutCode(line string, from, at int, isBlock bool) string {
	var in InlineCode
	for i := from; i < len(line); {
		next := strings.IndexAny(line[i:], "`<\\")
		if next < 0 {
			break
		}
		i += next
		if line[i] == '\\' {
			i += 2
			continue
		}
		_, size, isCode := in.At(line[i:])
		if name := openTag(line[i:]); !isCode && name != "" {
			if isBlock = isBlock && i == from; isBlock || b.lastEnd(name) > at+i {
				b.tag, b.isBlock = name, isBlock
				return line[:i+size]
			}
		}
		i += max(size, 1)
	}
	return line
}

// lastEnd returns the offset of the last end tag of that name, or -1.
func (b *blocks) lastEnd(name string) int {
	if b.last == nil {
		b.last = make(map[string]int)
	}
	last, isKnown := b.last[name]
	if !isKnown {
		last = -1
		for i := endTag(b.text, name); i >= 0; i = endTag(b.text[last+1:], name) {
			last += i + 1
		}
		b.last[name] = last
	}
	return last
}
