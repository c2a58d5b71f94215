package tools

import (
	"encoding/json"
	"fmt"
	"maps"
)

// Kind is the type of a field.
type Kind uint8

// The kinds of fields.
const (
	Text    Kind = iota // a string
	Texts               // an array of strings; one string is one element
	Flag                // a boolean
	Count               // an integer of at least 0
	Seconds             // a Count of seconds; fractions and units are understood
	Value               // whatever Schema says, for the operation to decode
)

// Field is one argument of an operation. It gives the schema and decides how
// the argument is read.
type Field struct {
	Name        string
	Kind        Kind
	Description string
	Enum        []string
	Required    bool
	// Aliases are other names that are understood but not told.
	Aliases []string
	// Schema is the JSON Schema of a Value, without its description. Reads is the
	// one by which it is read where the model is told less; nil is Schema.
	Schema, Reads map[string]any
}

func (f *Field) reads() map[string]any {
	if f.Reads != nil {
		return f.Reads
	}
	return f.Schema
}

// schema writes the JSON Schema of fields with sorted keys, so that the same
// tool is the same bytes in every request.
func schema(fields []Field) json.RawMessage {
	properties := make(map[string]any, len(fields))
	required := []string{}
	for _, f := range fields {
		p := map[string]any{}
		switch f.Kind {
		case Text:
			p["type"] = "string"
		case Texts:
			p["type"] = "array"
			p["items"] = map[string]string{"type": "string"}
		case Flag:
			p["type"] = "boolean"
		case Count, Seconds:
			p["type"] = "integer"
			p["minimum"] = 0
		case Value:
			maps.Copy(p, f.Schema)
		}
		if f.Description != "" {
			p["description"] = f.Description
		}
		if f.Enum != nil {
			p["enum"] = f.Enum
		}
		properties[f.Name] = p
		if f.Required {
			required = append(required, f.Name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	out, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("tools: schema: %v", err)) // strings and maps always marshal
	}
	return out
}
