package skillset

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// Input is an argument of an action. Only a required argument must be present, and one that is
// present must fit its type. Arguments without an Input are allowed.
type Input struct {
	Name string
	// Type is string, blob, number, float, integer, int, boolean, bool, array, list or
	// object. Other words take any value.
	Type        string
	Description string
	// Required refuses a run without the argument, unless there is a default.
	Required bool
	// Default is used for an absent argument; nil is no default.
	Default any
	// Enum, if it is not empty, holds all values that the argument may have.
	Enum []any
}

// inputs reads the inputs. A fault of one is a warning and does not affect the others.
func (r *manifestReader) inputs() {
	table := r.table("inputs")
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if len(r.Inputs) == maxInputs {
			r.warn("inputs", "%d: at most %d, the rest is left out", len(table), maxInputs)
			return
		}
		in, field := Input{Name: name}, "inputs."+name
		switch form := table[name].(type) {
		case string:
			in.Type = form
		case map[string]any:
			r.input(&in, field, form)
		default:
			r.warn(field, "want { type = … }: any value is taken")
		}
		r.Inputs = append(r.Inputs, in)
	}
}

// input reads an input that is a table.
func (r *manifestReader) input(in *Input, field string, form map[string]any) {
	in.Type, _ = form["type"].(string)
	in.Description, _ = form["description"].(string)
	if required, ok := form["required"].(bool); ok {
		in.Required = required
	} else if form["required"] != nil {
		r.warn(field, "required: want true or false")
	}
	if enum, ok := form["enum"].([]any); ok {
		in.Enum, _ = skilltext.Plain(enum).([]any)
	} else if form["enum"] != nil {
		r.warn(field, "enum: want a list of values: any value is taken")
	}
	if value := form["default"]; value != nil {
		value = skilltext.Plain(value)
		if why := in.Check(value); why != "" {
			r.warn(field, "default: %s: left out", why)
			return
		}
		in.Default = value
	}
}

// Check returns what the input wants if a value of encoding/json does not fit, and "" if it does.
func (in Input) Check(value any) string {
	if value = asJSON(value); !in.fits(value) {
		return "want " + in.Type
	}
	if len(in.Enum) == 0 || slices.ContainsFunc(in.Enum, func(one any) bool { return reflect.DeepEqual(asJSON(one), value) }) {
		return ""
	}
	list, _ := json.Marshal(in.Enum)
	return fmt.Sprintf("want one of %.500s", list)
}

// asJSON returns a value as encoding/json reads it.
func asJSON(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	var read any
	_ = json.Unmarshal(text, &read)
	return read
}

// fits reports whether a value of encoding/json has the type of the input.
func (in Input) fits(value any) (ok bool) {
	switch in.Type {
	case "string":
		_, ok = value.(string)
	case "blob":
		id, _ := value.(string)
		ok = strings.HasPrefix(id, "blob:")
	case "number", "float":
		_, ok = value.(float64)
	case "integer", "int":
		number, isNumber := value.(float64)
		ok = isNumber && number == float64(int64(number))
	case "boolean", "bool":
		_, ok = value.(bool)
	case "array", "list":
		_, ok = value.([]any)
	case "object":
		_, ok = value.(map[string]any)
	default:
		ok = true
	}
	return ok
}
