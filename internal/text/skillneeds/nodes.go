package skillneeds

import (
	"encoding/json"
	"strings"

	"gopkg.in/yaml.v3"
)

// mapping returns a map. A text that is a JSON object is read. It returns nil for anything else.
func mapping(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		if text := strings.TrimSpace(n.Value); strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
			parsed := decode([]byte(text))
			setLine(parsed, n.Line)
			return mapping(parsed)
		}
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	return n
}

// setLine gives all nodes of a value the same line.
func setLine(n *yaml.Node, line int) {
	if n == nil {
		return
	}
	n.Line = line
	for _, c := range n.Content {
		setLine(c, line)
	}
}

// decode parses YAML, and returns nil if it is not valid.
func decode(text []byte) (n *yaml.Node) {
	defer func() {
		if recover() != nil { // yaml.v3 is known to panic on some malformed input
			n = nil
		}
	}()
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) != 1 {
		return nil
	}
	return doc.Content[0]
}

// field returns the last value of a key in a map, nil for none.
func field(m *yaml.Node, key string) *yaml.Node {
	var found *yaml.Node
	if m == nil || m.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			found = m.Content[i+1]
		}
	}
	return found
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == "!!null" || n.Value == "")
}
