// Package callargs decodes the arguments of a tool call. Models write the same value in many
// forms: JSON inside a text, a number as a text, one element in place of a list. The package
// accepts a form if its meaning is clear. Other errors say what was wanted, what was found, and
// what would be accepted.
package callargs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/internal/text/printable"
)

// ErrArguments reports arguments that cannot be read; its text is for the model.
var ErrArguments = errors.New("cannot read the arguments")

// Kind is the type of an argument.
type Kind uint8

// The kinds of arguments.
const (
	Text    Kind = iota // a string
	Texts               // a list of strings; one string is one element
	Flag                // a boolean
	Count               // an integer of at least 0
	Seconds             // a Count of seconds; fractions and units are understood
	Value               // JSON of the type that Schema describes
)

// Field describes one argument.
type Field struct {
	Name     string
	Aliases  []string
	Kind     Kind
	Enum     []string
	Required bool
	Schema   map[string]any // JSON Schema of a Value
}

// Args are the decoded arguments of a call, by field.
type Args struct {
	texts   map[string][]string
	flags   map[string]bool
	counts  map[string]int
	values  map[string]json.RawMessage
	unknown int                        // number of unknown fields
	missing error                      // names a required field without value
	object  map[string]json.RawMessage // the arguments before conversion
	text    string                     // the JSON text of object

	// Warnings name the ignored fields, one sentence each.
	Warnings []string
}

// Texts returns the elements of a Text or Texts, trimmed, without blank and duplicate ones.
func (a *Args) Texts(name string) []string { return a.texts[name] }

// Flag returns a Flag, false if it is absent.
func (a *Args) Flag(name string) bool { return a.flags[name] }

// Count returns a Count or Seconds, and whether it is present.
func (a *Args) Count(name string) (int, bool) {
	n, ok := a.counts[name]
	return n, ok
}

// Value unmarshals a Value into target. Decode has converted it to its schema. If the field is
// absent, target is unchanged.
func (a *Args) Value(name string, target any) error {
	raw, ok := a.values[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, target); err != nil {
		return fmt.Errorf("%w: field %q: %v", ErrArguments, name, err)
	}
	return nil
}

// Missing returns an error that names the first required field without value, nil if there is
// none.
func (a *Args) Missing() error { return a.missing }

// Decode decodes the raw arguments of a call: a JSON object, or the form {"__arg1": "…"} in which
// langchaingo passes that object as a text. Text that is no JSON is the value of the first
// field. Unknown fields are ignored with a warning. The error wraps [ErrArguments] and says what
// would be accepted.
func Decode(raw string, fields []Field) (*Args, error) {
	a := &Args{texts: map[string][]string{}, flags: map[string]bool{}, counts: map[string]int{}, values: map[string]json.RawMessage{}}
	if len(raw) > MaxBytes {
		return a, fmt.Errorf("%w: %d bytes are more than %d", ErrArguments, len(raw), MaxBytes)
	}
	object, bare, err := a.unwrap(raw)
	if err != nil {
		return a, fmt.Errorf("%w: %v; send an object such as %s", ErrArguments, err, example(fields))
	}
	if bare != "" {
		object = map[string]json.RawMessage{fields[0].Name: quote(bare)}
	}
	a.object = object
	for _, name := range slices.Sorted(maps.Keys(object)) {
		i := fieldIndex(fields, name)
		if i < 0 {
			a.noteIgnored(fmt.Sprintf("%q", printable.Cut(name, maxQuoted)))
			continue
		}
		if err := a.set(fields[i], object[name]); err != nil {
			return a, fmt.Errorf("%w: field %q: %v", ErrArguments, name, err)
		}
	}
	if more := a.unknown - MaxNamed; more > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("ignored %d more unknown fields", more))
	}
	a.missing = a.checkRequired(fields)
	return a, nil
}

func (a *Args) checkRequired(fields []Field) error {
	for _, f := range fields {
		if _, isCount := a.counts[f.Name]; f.Required && !isCount && len(a.texts[f.Name]) == 0 {
			values := ""
			if f.Enum != nil {
				values = ": it is one of " + strings.Join(f.Enum, ", ")
			}
			return fmt.Errorf("%q is missing%s; send an object such as %s", f.Name, values, example([]Field{f}))
		}
	}
	return nil
}

// fieldIndex returns the index of the field with a name or alias, -1 if there is none.
func fieldIndex(fields []Field, name string) int {
	return slices.IndexFunc(fields, func(f Field) bool { return f.Name == name || slices.Contains(f.Aliases, name) })
}

// noteIgnored counts an unknown field, and warns about the first MaxNamed of them.
func (a *Args) noteIgnored(field string) {
	if a.unknown++; a.unknown <= MaxNamed {
		a.Warnings = append(a.Warnings, "ignored unknown field "+field)
	}
}

// unwrap returns the object that was sent, or a bare text.
func (a *Args) unwrap(raw string) (object map[string]json.RawMessage, bare string, err error) {
	for range maxWraps {
		raw = strings.TrimSpace(raw)
		if raw == "" || raw == "null" {
			return nil, "", nil
		}
		switch raw[0] {
		case '{':
			object, a.text = nil, raw
			if err := json.Unmarshal([]byte(raw), &object); err != nil {
				return nil, "", fmt.Errorf("not valid JSON (%v)", err)
			}
			wrapped, ok := object["__arg1"]
			if !ok || len(object) > 1 {
				return object, "", nil
			}
			raw = string(wrapped)
		case '"':
			var text string
			if json.Unmarshal([]byte(raw), &text) != nil {
				return nil, raw, nil
			}
			raw = text
		case '[':
			if json.Valid([]byte(raw)) {
				return nil, "", errors.New("an array is not an object")
			}
			return nil, raw, nil
		default:
			return nil, raw, nil
		}
	}
	return nil, raw, nil
}

// set reads the value of a field.
func (a *Args) set(f Field, raw json.RawMessage) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil || value == nil {
		return err
	}
	switch f.Kind {
	case Value:
		return a.setValue(f, raw)
	case Flag:
		b, ok := truth(raw)
		if !ok {
			return fmt.Errorf("want true or false, not %s", printable.CutLine(string(raw), maxQuoted))
		}
		a.flags[f.Name] = b
		return nil
	case Count, Seconds:
		return a.setCount(f, raw)
	}
	return a.setTexts(f, raw, value)
}

func (a *Args) setValue(f Field, raw json.RawMessage) error {
	fitted, m := fit(f.Schema, raw)
	if m != nil {
		return m.inField(f.Name)
	}
	a.values[f.Name] = fitted
	for _, field := range unknownIn(f.Schema, fitted, f.Name, false) {
		a.noteIgnored(field)
	}
	return nil
}

func (a *Args) setCount(f Field, raw json.RawMessage) error {
	if f.Kind == Count {
		n, err := strconv.Atoi(strings.Trim(string(raw), `" `))
		if err != nil || n < 0 {
			return fmt.Errorf("want a whole number of at least 0, not %s", printable.CutLine(string(raw), maxQuoted))
		}
		a.counts[f.Name] = n
		return nil
	}
	if isBlank(raw) {
		return nil
	}
	n, ok := seconds(raw)
	if !ok {
		return (&misfit{want: "seconds", found: found(raw), example: "30"}).inField(f.Name)
	}
	a.counts[f.Name] = n
	return nil
}

func (a *Args) setTexts(f Field, raw json.RawMessage, value any) error {
	list, ok := value.([]any)
	if inner, is := inText(raw); is && f.Kind == Texts && isList(textItems, inner) {
		ok = json.Unmarshal(inner, &list) == nil // JSON in a text
	}
	if !ok {
		list = []any{value}
	}
	if len(list) > maxElements {
		return fmt.Errorf("want at most %d elements, not %d", maxElements, len(list))
	}
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			return fmt.Errorf("want text, not %s", printable.CutLine(string(raw), maxQuoted))
		}
		text = strings.TrimSpace(text)
		if text != "" && (f.Kind == Text || !slices.Contains(a.texts[f.Name], text)) {
			a.texts[f.Name] = append(a.texts[f.Name], text)
		}
	}
	texts := a.texts[f.Name]
	if f.Kind == Text && len(texts) > 1 {
		return fmt.Errorf("want one text, not %d", len(texts))
	}
	if f.Enum != nil && len(texts) > 0 {
		if i := slices.IndexFunc(f.Enum, func(v string) bool { return strings.EqualFold(v, texts[0]) }); i >= 0 {
			texts[0] = f.Enum[i]
			return nil
		}
		return fmt.Errorf("want one of %s, not %q", strings.Join(f.Enum, ", "), printable.Cut(texts[0], maxQuoted))
	}
	return nil
}

// example writes arguments that would be accepted, for error texts.
func example(fields []Field) string {
	value := `"…"`
	switch {
	case fields[0].Kind == Texts:
		value = `["…"]`
	case len(fields[0].Enum) > 0:
		value = string(quote(fields[0].Enum[0]))
	}
	return `{"` + fields[0].Name + `":` + value + `}`
}

func quote(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string always marshals
	return b
}
