package library

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// front is the front matter of a SKILL.md in lines, so that one field can be changed
// and every other byte stays.
type front struct {
	lines   []string // with their line ends, without the fences
	opening string   // the opening fence and what comes before it
	rest    string   // the closing fence and the body
	ending  string
}

var topKey = regexp.MustCompile(`^(?:"([^"]*)"|'([^']*)'|([^\s#\-][^:#]*?|-[^\s:][^:]*?))\s*:(?:\s|$)`)

func splitFront(text string) (*front, bool) {
	end := skilltext.WholeFrontMatterEnd([]byte(text))
	if end < 0 {
		return nil, false
	}
	head := strings.SplitAfter(text[:end], "\n")
	if head[len(head)-1] == "" {
		head = head[:len(head)-1]
	}
	open := 0
	for open < len(head) && strings.TrimSpace(strings.TrimPrefix(head[open], "\uFEFF")) != "---" {
		open++
	}
	if open+1 >= len(head) {
		return nil, false
	}
	f := &front{opening: strings.Join(head[:open+1], ""), lines: head[open+1 : len(head)-1], ending: "\n"}
	f.rest = head[len(head)-1] + text[end:]
	if strings.HasSuffix(head[open], "\r\n") {
		f.ending = "\r\n"
	}
	return f, true
}

func (f *front) String() string { return f.opening + strings.Join(f.lines, "") + f.rest }

// block is the range of lines of one field.
type block struct {
	key      string
	from, to int
}

func keyIn(line string) string {
	m := topKey.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
	if m == nil {
		return ""
	}
	return m[1] + m[2] + m[3]
}

// blocks returns the fields in lines with that indentation. Comments and empty lines between
// fields belong to no field.
func blocks(lines []string, indent string) []block {
	var out []block
	for i, l := range lines {
		rest, ok := strings.CutPrefix(l, indent)
		if !ok || rest == "" || rest[0] == ' ' || rest[0] == '\t' {
			continue
		}
		if key := keyIn(rest); key != "" {
			out = append(out, block{key: key, from: i})
		}
	}
	for n := range out {
		to := len(lines)
		if n+1 < len(out) {
			to = out[n+1].from
		}
		for to > out[n].from+1 {
			l := strings.TrimSpace(lines[to-1])
			comment := strings.HasPrefix(l, "#") && len(lines[to-1])-len(strings.TrimLeft(lines[to-1], " \t")) <= len(indent)
			if l != "" && !comment {
				break
			}
			to--
		}
		out[n].to = to
	}
	return out
}

// set writes a field; a nil value removes it.
func (f *front) set(key string, value any) {
	f.lines = putFields(f.lines, "", map[string]any{key: value}, f.ending)
}

// putFields returns lines with the fields in values, at that indentation. A field that exists is
// replaced in its place; new fields follow at the end, sorted by key. A nil value removes a field.
func putFields(lines []string, indent string, values map[string]any, ending string) []string {
	out, pos := make([]string, 0, len(lines)+len(values)), 0
	left := maps.Clone(values)
	write := func(key string) {
		if value := left[key]; value != nil {
			out = append(out, indent+key+": "+yamlOf(value)+ending)
		}
		delete(left, key)
	}
	for _, b := range blocks(lines, indent) {
		if _, ok := left[b.key]; ok {
			out, pos = append(out, lines[pos:b.from]...), b.to
			write(b.key)
		}
	}
	out = append(out, lines[pos:]...)
	for _, key := range slices.Sorted(maps.Keys(left)) {
		write(key)
	}
	return out
}

// setMetadata writes keys of metadata. It returns false if metadata is written on one line.
func (f *front) setMetadata(values map[string]any) bool {
	if len(values) == 0 {
		return true
	}
	for _, b := range blocks(f.lines, "") {
		if b.key != "metadata" {
			continue
		}
		inline := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(f.lines[b.from]), "metadata:"))
		if i := strings.Index(inline, "#"); i >= 0 {
			inline = strings.TrimSpace(inline[:i])
		}
		head, inner := f.lines[b.from], f.lines[b.from+1:b.to]
		switch inline {
		case "":
		case "{}", "null", "~":
			head, inner = "metadata:"+f.ending, nil
		default:
			return false
		}
		indent := "  "
		for _, l := range inner {
			if t := strings.TrimLeft(l, " \t"); strings.TrimSpace(l) != "" && t[0] != '#' {
				indent = l[:len(l)-len(t)]
				break
			}
		}
		inner = putFields(inner, indent, values, f.ending)
		if len(blocks(inner, indent)) == 0 {
			head = "metadata: {}" + f.ending
		}
		f.lines = slices.Concat(f.lines[:b.from], []string{head}, inner, f.lines[b.to:])
		return true
	}
	if inner := putFields(nil, "  ", values, f.ending); len(inner) > 0 {
		f.lines = slices.Concat(f.lines, []string{"metadata:" + f.ending}, inner)
	}
	return true
}

var plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 ,.()/_+;'-]*[A-Za-z0-9.)]$`)
var notText = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)

// yamlOf writes a value on one line. Every JSON text is YAML.
func yamlOf(value any) string {
	if s, ok := value.(string); ok && plainText.MatchString(s) && !notText.MatchString(s) {
		return s
	}
	text, err := plainjson.Encode(value)
	if err != nil {
		return `""`
	}
	return text
}
