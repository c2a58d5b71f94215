package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Tool is the definition of one of Satchel's tools as the model sees it.
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

// UniqueID returns the id of the call for a request, where it must name one call only. It
// is the call's own id, if there is one and isTaken is false for it: isTaken reports the ids
// of earlier calls of the same response. Otherwise UniqueID makes an id from the place of the
// call, so that all frameworks send the same. response is the number of assistant messages
// before this one. position is the number of calls before this one in it.
func (c ToolCall) UniqueID(response, position int, isTaken func(id string) bool) string {
	id := c.ID
	for n := 0; id == "" || isTaken(id); n++ {
		id = fmt.Sprintf("call_%d_%d", response, position)
		if n > 0 {
			id += fmt.Sprintf("_%d", n)
		}
	}
	return id
}

// SendableName returns the name of the called tool as services accept it in a request: 1 to
// 64 ASCII letters, digits, "_" and "-". Other bytes become "_". A model may call a tool by
// any name, and services refuse each later request that repeats a malformed one.
func (c ToolCall) SendableName() string {
	name := c.Name
	plain := func(b byte) bool {
		return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
	}
	odd := name == "" || len(name) > maxCallName
	for i := 0; i < len(name) && !odd; i++ {
		odd = !plain(name[i])
	}
	if !odd {
		return name
	}
	if name == "" {
		return "unnamed"
	}
	safe := []byte(name[:min(len(name), maxCallName)])
	for i, b := range safe {
		if !plain(b) {
			safe[i] = '_'
		}
	}
	return string(safe)
}

// SendableArguments returns the arguments of the call as services and clients accept them in
// a request: a JSON object. Any other text becomes the only field of one, __arg1.
func (c ToolCall) SendableArguments() string {
	arguments := c.Arguments
	trimmed := strings.TrimSpace(arguments)
	if trimmed == "" {
		return "{}"
	}
	if trimmed[0] == '{' && json.Valid([]byte(arguments)) {
		return arguments
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(map[string]string{"__arg1": arguments}) // strings always encode
	return strings.TrimSuffix(b.String(), "\n")
}
