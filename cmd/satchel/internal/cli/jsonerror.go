package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// JSONError returns err without names of Go types if it reports a JSON value of the wrong kind, and
// err itself otherwise.
func JSONError(err error) error {
	kind, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	what := "the value"
	if kind.Field != "" {
		what = fmt.Sprintf("%q", kind.Field)
	}
	return fmt.Errorf("%s: got %s, want %s", what, kind.Value, jsonKind(kind.Type))
}

// jsonKind returns the name of the JSON values that fit a type.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return jsonKind(t.Elem())
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "a whole number"
	}
}
