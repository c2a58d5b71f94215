package satcheltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// errRequest reports a body that is no chat completion request.
var errRequest = errors.New("bad chat completion request")

// Request is one chat completion request, as the server received it.
type Request struct {
	// Number counts the requests of the server from 1.
	Number int
	// Raw is the body, byte for byte.
	Raw []byte
	// Model is the name of the model in the request.
	Model string
	// Stream reports that the client wants server-sent events, and StreamUsage that it wants a
	// last chunk with the usage.
	Stream      bool
	StreamUsage bool
	// Messages and Tools are in the order of the body. Schemas have sorted keys and no white
	// space, so that schemas of two clients can be compared byte by byte.
	Messages []Message
	Tools    []core.Tool

	ctx context.Context
}

// Message is one message of a request. It does not depend on how the client encodes the
// content: as a string or as parts, as null or not at all.
type Message struct {
	Role string
	// Text is the content. If the message has parts, it is the text parts one after the other.
	Text string
	// Calls are the tool calls of an assistant message.
	Calls []core.ToolCall
	// CallID is the id of the call that a tool message answers.
	CallID string
}

// Context returns a context that ends when the client disconnects or the server is closed. A
// script that waits must watch it.
func (r Request) Context() context.Context {
	if r.ctx == nil {
		return context.Background()
	}
	return r.ctx
}

// Turn returns the number of user messages.
func (r Request) Turn() int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == "user" {
			n++
		}
	}
	return n
}

// Contains reports whether any message's text contains s.
func (r Request) Contains(s string) bool {
	for _, m := range r.Messages {
		if strings.Contains(m.Text, s) {
			return true
		}
	}
	return false
}

// Prompt returns tools and messages as text, in the order in which a provider's prompt cache
// sees them. Two prompts share a prefix exactly if a cache could share it.
func (r Request) Prompt() []byte {
	var b bytes.Buffer
	for _, t := range r.Tools {
		fmt.Fprintf(&b, "tool %s\n%s\n%s\n", t.Name, t.Description, t.Schema)
	}
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s %s\n%s\n", m.Role, m.CallID, m.Text)
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "call %s %s %s\n", c.ID, c.Name, c.Arguments)
		}
	}
	return b.Bytes()
}

// requestBody is the part of a request that a script can see.
type requestBody struct {
	Model         string `json:"model"`
	Stream        bool   `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Messages []struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		CallID    string          `json:"tool_call_id"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

// decode decodes the fields that a script can see. Raw contains the others.
func decode(raw []byte) (Request, error) {
	var body requestBody
	if err := json.Unmarshal(raw, &body); err != nil {
		return Request{}, fmt.Errorf("%w: %w", errRequest, err)
	}
	if len(body.Messages) == 0 {
		return Request{}, fmt.Errorf("%w: no messages", errRequest)
	}
	r := Request{
		Raw:         raw,
		Model:       body.Model,
		Stream:      body.Stream,
		StreamUsage: body.StreamOptions.IncludeUsage,
	}
	for i, m := range body.Messages {
		text, err := contentText(m.Content)
		if err != nil {
			return Request{}, fmt.Errorf("%w: message %d: %w", errRequest, i, err)
		}
		msg := Message{Role: m.Role, Text: text, CallID: m.CallID}
		for _, c := range m.ToolCalls {
			msg.Calls = append(msg.Calls, core.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		r.Messages = append(r.Messages, msg)
	}
	for _, t := range body.Tools {
		schema, err := sortedJSON(t.Function.Parameters)
		if err != nil {
			return Request{}, fmt.Errorf("%w: tool %q: %w", errRequest, t.Function.Name, err)
		}
		r.Tools = append(r.Tools, core.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: json.RawMessage(schema)})
	}
	return r, nil
}

// contentText returns the text of a content, which is null, a string or a list of parts.
func contentText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var text string
	if raw[0] == '"' {
		err := json.Unmarshal(raw, &text)
		return text, err
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", err
	}
	for _, p := range parts {
		if p.Type == "text" {
			text += p.Text
		}
	}
	return text, nil
}

// sortedJSON returns raw with sorted keys and no white space. Numbers keep their spelling.
func sortedJSON(raw json.RawMessage) (string, error) {
	if len(raw) == 0 {
		return "", nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return "", err
	}
	out, err := json.Marshal(v)
	return string(out), err
}
