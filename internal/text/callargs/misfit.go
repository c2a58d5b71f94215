package callargs

import (
	"github.com/satchel-go/satchel/internal/text/printable"

	"encoding/json"
	"fmt"
	"strings"
)

// A misfit is a value that cannot be brought into the shape of its schema. Its
// text is for the model and speaks of JSON, not of Go.
type misfit struct {
	at      string // which part of the field, "" for the whole
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

// inField says which field of a call it is that does not fit.
func (m *misfit) inField(name string) *misfit {
	return &misfit{m.at, m.want, m.found, "{" + string(quote(name)) + ":" + m.example + "}"}
}

// inElement says in which element of a list the misfit is.
func (m *misfit) inElement(i int) *misfit {
	return &misfit{join(fmt.Sprint("element ", i+1), m.at), m.want, m.found, "[" + m.example + "]"}
}

// inList says that the element with the misfit may stand alone for the list.
func (m *misfit) inList() *misfit { return &misfit{m.at, m.want, m.found, "[" + m.example + "]"} }

// inProperty says in which property of an object the misfit is. The example has
// what makes the object complete too.
func (m *misfit) inProperty(schema map[string]any, name string) *misfit {
	name = printable.CutLine(name, 80)
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

// found names what a value is.
func found(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text " + printable.CutLine(string(raw), 80)
	case 't', 'f', 'n':
		return string(raw)
	}
	return "the number " + printable.CutLine(string(raw), 80)
}

// sample writes a value that fits.
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
