package scenario

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// unknown names the fields of a value that its type does not have, such as
// "turns[].comment", each once and sorted.
func unknown(raw json.RawMessage, t reflect.Type) []string {
	names := unknownBelow("", raw, t)
	slices.Sort(names)
	return slices.Compact(names)
}

func unknownBelow(at string, raw json.RawMessage, t reflect.Type) (names []string) {
	switch {
	case t == reflect.TypeFor[json.RawMessage](): // may hold anything
	case t.Kind() == reflect.Slice:
		var elements []json.RawMessage
		if json.Unmarshal(raw, &elements) != nil {
			return nil
		}
		for _, element := range elements {
			names = append(names, unknownBelow(at+"[]", element, t.Elem())...)
		}
	case t.Kind() == reflect.Struct:
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return nil
		}
		for name, value := range fields {
			path := strings.TrimPrefix(at+"."+name, ".")
			if inner, ok := fieldType(t, name); ok {
				names = append(names, unknownBelow(path, value, inner)...)
			} else {
				names = append(names, path)
			}
		}
	}
	return names
}

// fieldType finds the field of a struct that encoding/json would fill.
func fieldType(t reflect.Type, name string) (reflect.Type, bool) {
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); tag != "-" && strings.EqualFold(tag, name) {
			return t.Field(i).Type, true
		}
	}
	return nil, false
}
