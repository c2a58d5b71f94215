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

// Given reports whether a field has a value that says something: not false, and no empty
// text, list or object, as models give for what they leave out.
func (a *Args) Given(name string) bool {
	_, counted := a.counts[name]
	value, ok := a.values[name]
	return counted || len(a.texts[name]) > 0 || a.flags[name] || ok && !isBlank(value)
}

// Strict fails where [Decode] has ignored a name or had to choose. That is a name that is
// not exactly one of the fields, or a field that occurs twice, under any of its names.
// The error wraps [ErrArguments].
func (a *Args) Strict(fields []Field) error {
	if err := repeats(a.text); err != nil {
		return err
	}
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(a.object)) {
		i := fieldIndex(fields, name)
		if i < 0 {
			return unknownField(name, fields)
		}
		f := fields[i]
		if before, twice := seen[f.Name]; twice {
			return fmt.Errorf("%w: fields %q and %q are the same", ErrArguments, before, name)
		}
		seen[f.Name] = name
		if f.Kind != Value {
			continue
		}
		sent := a.object[name]
		if inner, ok := inText(sent); ok && f.Schema["type"] != "string" { // JSON in a text
			if sent = inner; repeats(string(inner)) != nil {
				return repeats(string(inner))
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

// notText returns the part of a value that its schema wants as text and that is something
// else, nil if there is none. [Decode] takes the number 5 for the text "5".
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
		_ = json.Unmarshal(raw, &object) // what is no object has no parts
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if m := notText(propertyOf(schema, properties, name), object[name]); m != nil {
				return m.inProperty(schema, name)
			}
		}
	}
	return nil
}

// unknownField names the field that was probably meant, and all that there are.
func unknownField(name string, fields []Field) error {
	var all []string
	meant := "; the"
	for _, f := range fields {
		if all = append(all, f.Name); plainName(f.Name) == plainName(name) {
			meant = fmt.Sprintf(": did you mean %q? The", f.Name)
		}
	}
	return fmt.Errorf("%w: unknown field %q%s fields are %s", ErrArguments, printable.Cut(name, 80), meant, strings.Join(all, ", "))
}

// plainName is a name as it is compared: dryRun, dry_run and Dry-Run are one.
func plainName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

// repeats fails if an object of a JSON text has a field twice.
func repeats(text string) error {
	if name, twice := repeatedField(text); twice {
		return fmt.Errorf("%w: field %q is there twice", ErrArguments, printable.Cut(name, 80))
	}
	return nil
}

// repeatedField returns a field that an object of a JSON text has twice, at any depth.
func repeatedField(text string) (name string, twice bool) {
	type level struct {
		fields map[string]bool // nil for an array
		value  bool            // a value of the object comes next
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
			if top := len(open) - 1; top >= 0 && open[top].fields != nil && !open[top].value {
				name, _ := token.(string)
				if open[top].fields[name] {
					return name, true
				}
				open[top].fields[name], open[top].value = true, true
				continue
			}
		}
		if top := len(open) - 1; top >= 0 {
			open[top].value = false
		}
	}
}
