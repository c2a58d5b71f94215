package skillmd

import (
	"bytes"
	"encoding/json"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// metadata keeps the map twice: as YAML nodes, and with each value as text. Half of the
// real maps have values that are not strings.
func (p *parser) metadata(f field) {
	p.doc.Metadata, p.doc.Skill.Metadata, p.metadataField = nil, nil, f.value
	if f.value == nil { // vet has refused and reported it
		return
	}
	if text, ok := scalar(f.value); ok && text == "" {
		return
	}
	if f.value.Kind != yaml.MappingNode {
		what := "metadata is not a map and is ignored"
		if text, ok := scalar(f.value); ok && json.Valid([]byte(text)) && strings.HasPrefix(strings.TrimSpace(text), "{") {
			what = "metadata is JSON text and not a map; only what it declares to need is read"
		}
		p.report(must, f.line, codeMetadataType, "%s", what)
		return
	}
	c := f.value.Content
	m := make(map[string]string, len(c)/2)
	for i := 0; i+1 < len(c); i += 2 {
		key := c[i].Value
		if _, twice := m[key]; twice {
			p.report(must, c[i].Line, codeDuplicateKey, "key %s stands twice in metadata; the last value counts", skilltext.Quote(key))
		}
		if c[i+1].Kind != yaml.ScalarNode {
			p.reportOnce(strictNote, c[i].Line, codeMetadataNested, "value in metadata is not text; its text form is JSON")
		}
		m[key] = metadataText(c[i+1])
	}
	p.doc.Metadata, p.doc.Skill.Metadata = f.value, m
}

// metadataText returns a metadata value as text: a scalar as the author wrote it,
// anything else as JSON.
func metadataText(n *yaml.Node) string {
	if text, ok := scalar(n); ok {
		return text
	}
	var b bytes.Buffer
	writeJSON(&b, n)
	return b.String()
}

// writeJSON writes a vetted value as compact JSON with its keys in their order.
// Numbers keep their digits. What JSON cannot express, such as a date, becomes a
// string.
func writeJSON(b *bytes.Buffer, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		last := make(map[string]int, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			last[n.Content[i].Value] = i
		}
		sep := byte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if last[n.Content[i].Value] != i {
				continue
			}
			b.WriteByte(sep)
			sep = ','
			writeJSONString(b, n.Content[i].Value)
			b.WriteByte(':')
			writeJSON(b, n.Content[i+1])
		}
		if sep == '{' {
			b.WriteByte('{')
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSON(b, c)
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		writeJSONScalar(b, n)
	default:
		b.WriteString("null")
	}
}

func writeJSONScalar(b *bytes.Buffer, n *yaml.Node) {
	switch n.Tag {
	case "!!null":
		b.WriteString("null")
		return
	case "!!bool":
		b.WriteString(strings.ToLower(n.Value))
		return
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			b.WriteString(n.Value)
			return
		}
	}
	writeJSONString(b, n.Value)
}

// writeJSONString writes s without the HTML escapes of [json.Marshal].
func writeJSONString(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string into a buffer cannot fail
	b.Truncate(b.Len() - 1)
}
