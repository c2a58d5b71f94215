package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"github.com/satchel-go/satchel/internal/text/callargs"
)

// Kind is the type of a field.
type Kind uint8

// The kinds of fields.
const (
	Text    = Kind(callargs.Text)    // a string
	Texts   = Kind(callargs.Texts)   // an array of strings; one string is one element
	Flag    = Kind(callargs.Flag)    // a boolean
	Count   = Kind(callargs.Count)   // an integer of at least 0
	Seconds = Kind(callargs.Seconds) // a Count of seconds; fractions and units are accepted
	Value   = Kind(callargs.Value)   // any JSON that fits Schema; the operation decodes it
)

// Field is one argument of an operation. It defines the schema that the model sees, and how the
// argument is decoded.
type Field struct {
	Name        string
	Kind        Kind
	Description string
	// Enum lists the values that a Text may have; nil allows all.
	Enum     []string
	Required bool
	// Aliases are other names that are accepted, but not shown to the model.
	Aliases []string
	// Schema is the JSON Schema of a Value, without its description. Reads, if not nil, replaces
	// it for decoding: it may accept more than the model sees.
	Schema, Reads map[string]any
	// Hidden leaves the field out of the schema, because every field costs tokens in each
	// request. Instead, answers mention the field when it is useful.
	Hidden bool
}

// Args holds the decoded arguments of a call; see [Operation.Decode].
type Args struct {
	decoded *callargs.Args
	err     error
	cache   *cachedValue
}

// cachedValue caches the result of [ReadOnce].
type cachedValue struct {
	once  sync.Once
	value any
	err   error
}

// ReadOnce returns read(a), and calls read only once for each call of an operation. So the lists
// that judge the call, and the operation that runs it, see the same value. Callers must not
// modify it. All readers of one operation must pass the same function.
func ReadOnce[T any](a Args, read func(Args) (T, error)) (T, error) {
	if a.cache == nil { // not decoded
		return read(a)
	}
	a.cache.once.Do(func() { a.cache.value, a.cache.err = read(a) })
	value, _ := a.cache.value.(T)
	return value, a.cache.err
}

// Decode decodes the raw arguments of a call. They are a JSON object, or bare text, which becomes
// the value of the first field. langchaingo passes the object as the text of {"__arg1": …}, which
// Decode accepts too. Decode converts values to the types of their fields if the meaning is
// clear. It always returns Args; [Args.Err] returns what was wrong.
func (o *Operation) Decode(raw string) Args {
	fields := make([]callargs.Field, len(o.Fields))
	for i, f := range o.Fields {
		fields[i] = callargs.Field{
			Name: f.Name, Aliases: f.Aliases, Kind: callargs.Kind(f.Kind), Enum: f.Enum, Required: f.Required, Schema: f.Schema,
		}
		if f.Reads != nil {
			fields[i].Schema = f.Reads
		}
	}
	decoded, err := callargs.Decode(raw, fields)
	if err == nil && o.Refuse != nil {
		err = decoded.Strict(fields)
	}
	return Args{decoded, err, &cachedValue{}}
}

// IsSet reports whether a field has a value other than false, "", an empty list or an empty
// object.
func (a Args) IsSet(name string) bool { return a.decoded.Has(name) }

// Err returns why the arguments could not be decoded, nil if they could. Its text is for the
// model.
func (a Args) Err() error { return a.err }

// Missing returns an error that names the required fields without a value, nil if there are none.
// Its text is for the model.
func (a Args) Missing() error { return a.decoded.Missing() }

// Text returns a Text without surrounding white space, or "" if it is not set.
func (a Args) Text(name string) string {
	if v := a.Texts(name); len(v) > 0 {
		return v[0]
	}
	return ""
}

// Texts returns the elements of a Texts in order, without surrounding white space. It leaves out
// blank and repeated elements.
func (a Args) Texts(name string) []string { return a.decoded.Texts(name) }

// Flag returns a Flag, false if it is not set.
func (a Args) Flag(name string) bool { return a.decoded.Flag(name) }

// Count returns a Count, or Seconds in whole seconds, and whether it is set.
func (a Args) Count(name string) (int, bool) { return a.decoded.Count(name) }

// Value decodes a Value into target. It does not change target if the field is not set. The error
// is for the model.
func (a Args) Value(name string, target any) error {
	if err := a.decoded.Value(name, target); err != nil {
		return ModelErrorf("%v", err)
	}
	return nil
}

// Warnings returns one sentence for each thing that Decode ignored.
func (a Args) Warnings() []string { return a.decoded.Warnings }

// schema returns the JSON Schema of fields with sorted keys, so that a tool has the same bytes in
// every request.
func schema(fields []Field) json.RawMessage {
	properties := make(map[string]any, len(fields))
	required := []string{}
	for _, f := range fields {
		if f.Hidden {
			continue
		}
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
