package requestlog

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/benchmark/capture"
)

// requestBody is what counts of a chat completion request.
type requestBody struct {
	Model    string        `json:"model"`
	Messages []messageBody `json:"messages"`
	Tools    []struct {
		Type     string       `json:"type"`
		Function capture.Tool `json:"function"`
	} `json:"tools"`
	Functions []capture.Tool `json:"functions"` // the older form
}

type messageBody struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Calls   []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	Function *struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function_call"`
	CallID string `json:"tool_call_id"`
	Name   string `json:"name"`
}

func (b *requestBody) tools() []capture.Tool {
	var tools []capture.Tool
	for _, t := range b.Tools {
		if t.Function.Name == "" { // a tool of the provider's own
			t.Function.Name = t.Type
		}
		tools = append(tools, t.Function)
	}
	return append(tools, b.Functions...)
}

func (m *messageBody) message() (capture.Message, error) {
	text, err := contentText(m.Content)
	if err != nil {
		return capture.Message{}, err
	}
	out := capture.Message{Role: m.Role, Content: text, CallID: m.CallID, Name: m.Name}
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, capture.Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	if m.Function != nil {
		out.Calls = append(out.Calls, capture.Call{Name: m.Function.Name, Arguments: m.Function.Arguments})
	}
	return out, nil
}

// contentText is the text of a content: a string, null, or parts. A part that is
// no text, such as a picture, stands there as its type and a digest: nobody but
// the provider knows what it costs, but a change of it is seen.
func contentText(raw json.RawMessage) (string, error) {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fmt.Errorf("%w: content is neither text nor parts", ErrLine)
	}
	var b strings.Builder
	for _, part := range parts {
		var p struct {
			Type string  `json:"type"`
			Text *string `json:"text"`
		}
		if err := json.Unmarshal(part, &p); err != nil {
			return "", fmt.Errorf("%w: %w", ErrLine, err)
		}
		if p.Text != nil {
			b.WriteString(*p.Text)
			continue
		}
		sum := sha256.Sum256(part)
		fmt.Fprintf(&b, "[%s %x]", p.Type, sum[:6])
	}
	return b.String(), nil
}
