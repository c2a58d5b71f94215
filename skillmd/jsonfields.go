package skillmd

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"gopkg.in/yaml.v3"
)

// maxNesting is how deep a value is kept.
const maxNesting = 32

// Fields is the front matter of a SKILL.md as JSON has it, {} if it cannot be read.
// Dates are the text that the author has written.
func Fields(text []byte) map[string]any {
	head := text[:max(FrontMatterEnd(text), 0)]
	lines := bytes.SplitAfter(bytes.TrimPrefix(head, utf8BOM), []byte("\n"))
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
		untimed(&doc)
		if doc.Decode(&all) == nil {
			break
		}
	}
	if plain, ok := Plain(all).(map[string]any); ok && plain != nil {
		return plain
	}
	return map[string]any{}
}

// untimed makes texts of dates.
func untimed(n *yaml.Node) {
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, child := range n.Content {
		untimed(child)
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
