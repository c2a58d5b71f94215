package measure

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// logReader reads the requests of a log. It keeps messages and tools by the digest of their text,
// because a conversation sends most of them again with each request.
type logReader struct {
	messages map[[sha256.Size]byte][]prompt.Message
	tools    map[[sha256.Size]byte]prompt.Tool
	text     int // bytes of all
}

func newKnown() *logReader {
	return &logReader{messages: make(map[[sha256.Size]byte][]prompt.Message), tools: make(map[[sha256.Size]byte]prompt.Tool)}
}

// request reads the tools and messages of a request.
func (k *logReader) request(b *requestBody) (prompt.Request, error) {
	var r prompt.Request
	for i, raw := range b.Tools {
		tool, err := keep(k, k.tools, raw, toolOf)
		if err != nil {
			return r, fmt.Errorf("tools[%d]: %w", i, err)
		}
		r.Tools = append(r.Tools, tool)
	}
	for i, raw := range b.Functions { // the older form
		tool, err := keep(k, k.tools, raw, functionOf)
		if err != nil {
			return r, fmt.Errorf("functions[%d]: %w", i, err)
		}
		r.Tools = append(r.Tools, tool)
	}
	items, err := itemsOf(b)
	if err != nil {
		return r, err
	}
	r.Messages = make([]prompt.Message, 0, len(items))
	for i, raw := range items {
		messages, err := keep(k, k.messages, raw, messagesOf)
		if err != nil {
			return r, fmt.Errorf("messages[%d]: %w", i, err)
		}
		r.Messages = append(r.Messages, messages...)
	}
	return r, nil
}

// keep reads a value, or returns the kept value of the same text.
func keep[V any](k *logReader, in map[[sha256.Size]byte]V, raw json.RawMessage, read func(json.RawMessage) (V, error)) (V, error) {
	sum := sha256.Sum256(raw)
	if v, ok := in[sum]; ok {
		return v, nil
	}
	v, err := read(raw)
	if err != nil {
		return v, err
	}
	if k.text += len(raw); k.text > maxText {
		return v, fmt.Errorf("%w: the log holds more than %d bytes of different messages: split it", ErrLine, maxText)
	}
	in[sum] = v
	return v, nil
}

// toolOf reads a tool, which may be a function in one of the three formats. The format of a custom tool
// becomes its parameters. All fields of a tool of the provider become its parameters.
func toolOf(raw json.RawMessage) (prompt.Tool, error) {
	var t struct {
		Type        text            `json:"type"`
		Name        text            `json:"name"`
		Description text            `json:"description"`
		Function    json.RawMessage `json:"function"`
		InputSchema json.RawMessage `json:"input_schema"`
		Custom      *struct {
			Name        text            `json:"name"`
			Description text            `json:"description"`
			Format      json.RawMessage `json:"format"`
		} `json:"custom"`
	}
	if err := object(raw, &t); err != nil {
		return prompt.Tool{}, err
	}
	switch {
	case len(t.Function) > 0:
		return functionOf(t.Function)
	case t.Custom != nil:
		return prompt.Tool{Name: string(t.Custom.Name), Description: string(t.Custom.Description), Parameters: t.Custom.Format}, nil
	case t.Type == "function" && t.Name != "":
		return functionOf(raw)
	case has(t.InputSchema):
		return prompt.Tool{Name: string(t.Name), Description: string(t.Description), Parameters: t.InputSchema}, nil
	}
	return prompt.Tool{Name: cmp.Or(string(t.Name), string(t.Type)), Parameters: bytes.Clone(raw)}, nil
}

func functionOf(raw json.RawMessage) (prompt.Tool, error) {
	var f struct {
		Name        text            `json:"name"`
		Description text            `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	err := object(raw, &f)
	return prompt.Tool{Name: string(f.Name), Description: string(f.Description), Parameters: f.Parameters}, err
}

type functionCall struct {
	Name      text            `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"` // of a custom tool
}

func (c *functionCall) call(id text) prompt.Call {
	raw := c.Arguments
	if len(raw) == 0 {
		raw = c.Input
	}
	var arguments string
	if len(raw) > 0 && json.Unmarshal(raw, &arguments) != nil {
		arguments = string(raw) // some loggers decode them
	}
	return prompt.Call{ID: string(id), Name: string(c.Name), Arguments: arguments}
}

// messagesOf reads a message, or an item that is something else. Of the messages
// format, the results of tools are parts of what the user said; they become messages
// of their own, before the rest.
func messagesOf(raw json.RawMessage) ([]prompt.Message, error) {
	var m struct {
		Type    text              `json:"type"`
		Role    string            `json:"role"`
		Content json.RawMessage   `json:"content"`
		Calls   []json.RawMessage `json:"tool_calls"`
		// Function is the call of the older form.
		Function *functionCall `json:"function_call"`
		CallID   text          `json:"tool_call_id"`
		Name     text          `json:"name"`
		// Audio names an earlier answer in speech.
		Audio json.RawMessage `json:"audio"`
	}
	if err := object(raw, &m); err != nil {
		return nil, err
	}
	if m.Role == "" && m.Type != "" && m.Type != "message" {
		return itemOf(string(m.Type), raw)
	}
	parts, err := partsOf(m.Content)
	if err != nil {
		return nil, err
	}
	if has(m.Audio) {
		media, err := mediaOf("audio", m.Audio)
		if err != nil {
			return nil, err
		}
		parts.media = append(parts.media, media)
	}
	out := prompt.Message{Role: m.Role, Content: parts.text, Media: parts.media, Calls: parts.calls, CallID: string(m.CallID), Name: string(m.Name)}
	for i, raw := range m.Calls {
		c, err := callOf(raw)
		if err != nil {
			return nil, fmt.Errorf("tool_calls[%d]: %w", i, err)
		}
		out.Calls = append(out.Calls, c)
	}
	if m.Function != nil {
		out.Calls = append(out.Calls, m.Function.call(""))
	}
	if len(parts.results) > 0 && out.Content == "" && len(out.Calls)+len(out.Media) == 0 {
		return parts.results, nil
	}
	return append(parts.results, out), nil
}

// callOf reads a call of a function or a custom tool. Any other call becomes its type and all its
// fields.
func callOf(raw json.RawMessage) (prompt.Call, error) {
	var c struct {
		ID       text          `json:"id"`
		Type     text          `json:"type"`
		Function *functionCall `json:"function"`
		Custom   *functionCall `json:"custom"`
	}
	if err := object(raw, &c); err != nil {
		return prompt.Call{}, err
	}
	if of := cmp.Or(c.Function, c.Custom); of != nil {
		return of.call(c.ID), nil
	}
	return prompt.Call{ID: string(c.ID), Name: string(c.Type), Arguments: string(raw)}, nil
}
