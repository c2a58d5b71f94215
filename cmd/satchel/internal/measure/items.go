package measure

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// itemsOf returns the messages of a request in order: its system text or instructions, then its
// messages or input.
func itemsOf(b *requestBody) ([]json.RawMessage, error) {
	var items []json.RawMessage
	for _, text := range []json.RawMessage{b.System, b.Instructions} {
		if has(text) {
			items = append(items, messageOf("system", text))
		}
	}
	if len(b.Messages) > 0 {
		return append(items, b.Messages...), nil
	}
	var list []json.RawMessage
	switch b.Input[0] {
	case '"':
		list = []json.RawMessage{messageOf("user", b.Input)}
	case '[':
		if err := json.Unmarshal(b.Input, &list); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrLine, err)
		}
	default:
		return nil, fmt.Errorf("%w: input is neither text nor items", ErrLine)
	}
	return append(items, list...), nil
}

// messageOf returns a message with a role and a content.
func messageOf(role string, content json.RawMessage) json.RawMessage {
	return fmt.Appendf(nil, `{"role":%q,"content":%s}`, role, content)
}

// itemOf reads an item of a responses request that is no message: a call, the output of one, or
// anything else, such as reasoning. The last becomes its type and a digest.
func itemOf(kind string, raw json.RawMessage) ([]prompt.Message, error) {
	var item struct {
		functionCall

		CallID text            `json:"call_id"`
		Output json.RawMessage `json:"output"`
	}
	if err := object(raw, &item); err != nil {
		return nil, err
	}
	switch kind {
	case "function_call", "custom_tool_call":
		return []prompt.Message{{Role: "assistant", Calls: []prompt.Call{item.call(item.CallID)}}}, nil
	case "function_call_output", "custom_tool_call_output":
		output, err := partsOf(item.Output)
		if err != nil {
			return nil, err
		}
		return []prompt.Message{{Role: "tool", Content: output.text, Media: output.media, CallID: string(item.CallID)}}, nil
	}
	sum := sha256.Sum256(raw)
	return []prompt.Message{{Role: "assistant", Content: fmt.Sprintf("[%s %x]", kind, sum[:6])}}, nil
}
