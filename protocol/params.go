package protocol

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// decode reads the parameters of a call into the struct that form points to. A null means that
// the parameter is absent. Names that the struct does not have are warnings.
func decode(params json.RawMessage, form any) (warnings []string, _ error) {
	if len(params) == 0 || bytes.Equal(bytes.TrimSpace(params), []byte("null")) {
		return nil, nil
	}
	warnings, err := decodeFields(params, "", reflect.ValueOf(form).Elem())
	slices.Sort(warnings)
	return warnings[:min(len(warnings), maxWarnings)], err
}

// decodeFields reads an object into a struct. prefix precedes field names in messages: it is "" or
// the name of the object with a dot.
func decodeFields(object json.RawMessage, prefix string, form reflect.Value) (warnings []string, _ error) {
	fields, values := fieldsOf(form), make(map[string]json.RawMessage)
	if err := plainjson.Members(object, func(name string, value json.RawMessage) error {
		if _, known := fields[name]; known {
			values[name] = value
		} else if len(warnings) < maxWarnings {
			warnings = append(warnings, fmt.Sprintf("unknown field %.60q is ignored", prefix+name))
		}
		return nil
	}); err != nil {
		return nil, badParam(strings.TrimSuffix(cmp.Or(prefix, "params"), "."), "want an object")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if bytes.Equal(bytes.TrimSpace(values[name]), []byte("null")) {
			continue
		}
		more, err := decodeField(values[name], prefix+name, fields[name])
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, more...)
	}
	return warnings, nil
}

func decodeField(value json.RawMessage, name string, field reflect.Value) (warnings []string, _ error) {
	if field.Kind() == reflect.Pointer && field.Type().Elem().Kind() == reflect.Struct {
		field.Set(reflect.New(field.Type().Elem()))
		return decodeFields(value, name+".", field.Elem())
	}
	err := json.Unmarshal(value, field.Addr().Interface())
	if public, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return nil, public
	}
	if err != nil {
		return nil, badParam(name, "want %s", kindName(field.Type()))
	}
	return nil, nil
}

// fieldsOf returns the fields of a struct by their names in JSON.
func fieldsOf(value reflect.Value) map[string]reflect.Value {
	fields := make(map[string]reflect.Value)
	for i := range value.NumField() {
		if name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = value.Field(i)
		}
	}
	return fields
}

// kindName returns the name of a type in JSON.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindName(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "any value"
		}
		return "a list of " + strings.TrimPrefix(strings.TrimPrefix(kindName(t.Elem()), "an "), "a ") + "s"
	case reflect.Bool:
		return "true or false"
	}
	return "an object"
}

// oneOf returns value if it is one of the choices, and the first choice for "".
func oneOf(field, value string, choices ...string) (string, error) {
	if value == "" {
		return choices[0], nil
	}
	if !slices.Contains(choices, value) {
		return "", badParam(field, "%.60q: want %s", value, strings.Join(choices, ", "))
	}
	return value, nil
}

// within returns the number if it is from 1 to most, and normal for nil.
func within(field string, value *int64, normal, most int64) (int64, error) {
	if value == nil {
		return normal, nil
	}
	if *value < 1 || *value > most {
		return 0, badParam(field, "%d: want 1 to %d", *value, most)
	}
	return *value, nil
}

// required returns an error for a text that is empty or has more than most bytes.
func required(field, value string, most int) error {
	if value == "" {
		return badParam(field, "is missing")
	}
	if len(value) > most {
		return badParam(field, "has %d bytes: at most %d", len(value), most)
	}
	return nil
}

// notFoundMethod returns the error for an unknown method. It suggests the known one with the most
// similar name.
func notFoundMethod(method string, known []string) *jsonrpc.Error {
	text, least := fmt.Sprintf("unknown method %.60q", method), len(method)/3+2
	best := ""
	for _, name := range known {
		if strings.HasPrefix(name, method) && method != "" || skillset.Distance(method, name, least) < least {
			if d := skillset.Distance(method, name, least); best == "" || d < least {
				best, least = name, d
			}
		}
	}
	// Compare with first words too: "lst" is near "list" but far from "list_skills".
	for _, name := range known {
		word, _, _ := strings.Cut(name, "_")
		if best == "" && skillset.Distance(method, word, 2) < 2 {
			best = name
		}
	}
	if best != "" {
		text += fmt.Sprintf(": did you mean %q?", best)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeMethod, Message: text, Data: map[string]any{"kind": "method"}}
}
