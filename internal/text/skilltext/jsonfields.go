package skilltext

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"gopkg.in/yaml.v3"
)

// Fields returns the front matter of a SKILL.md as JSON values. The map is empty if the front
// matter cannot be read or is longer than [MaxFrontMatter]. A date is the author's text. Aliases
// are replaced by their values. A field is left out if its aliases would make the front matter
// longer than twice that length.
func Fields(text []byte) map[string]any {
	head := text[:max(FrontMatterEnd(text), 0)]
	if len(head) > MaxFrontMatter+maxFences {
		return map[string]any{}
	}
	lines := bytes.SplitAfter(bytes.TrimPrefix(head, UTF8BOM), []byte("\n"))
	var doc yaml.Node
	var all map[string]any
	for closing := 1; closing <= 2; closing++ { // the closing fence may lack its end
		if len(lines) <= closing {
			break
		}
		doc = yaml.Node{}
		if yaml.Unmarshal(bytes.Join(lines[1:max(len(lines)-closing, 1)], nil), &doc) != nil {
			continue
		}
		datesToText(&doc)
		dropLongFields(&doc)
		if doc.Decode(&all) == nil {
			break
		}
	}
	if plain, ok := Plain(all).(map[string]any); ok && plain != nil {
		return plain
	}
	return map[string]any{}
}

// dropLongFields removes the fields that exceed the allowed length after their aliases are
// replaced.
func dropLongFields(doc *yaml.Node) {
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return
	}
	m, room := doc.Content[0], 2*MaxFrontMatter
	fields := make([]*yaml.Node, 0, len(m.Content))
	for i := 0; i+1 < len(m.Content); i += 2 {
		left := room
		if subtractLength(m.Content[i], &left) && subtractLength(m.Content[i+1], &left) {
			fields, room = append(fields, m.Content[i:i+2]...), left
		}
	}
	m.Content = fields
}

// subtractLength subtracts the length of a value, with its aliases replaced, from room. It reports
// whether there was enough room.
func subtractLength(n *yaml.Node, room *int) bool {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
		*room--
	}
	if *room -= len(n.Value); *room < 0 {
		return false
	}
	for _, child := range n.Content {
		if *room--; !subtractLength(child, room) {
			return false
		}
	}
	return true
}

// datesToText turns dates into texts.
func datesToText(n *yaml.Node) {
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, child := range n.Content {
		datesToText(child)
	}
}

// Plain turns a value of YAML or TOML into one that JSON can represent.
func Plain(v any) any { return plain(v, 0) }

func plain(v any, depth int) any {
	if depth > maxNesting {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = plain(value, depth+1)
		}
		return out
	case map[any]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[fmt.Sprint(key)] = plain(value, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = plain(value, depth+1)
		}
		return out
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
		return v
	case string, bool, int, int64, uint64, nil:
		return v
	case time.Time:
		return v.Format(time.RFC3339)
	case fmt.Stringer:
		return v.String()
	}
	return fmt.Sprint(v)
}
