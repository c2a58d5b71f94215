package core

import "encoding/json"

// Tool is the definition of a tool as the model sees it.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON Schema of the arguments: an object schema in
	// canonical form (sorted keys, no white space). It never depends on the
	// catalog.
	Schema json.RawMessage
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
