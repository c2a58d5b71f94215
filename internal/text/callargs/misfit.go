package callargs

import (
	"github.com/satchel-go/satchel/internal/text/printable"

	"encoding/json"
	"fmt"
	"strings"
)

// A misfit is the error for a value that does not fit its schema. Its text is for the model and
// names types of JSON, not of Go.
type misfit struct {
	at      string // the part of the field, "" for the whole field
	want    string
	found   string
	example string // JSON of the right form
}

func (m *misfit) Error() string {
	at := m.at
	if at != "" {
		at += ": "
	}
	return fmt.Sprintf("%swant %s, found %s; such as %s", at, m.want, m.found, m.example)
}

// inField returns the misfit with its field in the example.
func (m *misfit) inField(name string) *misfit {
	return &misfit{m.at, m.want, m.found, "{" + string(quote(name)) + ":" + m.example + "}"}
}

// inElement returns the misfit as that of the i-th element of a list.
func (m *misfit) inElement(i int) *misfit {
	return &misfit{join(fmt.Sprint("element ", i+1), m.at), m.want, m.found, "[" + m.example + "]"}
}

// inList returns the misfit of a single element in place of a list.
func (m *misfit) inList() *misfit { return &misfit{m.at, m.want, m.found, "[" + m.example + "]"} }

// inProperty returns the misfit as that of a property. Its example also has the property that
// the object requires.
func (m *misfit) inProperty(schema map[string]any, name string) *misfit {
	name = printable.CutLine(name, maxQuoted)
	begin := "{"
	if other := standsFor(schema); other != "" && other != name {
		begin = strings.TrimSuffix(sample(schema), "}") + ","
	}
	return &misfit{join(name, m.at), m.want, m.found, begin + string(quote(name)) + ":" + m.example + "}"}
}

func join(outer, inner string) string {
	if inner == "" {
		return outer
	}
	return outer + ", " + inner
}

func unfit(schema map[string]any, raw json.RawMessage) *misfit {
	return &misfit{want: shapeName(schema), found: found(raw), example: sample(schema)}
}

// shapeName names the shape that a schema asks for.
func shapeName(schema map[string]any) string {
	switch schema["type"] {
	case "boolean":
		return "true or false"
	case "integer":
		return "a whole number"
	case "object":
		return "an object"
	case "array":
		if items, _ := schema["items"].(map[string]any); items["type"] == "object" {
			return "a list of objects"
		}
		return "a list of texts"
	}
	return "text"
}

// found describes a value for an error.
func found(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text " + printable.CutLine(string(raw), maxQuoted)
	case 't', 'f', 'n':
		return string(raw)
	}
	return "the number " + printable.CutLine(string(raw), maxQuoted)
}

// sample returns an example of a value that fits a schema.
func sample(schema map[string]any) string {
	switch schema["type"] {
	case "boolean":
		return "true"
	case "integer":
		return "1"
	case "array":
		items, _ := schema["items"].(map[string]any)
		return "[" + sample(items) + "]"
	case "object":
		properties, _ := schema["properties"].(map[string]any)
		if name := standsFor(schema); name != "" {
			return "{" + string(quote(name)) + ":" + sample(propertyOf(schema, properties, name)) + "}"
		}
		return `{"NAME":"…"}`
	}
	return `"…"`
}
