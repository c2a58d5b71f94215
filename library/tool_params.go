package library

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/printable"
)

// param is a parameter that a skill declares in metadata.parameters.
type param struct {
	Name        string            `json:"name"`
	Type        string            `json:"type,omitempty"`
	Required    bool              `json:"required,omitempty"`
	Default     json.RawMessage   `json:"default,omitempty"`
	Description string            `json:"description,omitempty"`
	Values      []json.RawMessage `json:"values,omitempty"`
}

// paramsOf reads the parameters that a skill declares. Metadata that is no list of named
// parameters declares none.
func paramsOf(metadata map[string]string) []param {
	var list []param
	if json.Unmarshal([]byte(metadata["parameters"]), &list) != nil || len(list) > maxParams {
		return nil
	}
	return slices.DeleteFunc(list, func(p param) bool {
		return p.Name == "" || len(p.Name) > maxName || strings.ContainsAny(p.Name, "{}\n")
	})
}

// textOf returns a JSON value as render puts it into a text.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(bytes.TrimSpace(raw))
}

// fill returns the values of the declared parameters. wrong says which value is unusable, or is "".
// warnings name values of parameters that are not declared.
func fill(declared []param, given map[string]json.RawMessage) (values map[string]json.RawMessage, warnings []string, wrong string) {
	values = map[string]json.RawMessage{}
	for _, p := range declared {
		raw, ok := given[p.Name]
		if ok && string(raw) == "null" {
			ok = false
		}
		switch {
		case !ok && p.Default != nil:
			raw = p.Default
		case !ok && p.Required:
			return nil, nil, fmt.Sprintf("parameter %q is missing; %s", p.Name, describeParams(declared))
		case !ok:
			raw = json.RawMessage(`""`)
		default:
			if wrong := p.misfit(raw); wrong != "" {
				return nil, nil, wrong + "; " + describeParams(declared)
			}
		}
		values[p.Name] = raw
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, known := values[name]; !known && len(warnings) < 5 {
			warnings = append(warnings, fmt.Sprintf("the skill has no parameter %q", printable.Cut(name, 80)))
		}
	}
	return values, warnings, ""
}

func (p param) misfit(raw json.RawMessage) string {
	text := textOf(raw)
	switch p.Type {
	case "number":
		var n json.Number
		if json.Unmarshal([]byte(text), &n) != nil {
			return fmt.Sprintf("parameter %q is a number, not %s", p.Name, printable.Cut(string(raw), 80))
		}
	case "boolean":
		if text != "true" && text != "false" {
			return fmt.Sprintf("parameter %q is true or false, not %s", p.Name, printable.Cut(string(raw), 80))
		}
	case "enum":
		var values []string
		for _, v := range p.Values {
			if textOf(v) == text {
				return ""
			}
			values = append(values, fmt.Sprintf("%q", textOf(v)))
		}
		return fmt.Sprintf("parameter %q is one of %s, not %s", p.Name, strings.Join(values, ", "), printable.Cut(string(raw), 80))
	}
	return ""
}

func describeParams(declared []param) string {
	var parts []string
	for _, p := range declared {
		switch {
		case p.Default != nil:
			parts = append(parts, fmt.Sprintf("%s (default %s)", p.Name, p.Default))
		case p.Required:
			parts = append(parts, p.Name+" (required)")
		default:
			parts = append(parts, p.Name)
		}
	}
	return "parameters are " + strings.Join(parts, ", ")
}

// render replaces the placeholders in text by values. It does not search the values for
// placeholders. The error says that the result would exceed maxRendered.
func render(text string, values map[string]json.RawMessage) (string, error) {
	if len(values) == 0 {
		return text, nil
	}
	texts := make(map[string]string, len(values))
	for name, raw := range values {
		texts[name] = textOf(raw)
	}
	var b strings.Builder
	limit := max(maxRendered, len(text))
	for {
		i := strings.Index(text, "{{")
		if i < 0 {
			break
		}
		end, n := i+1, 0 // the bytes that are copied, and those that a placeholder takes
		var value string
		if name, ok := placeholder(text[i+2:]); ok {
			if value, ok = texts[strings.TrimSpace(name)]; ok {
				end, n = i, len(name)+4
			}
		}
		if b.Len()+len(text)-n+len(value) > limit {
			return "", refuse("too_large", ErrTooLarge, "the text would have more than %d bytes with its parameters", limit)
		}
		b.WriteString(text[:end])
		b.WriteString(value)
		text = text[end+n:]
	}
	b.WriteString(text)
	return b.String(), nil
}

// placeholder returns the text before "}}" on the line, if that can be a name.
func placeholder(text string) (name string, ok bool) {
	text = text[:min(len(text), maxName+16)]
	if line := strings.IndexByte(text, '\n'); line >= 0 {
		text = text[:line]
	}
	name, _, ok = strings.Cut(text, "}}")
	return name, ok
}
