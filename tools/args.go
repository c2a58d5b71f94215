package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxArguments bounds the raw arguments of a call, in bytes.
const MaxArguments = 1 << 20

// maxElements bounds the elements of one field, and maxNamed how many of the
// things that are wrong with a call are named in its answer.
const (
	maxElements = 256
	maxNamed    = 5
)

// errArguments reports arguments that cannot be read; its text is for the model.
var errArguments = errors.New("cannot read the arguments")

// Args are the decoded arguments of a call.
type Args struct {
	texts  map[string][]string
	flags  map[string]bool
	counts map[string]int
	values map[string]json.RawMessage
	// Warnings say what was ignored, one sentence each.
	Warnings []string
	unknown  int // fields
}

// Text returns a text field, trimmed, or "".
func (a Args) Text(name string) string {
	if v := a.texts[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Texts returns the elements of a field in their order, trimmed, without blank
// and repeated ones.
func (a Args) Texts(name string) []string { return a.texts[name] }

// Flag returns a boolean field; absent is false.
func (a Args) Flag(name string) bool { return a.flags[name] }

// Count returns an integer field, or a time in whole seconds, and whether it was
// given.
func (a Args) Count(name string) (int, bool) {
	n, ok := a.counts[name]
	return n, ok
}

// Decode reads a Value field, brought into the shape of its schema where that
// was possible, into target; absent leaves it unchanged. The error is for the
// model.
func (a Args) Decode(name string, target any) error {
	raw, ok := a.values[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, target); err != nil {
		return tellf("%v: field %q: %v", errArguments, name, err)
	}
	return nil
}

// decode reads the raw arguments of a call: a JSON object, that object as the
// text of {"__arg1": …} (which is how langchaingo passes it), or bare text,
// which is the value of the first field.
func decode(raw string, fields []Field) (Args, error) {
	a := Args{texts: map[string][]string{}, flags: map[string]bool{}, counts: map[string]int{}, values: map[string]json.RawMessage{}}
	if len(raw) > MaxArguments {
		return a, fmt.Errorf("%w: %d bytes are more than %d", errArguments, len(raw), MaxArguments)
	}
	object, bare, err := unwrap(raw)
	if err != nil {
		return a, fmt.Errorf("%w: %v; send an object such as %s", errArguments, err, example(fields))
	}
	if bare != "" {
		object = map[string]json.RawMessage{fields[0].Name: quoted(bare)}
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name || slices.Contains(f.Aliases, name) })
		if i < 0 {
			a.ignored(fmt.Sprintf("%q", cut(name, 80)))
			continue
		}
		if err := a.set(fields[i], object[name]); err != nil {
			return a, fmt.Errorf("%w: field %q: %v", errArguments, name, err)
		}
	}
	if more := a.unknown - maxNamed; more > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("ignored %d more unknown fields", more))
	}
	return a, nil
}

// ignored notes a field that nothing is known of.
func (a *Args) ignored(what string) {
	if a.unknown++; a.unknown <= maxNamed {
		a.Warnings = append(a.Warnings, "ignored unknown field "+what)
	}
}

func unwrap(raw string) (object map[string]json.RawMessage, bare string, err error) {
	for range 3 { // a wrapped object may hold its JSON as text, once more quoted
		raw = strings.TrimSpace(raw)
		if raw == "" || raw == "null" {
			return nil, "", nil
		}
		switch raw[0] {
		case '{':
			object = nil
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

func (a *Args) set(f Field, raw json.RawMessage) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil || value == nil {
		return err
	}
	switch f.Kind {
	case Value:
		fitted, m := fit(f.reads(), raw)
		if m != nil {
			return m.inField(f.Name)
		}
		a.values[f.Name] = fitted
		for _, what := range unknownIn(f.reads(), fitted, f.Name) {
			a.ignored(what)
		}
		return nil
	case Flag:
		b, ok := truth(raw)
		if !ok {
			return fmt.Errorf("want true or false, not %s", cut(string(raw), 80))
		}
		a.flags[f.Name] = b
		return nil
	case Seconds:
		if isBlank(raw) {
			return nil
		}
		n, ok := seconds(raw)
		if !ok {
			return (&misfit{want: "seconds", found: found(raw), example: "30"}).inField(f.Name)
		}
		a.counts[f.Name] = n
		return nil
	case Count:
		n, err := strconv.Atoi(strings.Trim(string(raw), `" `))
		if err != nil || n < 0 {
			return fmt.Errorf("want a whole number of at least 0, not %s", cut(string(raw), 80))
		}
		a.counts[f.Name] = n
		return nil
	}
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
			return fmt.Errorf("want text, not %s", cut(string(raw), 80))
		}
		text = strings.TrimSpace(text)
		if text != "" && (f.Kind == Text || !slices.Contains(a.texts[f.Name], text)) {
			a.texts[f.Name] = append(a.texts[f.Name], text)
		}
	}
	if f.Kind == Text && len(a.texts[f.Name]) > 1 {
		return fmt.Errorf("want one text, not %d", len(a.texts[f.Name]))
	}
	if v := a.Text(f.Name); f.Enum != nil && v != "" && !slices.Contains(f.Enum, v) {
		return fmt.Errorf("want one of %s, not %q", strings.Join(f.Enum, ", "), cut(v, 80))
	}
	return nil
}

// example writes arguments that would be accepted, for error texts.
func example(fields []Field) string {
	value := `"…"`
	if fields[0].Kind == Texts {
		value = `["…"]`
	}
	return `{"` + fields[0].Name + `":` + value + `}`
}

func quoted(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string always marshals
	return b
}

// cut shortens outside text for an error message.
func cut(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
