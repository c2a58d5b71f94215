package skillneeds

import (
	"encoding/json"
	"strings"

	"gopkg.in/yaml.v3"
)

// entry is an item of a list of names.
type entry struct {
	node *yaml.Node
	// isOptional reports that the skill works without it.
	isOptional bool
}

// entries returns the items of a list, see [items], or of the lists required and optional of a map.
func entries(n *yaml.Node) []entry {
	if !isGrouped(n) {
		return items(n)
	}
	all := items(field(n, "required"))
	for _, e := range items(field(n, "optional")) {
		all = append(all, entry{e.node, true})
	}
	return all
}

// items returns the items of a list, or of a map from names to remarks. A text is a list with commas, or one
// name. n may be nil.
func items(n *yaml.Node) []entry {
	if n == nil || isNull(n) {
		return nil
	}
	var all []entry
	switch {
	case n.Kind == yaml.MappingNode && field(n, "name") == nil:
		for i := 0; i+1 < len(n.Content); i += 2 {
			all = append(all, entry{n.Content[i], saysOptional(n.Content[i+1])})
		}
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			all = append(all, entry{item, isOptional(item)})
		}
	case n.Kind == yaml.ScalarNode && strings.Contains(n.Value, ","):
		return items(words(n))
	default:
		all = []entry{{n, isOptional(n)}}
	}
	return all
}

// isGrouped reports whether a map has lists of what is required and optional.
func isGrouped(n *yaml.Node) bool {
	is := func(list *yaml.Node) bool {
		return list != nil && !isBool(list, "true", "yes") && !isBool(list, "false", "no")
	}
	return n.Kind == yaml.MappingNode && field(n, "name") == nil && (is(field(n, "required")) || is(field(n, "optional")))
}

// isOptional reports whether an item is a map that says that it is optional.
func isOptional(item *yaml.Node) bool {
	if item.Kind != yaml.MappingNode {
		return false
	}
	if len(item.Content) == 2 { // a name and a remark
		return saysOptional(item.Content[1])
	}
	return saysOptional(item)
}

// saysOptional reports whether what stands beside a name says that it is optional: a text that begins with
// that word, or a map with required: false or optional: true.
func saysOptional(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		word, _, _ := strings.Cut(strings.TrimSpace(n.Value), " ")
		return strings.EqualFold(strings.TrimRight(word, ":.,;-"), "optional")
	}
	required, optional := field(n, "required"), field(n, "optional")
	return required != nil && isBool(required, "false", "no") || optional != nil && isBool(optional, "true", "yes")
}

// isBool reports whether a value is one of two words, which may be quoted.
func isBool(n *yaml.Node, word, other string) bool {
	return n.Kind == yaml.ScalarNode && (strings.EqualFold(n.Value, word) || strings.EqualFold(n.Value, other))
}

// words returns a list with the words of a text, which is a JSON list or has commas or white space
// between them.
func words(n *yaml.Node) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Line: n.Line}
	var texts []string
	if isNull(n) {
		return list
	}
	if json.Unmarshal([]byte(n.Value), &texts) != nil {
		texts = strings.FieldsFunc(n.Value, func(r rune) bool { return strings.ContainsRune(", \t\n", r) })
	}
	for _, text := range texts {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: n.Line})
	}
	return list
}

// nameOf returns the text of an item, or of its field name. Of a map with another key alone it
// returns that key, because its value is a remark.
func nameOf(item *yaml.Node) string {
	if item.Kind == yaml.MappingNode {
		named := field(item, "name")
		if named == nil && len(item.Content) == 2 && item.Content[1].Kind == yaml.ScalarNode {
			named = item.Content[0]
		}
		item = named
	}
	if item == nil || item.Kind != yaml.ScalarNode || isNull(item) {
		return ""
	}
	return strings.TrimSpace(item.Value)
}
