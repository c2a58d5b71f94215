package prompt

import (
	"encoding/json"
	"errors"
)

// ErrCapture reports a file that does not hold captures.
var ErrCapture = errors.New("not a capture")

// Capture holds all requests of one conversation, in order.
type Capture struct {
	// Scenario is the name of the conversation. System is the name of the measured software,
	// and Variant its settings, such as "turn/tool-result".
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

// Tool is the definition of a tool in a request.
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
	// Media are the parts that are no text, such as pictures. They are rendered before the content.
	Media []Media
	Calls []Call
	// CallID and Name are those of the call that a tool result answers, if known.
	CallID string
	Name   string
}

// Media is a part of a message that is no text. Only the provider knows how many tokens it has. Here it has
// [MediaTokens], which differ from those of other media.
type Media struct {
	Kind   string `json:"kind"` // image, audio, video or file
	Digest string `json:"digest"`
}

// MediaTokens is the number of tokens of each part that is no text. OpenAI takes 765 tokens for a picture of
// 1,024 by 1,024 pixels in high detail.
const MediaTokens = 765

// Call is one tool call of an assistant message; Arguments is its raw text.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}
