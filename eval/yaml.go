package eval

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"
)

// decodeYAML returns the value of a YAML document. It converts the nodes itself, because yaml.v3
// compares each key of a map with all others, which takes minutes for a large map.
func decodeYAML(content []byte) (root any, err error) {
	defer func() {
		if r := recover(); r != nil { // yaml.v3 panics on some malformed input
			err = fmt.Errorf("is not YAML: %v", r)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(content))
	var document, more yaml.Node
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return nil, errors.New("holds comments alone")
	} else if err != nil {
		return nil, err
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document")
	}
	c := yamlConverter{}
	return c.value(&document, 0)
}

// yamlConverter converts nodes, and counts them, those of aliases each time.
type yamlConverter struct{ nodes int }

func (c *yamlConverter) value(n *yaml.Node, depth int) (any, error) {
	if c.nodes++; c.nodes > maxYAMLNodes || depth > maxYAMLDepth {
		return nil, fmt.Errorf("line %d: more than %d values, or more than %d inside each other", n.Line, maxYAMLNodes, maxYAMLDepth)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return c.value(n.Content[0], depth)
	case yaml.AliasNode:
		return c.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, element := range n.Content {
			var err error
			if list[i], err = c.value(element, depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.MappingNode:
		object := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			value, err := c.value(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			if key := n.Content[i]; key.Kind == yaml.ScalarNode {
				object[key.Value] = value
			}
		}
		return object, nil
	}
	var scalar any
	err := n.Decode(&scalar)
	return scalar, err
}
