package core

import (
	"encoding/json"
	"fmt"
)

// Tool is the definition of a tool as the model sees it.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON Schema of the arguments: an object schema in
	// canonical form (sorted keys, no white space). It never depends on the
	// catalog.
	Schema json.RawMessage
}

// Definition is a tool as a framework offers it to the model, whether it is one of
// Satchel's or not.
type Definition struct {
	Name        string
	Description string
	// Schema is the framework's own value for the schema of the arguments. It
	// marshals to JSON and must not be changed in place: two definitions with the
	// same pointer, map or slice are assumed to be equal.
	Schema any
}

// ToolCall is one call that the model made.
type ToolCall struct {
	// ID is the provider's id of the call. It may be empty, and it may repeat
	// between responses.
	ID   string
	Name string
	// Arguments is the raw text: JSON, {"__arg1": "..."} or bare text.
	Arguments string
}

// Decision is a gate's answer to a call.
type Decision struct {
	// Denied stops the call; the model is answered Reason instead.
	Denied bool
	Reason string
}

// CallID returns the id of a call. If the call has no id, or an earlier call of the
// same response has the same one, it makes an id from the place of the call,
// because services reject a result that names no call or two calls. The same place
// gives the same id in every framework: response is the number of assistant
// messages before this one, and position the number of calls before this one in it.
func CallID(id string, response, position int, taken func(id string) bool) string {
	for n := 0; id == "" || taken(id); n++ {
		id = fmt.Sprintf("call_%d_%d", response, position)
		if n > 0 {
			id += fmt.Sprintf("_%d", n)
		}
	}
	return id
}
