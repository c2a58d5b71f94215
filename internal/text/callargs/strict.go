package callargs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/printable"
)

// Has reports whether a field has a value other than false and an empty text, list or object.
// Models write these for arguments that they want to leave out.
func (a *Args) Has(name string) bool {
	_, isCount := a.counts[name]
	value, ok := a.values[name]
	return isCount || len(a.texts[name]) > 0 || a.flags[name] || ok && !isBlank(value)
}

// Strict returns an error where [Decode] has ignored a name or has chosen one of two values. That
// is a name that no field has in exactly this spelling, or a field that occurs twice, under any
// of its names. The error wraps [ErrArguments].
func (a *Args) Strict(fields []Field) error {
	if err := checkRepeats(a.text); err != nil {
		return err
	}
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(a.object)) {
		i := fieldIndex(fields, name)
		if i < 0 {
			return unknownField(name, fields)
		}
		f := fields[i]
		if other, ok := seen[f.Name]; ok {
			return fmt.Errorf("%w: fields %q and %q are the same", ErrArguments, other, name)
		}
		seen[f.Name] = name
		if f.Kind != Value {
			continue
		}
		sent := a.object[name]
		if inner, ok := inText(sent); ok && f.Schema["type"] != "string" { // JSON in a text
			sent = inner
			if err := checkRepeats(string(inner)); err != nil {
				return err
			}
		}
		if m := notText(f.Schema, sent); m != nil {
			return fmt.Errorf("%w: field %q: %w", ErrArguments, name, m.inField(name))
		}
		for _, value := range []json.RawMessage{sent, a.values[f.Name]} {
			if more := unknownIn(f.Schema, value, f.Name, true); len(more) > 0 {
				return fmt.Errorf("%w: unknown field %s", ErrArguments, more[0])
			}
		}
	}
	return nil
}

// notText returns the misfit of a part that must be a text by the schema and is not, nil if there
// is none. [Decode] accepts the number 5 for the text "5"; Strict does not.
func notText(schema map[string]any, raw json.RawMessage) *misfit {
	raw = bytes.TrimSpace(raw)
	switch schema["type"] {
	case "string":
		if len(raw) > 0 && raw[0] != '"' && raw[0] != 'n' {
			return unfit(schema, raw)
		}
	case "array":
		items, _ := schema["items"].(map[string]any)
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return notText(items, raw)
		}
		for i, value := range list {
			if m := notText(items, value); m != nil {
				return m.inElement(i)
			}
		}
	case "object":
		properties, _ := schema["properties"].(map[string]any)
		var object map[string]json.RawMessage
		_ = json.Unmarshal(raw, &object) // another value has no properties
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if m := notText(propertyOf(schema, properties, name), object[name]); m != nil {
				return m.inProperty(schema, name)
			}
		}
	}
	return nil
}

// unknownField returns the error for an unknown field. It suggests a field of similar spelling
// and lists all fields.
func unknownField(name string, fields []Field) error {
	var all []string
	suggestion := "; the"
	for _, f := range fields {
		if all = append(all, f.Name); plainName(f.Name) == plainName(name) {
			suggestion = fmt.Sprintf(": did you mean %q? The", f.Name)
		}
	}
	return fmt.Errorf("%w: unknown field %q%s fields are %s", ErrArguments, printable.Cut(name, maxQuoted), suggestion, strings.Join(all, ", "))
}

// plainName returns the form in which names are compared: dryRun, dry_run and Dry-Run are equal.
func plainName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

// checkRepeats returns an error if an object in a JSON text has a field twice.
func checkRepeats(text string) error {
	if name, twice := repeatedField(text); twice {
		return fmt.Errorf("%w: field %q is there twice", ErrArguments, printable.Cut(name, maxQuoted))
	}
	return nil
}

// repeatedField returns a field that an object in a JSON text has twice, at any depth.
func repeatedField(text string) (name string, twice bool) {
	type level struct {
		fields  map[string]bool // nil for an array
		inValue bool            // the next token is a value, not a name
	}
	var open []level
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if err != nil {
			return "", false
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{fields: map[string]bool{}})
			continue
		case json.Delim('['):
			open = append(open, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if top := len(open) - 1; top >= 0 && open[top].fields != nil && !open[top].inValue {
				name, _ := token.(string)
				if open[top].fields[name] {
					return name, true
				}
				open[top].fields[name], open[top].inValue = true, true
				continue
			}
		}
		if top := len(open) - 1; top >= 0 {
			open[top].inValue = false
		}
	}
}

// textItems is the schema of the elements of Texts.
var textItems = map[string]any{"type": "string"}

// unknownIn lists the unknown fields of a fitted value, each with the known ones. at names the
// place of the value. If exact is set, another spelling counts as unknown, and unknownIn
// returns only the first field.
func unknownIn(schema map[string]any, raw json.RawMessage, at string, exact bool) []string {
	switch schema["type"] {
	case "array":
		items, _ := schema["items"].(map[string]any)
		var list []json.RawMessage
		if items["type"] != "object" || json.Unmarshal(raw, &list) != nil {
			return nil
		}
		var all []string
		for i, one := range list {
			if exact && len(all) > 0 {
				break
			}
			all = append(all, unknownIn(items, one, fmt.Sprintf("%s, element %d", at, i+1), exact)...)
		}
		return all
	case "object":
		return unknownOf(schema, raw, at, exact)
	}
	return nil
}

func unknownOf(schema map[string]any, raw json.RawMessage, at string, exact bool) []string {
	properties, ok := schema["properties"].(map[string]any)
	var object map[string]json.RawMessage
	if _, open := schema["additionalProperties"]; !ok || open || json.Unmarshal(raw, &object) != nil {
		return nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(properties)), ", ")
	var all []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if exact && len(all) > 0 {
			break
		}
		property := propertyOf(schema, properties, name)
		if _, is := properties[name]; property == nil || exact && !is {
			all = append(all, fmt.Sprintf("%q in %s; it has %s", printable.Cut(name, maxQuoted), at, known))
			continue
		}
		all = append(all, unknownIn(property, object[name], at+", "+name, exact)...)
	}
	return all
}
