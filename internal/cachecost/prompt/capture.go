package prompt

import (
	"encoding/json"
	"errors"
)

// ErrCapture reports a file that is no capture.
var ErrCapture = errors.New("not a capture")

// Capture is every request of one conversation, in order.
type Capture struct {
	// Scenario is the name of the conversation, System what was measured, and
	// Variant how it was set up, such as "turn/tool-result".
	Scenario string
	System   string
	Variant  string
	Requests []Request
}

// Request is one model call as it was sent.
type Request struct {
	// Turn is the number of the user turn, from 0.
	Turn     int
	Tools    []Tool
	Messages []Message
}

// Tool is the definition of a tool as the model was offered it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// Message is one message of a request.
type Message struct {
	// Role is system, user, assistant or tool.
	Role    string
	Content string
	Calls   []Call
	// CallID and Name say which call a tool result answers, where known.
	CallID string
	Name   string
}

// Call is one tool call of an assistant message; Arguments is its raw text.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
