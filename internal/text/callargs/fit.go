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

// fit brings a value that is not null into the shape of a schema where the meaning is
// clear. It takes JSON in a text, a number for a text and the other way round, and one
// element for a list. For an object it takes the property that stands for it. It ignores
// keywords of a schema that Satchel's own schemas do not use.
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
		case m != nil && m.at != "": // it is one element, but for a part of it
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

// isList reports whether JSON in a text is the list that was asked for: a glob
// or an argument may begin with a bracket too.
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
	if _, more := schema["additionalProperties"]; properties == nil && !more { // what is in it has a meaning of its own, null too
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

// propertyOf returns the schema of a property, also where its name is written
// maxFiles or MaxFiles for max_files.
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

// textOf returns the content of a JSON text; anything else is returned as it is.
func textOf(raw json.RawMessage) (text string, isText bool) {
	if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return string(raw), false
	}
	return text, true
}

// inText returns the JSON object or list that a text holds.
func inText(raw json.RawMessage) (json.RawMessage, bool) {
	text, isText := textOf(raw)
	inner := bytes.TrimSpace([]byte(text))
	if !isText || len(inner) == 0 || inner[0] != '{' && inner[0] != '[' {
		return nil, false
	}
	return inner, json.Valid(inner)
}

// isBlank reports an empty text, list or object, as models give for what they
// leave out.
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

// seconds reads a time in seconds, also as text and with a unit, and rounds it
// up.
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
