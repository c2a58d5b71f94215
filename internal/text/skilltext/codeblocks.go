package skilltext

import (
	"iter"
	"strings"
)

// container is a block quote or a list item.
type container struct {
	isQuote bool
	width   int // how many columns the text of a list item is indented
}

// blocks finds the code blocks of a text, line by line.
type blocks struct {
	text   string
	open   []container
	isText bool   // the line before is text of a paragraph, so that this one cannot begin indented code
	fence  string // the mark that opened the fenced code
	// tag is the name of the HTML tag that opened the code. isBlock says that the tag began its
	// line, so that its container ends the code too.
	tag     string
	isBlock bool
	last    map[string]int // where the last end tags begin
}

// Prose yields the lines of a Markdown text outside code blocks, without their line ends, and their
// numbers from 0. Code blocks are fenced, indented, or stand between the tags <pre> or <code>. They
// may be in block quotes and list items, up to a depth of 32. Where code of a tag begins or ends in
// a line, Prose yields the tag and the text on its other side.
func Prose(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		b, number, at := blocks{text: text}, 0, 0
		for line := range strings.Lines(text) {
			prose, ok := b.prose(strings.TrimRight(line, "\r\n"), at)
			if ok && !yield(number, prose) {
				return
			}
			number++
			at += len(line)
		}
	}
}

// prose returns the part of a line outside code blocks, or false if the line is code. at is the
// offset of the line.
func (b *blocks) prose(line string, at int) (string, bool) {
	c := cursor{rest: line}
	matched := 0
	for matched < len(b.open) && c.enter(b.open[matched]) {
		matched++
	}
	isInside := matched == len(b.open)
	switch {
	case b.fence != "" && isInside:
		if columns, trimmed := c.indent(); columns < 4 && closesFence(trimmed, b.fence) {
			b.fence = ""
		}
		return "", false
	case b.tag != "" && (isInside || !b.isBlock):
		end := endTag(c.rest, b.tag)
		if end < 0 {
			return "", false
		}
		b.tag, b.isText = "", !b.isBlock
		from := len(line) - len(c.rest) + end
		return b.cutCode(line, from, at, false), true
	}
	b.fence, b.tag = "", ""
	return b.begin(&c, line, matched, at)
}

// begin returns the prose of a line that no open code continues. The first so many containers go on
// in it.
func (b *blocks) begin(c *cursor, line string, matched, at int) (string, bool) {
	isNew := b.beginContainers(c, matched)
	columns, trimmed := c.indent()
	isLazy := b.isText && !isNew // the paragraph goes on without the marks of its containers
	mark := codeFence(trimmed)
	level, _ := heading(trimmed)
	switch {
	case trimmed == "":
		b.close(matched, isNew)
		b.isText = false
	case columns >= 4 && !isLazy:
		b.close(matched, isNew)
		b.isText = false
		return "", false
	case columns >= 4:
		return b.cutCode(line, 0, at, false), true
	case mark != "" && opensFence(trimmed, mark):
		b.close(matched, isNew)
		b.fence, b.isText = mark, false
		return "", false
	case level > 0 || isBreak(trimmed):
		b.close(matched, isNew)
		b.isText = false
		return b.cutCode(line, 0, at, false), true
	default:
		isBlock := openTag(trimmed) == "pre"
		if isBlock || !isLazy {
			b.close(matched, isNew)
		}
		b.isText = true
		return b.cutCode(line, len(line)-len(trimmed), at, isBlock), true
	}
	return line, true
}

// close closes the containers after the first so many, unless new ones have replaced them.
func (b *blocks) close(matched int, isNew bool) {
	if !isNew {
		b.open = b.open[:matched]
	}
}

// beginContainers opens the block quotes and list items that begin in a line, and reports whether
// there are any.
func (b *blocks) beginContainers(c *cursor, matched int) (isNew bool) {
	for len(b.open) < maxContainers || matched < len(b.open) && !isNew {
		columns, trimmed := c.indent()
		if columns >= 4 || trimmed == "" {
			return isNew
		}
		next := container{isQuote: trimmed[0] == '>'}
		if next.isQuote {
			c.enter(next)
		} else {
			width, isOne := listMarker(trimmed)
			// In a paragraph, a list begins only with 1 and with text.
			interrupts := b.isText && !isNew && matched == len(b.open)
			if width == 0 || interrupts && (!isOne || strings.TrimLeft(trimmed[width:], " \t") == "") {
				return isNew
			}
			c.skip(columns)
			c.rest, c.column = c.rest[width:], c.column+width
			next.width = columns + width + 1
			if spaces, text := c.indent(); spaces < 5 && text != "" {
				next.width += spaces - 1
				c.skip(spaces)
			} else {
				c.skip(1)
			}
		}
		b.close(matched, isNew)
		b.open, isNew, b.isText = append(b.open, next), true, false
	}
	return isNew
}

// listMarker returns the length of the mark with which a list item begins, or 0. isOne reports
// whether the mark is a bullet or the number 1.
func listMarker(line string) (width int, isOne bool) {
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	switch {
	case digits == len(line) || digits > 9 || isBreak(line):
		return 0, false
	case digits == 0 && strings.IndexByte("-+*", line[0]) < 0, digits > 0 && line[digits] != '.' && line[digits] != ')':
		return 0, false
	case len(line) > digits+1 && line[digits+1] != ' ' && line[digits+1] != '\t':
		return 0, false
	}
	return digits + 1, digits == 0 || line[:digits] == "1"
}

// isBreak reports whether a line is a thematic break, such as "* * *".
func isBreak(line string) bool {
	mark := line[:min(len(line), 1)]
	return mark != "" && strings.Contains("-*_", mark) && strings.Trim(line, mark+" \t") == "" && strings.Count(line, mark) >= 3
}

// closesFence reports whether a line closes the code that a fence opened.
func closesFence(line, fence string) bool {
	return strings.HasPrefix(line, fence) && strings.Trim(strings.TrimLeft(line, fence[:1]), " \t") == ""
}

// cursor is a place in a line. Columns are counted with tab stops of 4.
type cursor struct {
	rest        string
	column, pad int // pad is how many columns of a tab before rest are left
}

// indent returns the columns of white space after the cursor, and the text after them.
func (c *cursor) indent() (columns int, trimmed string) {
	column, i := c.column, 0
	for ; i < len(c.rest) && (c.rest[i] == ' ' || c.rest[i] == '\t'); i++ {
		column += tabWidth(c.rest[i], column)
	}
	return column - c.column + c.pad, c.rest[i:]
}

func tabWidth(char byte, column int) int {
	if char == '\t' {
		return 4 - column%4
	}
	return 1
}

// skip moves past so many columns of white space.
func (c *cursor) skip(columns int) {
	used := min(c.pad, columns)
	c.pad -= used
	for columns -= used; columns > 0 && c.rest != "" && (c.rest[0] == ' ' || c.rest[0] == '\t'); {
		width := tabWidth(c.rest[0], c.column)
		c.rest, c.column = c.rest[1:], c.column+width
		c.pad = max(0, width-columns)
		columns -= width
	}
}

// enter moves past the marks with which a line continues a container, and reports whether it does.
func (c *cursor) enter(in container) bool {
	columns, trimmed := c.indent()
	switch {
	case in.isQuote && columns < 4 && strings.HasPrefix(trimmed, ">"):
		c.skip(columns)
		c.rest, c.column = c.rest[1:], c.column+1
		c.skip(1)
		return true
	case in.isQuote:
		return false
	case trimmed == "":
		return true
	case columns >= in.width:
		c.skip(in.width)
		return true
	}
	return false
}
