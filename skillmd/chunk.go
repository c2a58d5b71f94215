package skillmd

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// splitChunks cuts a block at the lines that look like a top-level key.
func splitChunks(block []byte) []chunk {
	var cs []chunk
	indent := topIndent(block)
	from := 0
	for n, pos := 0, 0; pos < len(block); n++ {
		end, next := skilltext.LineEnd(block, pos)
		line := block[pos:end]
		key, value, ok := keyLine(line, indent)
		if !ok {
			key, value, ok = strayKey(cs, line)
		}
		if ok {
			if len(cs) == maxChunks {
				return cs
			}
			from = pos
			cs = append(cs, chunk{key: key, inline: value, line: n, text: block[pos:next]})
		} else if len(cs) > 0 && cs[len(cs)-1].accepts(line, indent) {
			c := &cs[len(cs)-1]
			c.more = append(c.more, string(line))
			c.text = block[from:next]
		}
		pos = next
	}
	return cs
}

// strayKey recognises a name or a description that was indented by mistake, after a
// field that has its text on the same line as its key.
func strayKey(cs []chunk, line []byte) (key, value string, ok bool) {
	if len(cs) == 0 {
		return "", "", false
	}
	above := cs[len(cs)-1].inline
	if above == "" || isBlockHeader(above) || strings.IndexByte("\"'[{", above[0]) >= 0 {
		return "", "", false
	}
	key, value, ok = keyLine(line, len(line))
	if !ok || key != "name" && key != "description" {
		return "", "", false
	}
	return key, value, !slices.ContainsFunc(cs, func(c chunk) bool { return c.key == key })
}

// accepts reports whether line belongs to the chunk. Blank lines, lines that are deeper than
// the key, and list items do. So does a line that lost its indentation, if it does not follow
// a blank line and does not look like a field. The first other line closes the chunk.
func (c *chunk) accepts(line []byte, indent int) bool {
	trimmed := bytes.TrimSpace(line)
	switch {
	case c.closed:
		return false
	case len(trimmed) == 0:
		return true
	case len(line)-len(bytes.TrimLeft(line, " \t")) > indent, bytes.HasPrefix(trimmed, []byte("- ")):
		return true
	}
	afterBlank := len(c.more) > 0 && strings.TrimSpace(c.more[len(c.more)-1]) == ""
	entry := bytes.Contains(trimmed, []byte(": ")) || bytes.HasSuffix(trimmed, []byte(":"))
	c.closed = afterBlank || entry || trimmed[0] == '#' || trimmed[0] == '-'
	return !c.closed
}

// topIndent is the indentation of the first line that looks like a key.
func topIndent(block []byte) int {
	for pos := 0; pos < len(block); {
		end, next := skilltext.LineEnd(block, pos)
		line := block[pos:end]
		if _, _, ok := keyLine(line, len(line)); ok {
			return len(line) - len(bytes.TrimLeft(line, " "))
		}
		pos = next
	}
	return 0
}

// keyLine splits a line "key: value" that is indented by at most indent
// spaces. Keys are ASCII words, quoted or not. For keys that this package knows, the space
// after the colon may be missing, and the colon may be the full-width one of a translation.
func keyLine(line []byte, indent int) (key, value string, ok bool) {
	rest := bytes.TrimLeft(line, " ")
	if len(line)-len(rest) > indent || len(rest) == 0 {
		return "", "", false
	}
	quote := byte(0)
	if rest[0] == '"' || rest[0] == '\'' {
		quote, rest = rest[0], rest[1:]
	}
	n := 0
	for n < len(rest) && n <= maxRepairedKey && isKeyByte(rest[n], n == 0) {
		n++
	}
	if n == 0 || n > maxRepairedKey {
		return "", "", false
	}
	key, rest = string(rest[:n]), rest[n:]
	if quote != 0 {
		if len(rest) == 0 || rest[0] != quote {
			return "", "", false
		}
		rest = rest[1:]
	}
	rest = bytes.TrimLeft(rest, " ")
	after, colon := bytes.CutPrefix(rest, []byte(":"))
	isWide := false
	if !colon {
		if after, isWide = bytes.CutPrefix(rest, []byte("：")); !isWide {
			return "", "", false
		}
	}
	isOdd := isWide || len(after) > 0 && after[0] != ' ' && after[0] != '\t'
	if isOdd && !isKnownKey(key) {
		return "", "", false
	}
	return key, string(bytes.TrimSpace(after)), true
}

func isKeyByte(c byte, first bool) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		return true
	case c >= '0' && c <= '9', c == '-', c == '.':
		return !first
	}
	return false
}

func isKnownKey(key string) bool {
	switch key {
	case "name", "description", "allowed-tools", "license", "compatibility":
		return true
	}
	return flagOf(key) != flagNone
}

// literal returns the value of the chunk as a person would read it: without surrounding
// quotes, and without the header of a block scalar. Nothing says where broken text ends, so
// the value is cut at the length of the longest description.
func (c chunk) literal() string {
	head, sep := c.inline, " "
	if isBlockHeader(head) {
		if head[0] == '|' {
			sep = "\n"
		}
		head = ""
	}
	parts := make([]string, 0, 1+len(c.more))
	for _, s := range append([]string{head}, c.more...) {
		if s = strings.TrimSpace(s); s != "" {
			parts = append(parts, s)
		}
	}
	text := unquote(strings.Join(parts, sep))
	if utf8.RuneCountInString(text) > maxDescription {
		text = string([]rune(text)[:maxDescription])
	}
	return text
}

func isBlockHeader(s string) bool {
	return s != "" && (s[0] == '|' || s[0] == '>') && strings.Trim(s[1:], "+-0123456789") == ""
}

// tools reads the items of a broken allowed-tools. It never returns nil, so the
// list restricts the skill.
func (c chunk) tools(line int) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: line}
	add := func(s string) {
		if s = unquote(strings.TrimSpace(s)); s != "" {
			list.Content = append(list.Content, textNode(s, line))
		}
	}
	if c.inline == "" {
		for _, s := range c.more {
			if item, ok := strings.CutPrefix(strings.TrimSpace(s), "- "); ok {
				add(item)
			}
		}
		return list
	}
	tokens, _ := skilltext.SplitTools(strings.TrimSuffix(strings.TrimPrefix(c.literal(), "["), "]"))
	for _, t := range tokens {
		add(t)
	}
	return list
}

// unquote removes one pair of quotes around a text, or an opening quote without a closing
// one.
func unquote(s string) string {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return s
	}
	q := s[:1]
	if len(s) >= 2 && strings.HasSuffix(s, q) {
		inner := s[1 : len(s)-1]
		if q == "'" {
			return strings.ReplaceAll(inner, "''", "'")
		}
		return strings.ReplaceAll(inner, `\"`, `"`)
	}
	if strings.Count(s, q) == 1 {
		return s[1:]
	}
	return s
}

// quoteInner quotes values inside a nested field that YAML would not read as text,
// above all those that contain ": ".
func quoteInner(text []byte) []byte {
	out := make([]byte, 0, len(text)+64)
	for pos := 0; pos < len(text); {
		end, next := skilltext.LineEnd(text, pos)
		line := text[pos:end]
		pos = next
		item := bytes.TrimLeft(line, " ")
		item = bytes.TrimPrefix(item, []byte("- "))
		_, value, ok := keyLine(item, len(item))
		if ok && needsQuotes(value) {
			trimmed := bytes.TrimRight(line, " \t")
			out = append(out, trimmed[:len(trimmed)-len(value)]...)
			line = []byte(doubleQuoted(value))
		}
		out = append(append(out, line...), '\n')
	}
	return out
}

func needsQuotes(value string) bool {
	return value != "" && (strings.Contains(value, ": ") || strings.HasSuffix(value, ":") ||
		strings.IndexByte("@`%*&!", value[0]) >= 0) && strings.IndexByte("\"'[{|>", value[0]) < 0
}

func textNode(s string, line int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: s, Line: line}
}
