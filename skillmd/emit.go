package skillmd

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// emitter writes a subset of YAML that every reader understands in the same way:
// block collections, plain words, double quotes and literal blocks. The encoder of
// yaml.v3 is not used because its output for unusual text does not always read
// back.
type emitter struct{ b []byte }

func (e *emitter) line(s string) { e.b = append(append(e.b, s...), '\n') }

func (e *emitter) indent(level int) {
	for range level {
		e.b = append(e.b, "  "...)
	}
}

func (e *emitter) key(k string, level int) {
	e.indent(level)
	e.b = append(append(e.b, inlineText(k)...), ':')
}

// field writes a top-level text field.
func (e *emitter) field(k, v string) {
	e.key(k, 0)
	e.text(v, 0)
}

// text writes the rest of a line after a key at level: a space, the value v and a
// line break.
func (e *emitter) text(v string, level int) {
	if !isLiteralSafe(v) {
		e.line(" " + inlineText(v))
		return
	}
	e.line(" |-")
	for l := range strings.SplitSeq(v, "\n") {
		if l != "" {
			e.indent(level + 1)
		}
		e.line(l)
	}
}

// node writes the value of a key at level. A host may have built any node, so depth
// bounds the recursion, and what is neither a collection nor a scalar is written as
// null.
func (e *emitter) node(n *yaml.Node, level, depth int) {
	switch {
	case depth > maxDepth:
		e.line(" null")
	case n.Kind == yaml.MappingNode && len(n.Content) < 2:
		e.line(" {}")
	case n.Kind == yaml.MappingNode:
		e.line("")
		for i := 0; i+1 < len(n.Content); i += 2 {
			e.key(n.Content[i].Value, level+1)
			e.node(n.Content[i+1], level+1, depth+1)
		}
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		e.line(" []")
	case n.Kind == yaml.SequenceNode:
		e.line("")
		for _, c := range n.Content {
			e.indent(level + 1)
			e.b = append(e.b, '-')
			e.node(c, level+1, depth+1)
		}
	case n.Kind == yaml.ScalarNode && n.Style == 0 && isTypedPlain(n):
		// Numbers, booleans, dates and null keep the text that was written.
		e.line(strings.TrimRight(" "+n.Value, " "))
	case n.Kind == yaml.ScalarNode:
		e.text(n.Value, level)
	default:
		e.line(" null")
	}
}

// isTypedPlain reports that YAML does not read the plain text of n as a string, and
// that it fits on one line.
func isTypedPlain(n *yaml.Node) bool {
	plain := yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}
	if tag := plain.ShortTag(); tag == "!!str" || tag == "!!merge" || n.Tag != "" && n.ShortTag() != tag {
		return false
	}
	return !strings.ContainsFunc(n.Value, func(r rune) bool { return r < ' ' || r >= 0x7f })
}

// inlineText writes s as a plain word if every version of YAML reads that as a
// string, and else in double quotes.
func inlineText(s string) string {
	if isPlainSafe(s) {
		return s
	}
	return doubleQuoted(s)
}

func isPlainSafe(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	if !unicode.IsLetter(first) || !utf8.ValidString(s) {
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":") || strings.HasSuffix(s, " ") {
		return false
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null": // YAML 1.1
		return false
	}
	plain := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	return plain.ShortTag() == "!!str"
}

// isLiteralSafe reports whether a literal block without an indentation indicator
// represents s exactly.
func isLiteralSafe(s string) bool {
	if !strings.Contains(s, "\n") || strings.HasSuffix(s, "\n") || strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") {
		return false
	}
	for l := range strings.SplitSeq(s, "\n") {
		if l != "" && strings.TrimSpace(l) == "" {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) || r == utf8.RuneError })
}

// doubleQuoted writes s as a YAML double-quoted scalar on one line.
func doubleQuoted(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
