package callargs

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fit converts a value that is not null to the type of a schema if its meaning is clear. It
// accepts JSON in a text, a number for a text, a text for a number, and one element for a list.
// For an object it accepts the value of its shorthand property. It ignores keywords of JSON
// Schema that Satchel's own schemas do not use.
func fit(schema map[string]any, raw json.RawMessage) (json.RawMessage, *misfit) {
	raw = bytes.TrimSpace(raw)
	text, isText := textOf(raw)
	switch schema["type"] {
	case "string":
		if isText {
			return raw, nil
		}
		if raw[0] != '{' && raw[0] != '[' && raw[0] != 'n' {
			return quote(string(raw)), nil
		}
	case "boolean":
		if value, ok := truth(raw); ok {
			return strconv.AppendBool(nil, value), nil
		}
	case "integer":
		if n, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return strconv.AppendInt(nil, int64(n), 10), nil
		}
	case "array":
		return fitList(schema, raw)
	case "object":
		return fitObject(schema, raw)
	default:
		return raw, nil
	}
	return nil, unfit(schema, raw)
}

func fitList(schema map[string]any, raw json.RawMessage) (json.RawMessage, *misfit) {
	items, _ := schema["items"].(map[string]any)
	if inner, ok := inText(raw); ok && (inner[0] == '[' && isList(items, inner) || inner[0] == '{' && items["type"] == "object") {
		raw = inner
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		if isBlank(raw) {
			return json.RawMessage("[]"), nil
		}
		one, m := fit(items, raw)
		switch {
		case m != nil && m.at != "": // it is one element, but a part of it does not fit
			return nil, m.inList()
		case m != nil:
			return nil, unfit(schema, raw)
		}
		list = []json.RawMessage{one}
	}
	for i := range list {
		var m *misfit
		if list[i], m = fit(items, list[i]); m != nil {
			return nil, m.inElement(i)
		}
	}
	return encode(list), nil
}

// isList reports whether JSON in a text is a list of such items. A glob or an argument of a
// command may begin with a bracket too.
func isList(items map[string]any, inner json.RawMessage) bool {
	var texts []string
	return items["type"] != "string" || json.Unmarshal(inner, &texts) == nil
}

func fitObject(schema map[string]any, raw json.RawMessage) (json.RawMessage, *misfit) {
	if inner, ok := inText(raw); ok {
		raw = inner
	}
	properties, _ := schema["properties"].(map[string]any)
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		if _, isText := textOf(raw); isBlank(raw) {
			return json.RawMessage("{}"), nil
		} else if name := standsFor(schema); name != "" && (isText || raw[0] == '[') {
			object = map[string]json.RawMessage{name: raw}
		} else {
			return nil, unfit(schema, raw)
		}
	}
	if _, hasMore := schema["additionalProperties"]; properties == nil && !hasMore { // any object fits unchanged, with its nulls
		return encode(object), nil
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value, property := object[name], propertyOf(schema, properties, name)
		if string(value) == "null" || property["type"] != "string" && isBlank(value) {
			delete(object, name)
			continue
		}
		fitted, m := fit(property, value)
		if m != nil {
			return nil, m.inProperty(schema, name)
		}
		object[name] = fitted
	}
	return encode(object), nil
}

// propertyOf returns the schema of a property. It ignores case and underscores: maxFiles and
// MaxFiles are max_files.
func propertyOf(schema, properties map[string]any, name string) map[string]any {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	for known, property := range properties {
		if plain(known) == plain(name) {
			p, _ := property.(map[string]any)
			return p
		}
	}
	p, _ := schema["additionalProperties"].(map[string]any)
	return p
}

// standsFor returns the property that may be given in place of an object: the
// one that is required, else the only list.
func standsFor(schema map[string]any) string {
	if required, _ := schema["required"].([]string); len(required) > 0 {
		return required[0]
	}
	properties, _ := schema["properties"].(map[string]any)
	var lists []string
	for name, property := range properties {
		if p, _ := property.(map[string]any); p["type"] == "array" {
			lists = append(lists, name)
		}
	}
	if len(lists) != 1 {
		return ""
	}
	return lists[0]
}

// textOf returns the content of a JSON text, and other JSON unchanged.
func textOf(raw json.RawMessage) (text string, isText bool) {
	if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return string(raw), false
	}
	return text, true
}

// inText returns the JSON object or list inside a JSON text, if there is one.
func inText(raw json.RawMessage) (json.RawMessage, bool) {
	text, isText := textOf(raw)
	inner := bytes.TrimSpace([]byte(text))
	if !isText || len(inner) == 0 || inner[0] != '{' && inner[0] != '[' {
		return nil, false
	}
	return inner, json.Valid(inner)
}

// isBlank reports whether a value is an empty text, list or object. Models write these for
// arguments that they want to leave out.
func isBlank(raw json.RawMessage) bool {
	text, isText := textOf(raw)
	if !isText {
		text = strings.Trim(text, "{}[] \t\r\n")
	}
	return strings.TrimSpace(text) == ""
}

func encode(v any) json.RawMessage {
	raw, _ := json.Marshal(v) // what was read from JSON always marshals
	return raw
}

// truth reads true or false, also as text.
func truth(raw json.RawMessage) (value, ok bool) {
	text, isText := textOf(raw)
	if !isText && text != "true" && text != "false" {
		return false, false
	}
	value, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(text)))
	return value, err == nil
}

// seconds reads a number of seconds, or a text with a unit such as "1m", and rounds it up.
func seconds(raw json.RawMessage) (int, bool) {
	text, _ := textOf(raw)
	text = strings.ReplaceAll(text, " ", "")
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, false
		}
		n = d.Seconds()
	}
	if !(n >= 0) {
		return 0, false
	}
	return int(math.Ceil(min(n, math.MaxInt32))), true
}
