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

// Definition is a tool in the form in which a framework offers it to the model, whether it is
// Satchel's or the host's.
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

// Decision is the result of a gate for a call.
type Decision struct {
	// Denied reports that the call must not run. The model gets Reason as its answer.
	Denied bool
	Reason string
}

// UniqueID returns an id of the call that no other call of the request has. It is the call's
// own id, unless that is empty or isTaken reports it. isTaken reports the ids of earlier calls
// of the same response. Otherwise UniqueID makes an id from the place of the call, which is the
// same in all frameworks. response is the number of assistant messages before this one,
// position the number of calls before this one in it.
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

// SendableName returns the name of the called tool in a form that services accept in a request:
// 1 to 64 ASCII letters, digits, "_" and "-". Other bytes become "_". A model may call a tool
// by any name, but services refuse every later request with a malformed one.
func (c ToolCall) SendableName() string {
	name := c.Name
	isPlain := func(b byte) bool {
		return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
	}
	if name == "" {
		return "unnamed"
	}
	isSendable := len(name) <= maxCallName
	for i := 0; i < len(name) && isSendable; i++ {
		isSendable = isPlain(name[i])
	}
	if isSendable {
		return name
	}
	safe := []byte(name[:min(len(name), maxCallName)])
	for i, b := range safe {
		if !isPlain(b) {
			safe[i] = '_'
		}
	}
	return string(safe)
}

// SendableArguments returns the arguments of the call in a form that services and clients
// accept in a request: a JSON object. Any other text becomes the field __arg1 of a new object.
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
