package measure

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// parts holds the text, media, calls and tool results of a content.
type parts struct {
	text    string
	media   []prompt.Media
	calls   []prompt.Call
	results []prompt.Message
}

// partsOf reads a content: a string, null, or a list of parts. Calls and results of tools are
// parts in the messages format only. Pictures, audio, video and files are media. Any other part, such as the
// thinking of a model, becomes its type and a digest.
func partsOf(raw json.RawMessage) (p parts, err error) {
	if len(raw) == 0 || json.Unmarshal(raw, &p.text) == nil {
		return p, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return p, fmt.Errorf("%w: content is neither text nor parts", ErrLine)
	}
	var b strings.Builder
	for _, raw := range list {
		if err := p.add(&b, raw); err != nil {
			return p, err
		}
	}
	p.text = b.String()
	return p, nil
}

func (p *parts) add(b *strings.Builder, raw json.RawMessage) error {
	var part struct {
		Type    text            `json:"type"`
		Text    *string         `json:"text"`
		ID      text            `json:"id"`
		Name    text            `json:"name"`
		Input   json.RawMessage `json:"input"`
		CallID  text            `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
	}
	if err := object(raw, &part); err != nil {
		return err
	}
	switch {
	case part.Text != nil:
		b.WriteString(*part.Text)
	case part.Type == "tool_use":
		p.calls = append(p.calls, prompt.Call{ID: string(part.ID), Name: string(part.Name), Arguments: string(part.Input)})
	case part.Type == "tool_result":
		inner, err := partsOf(part.Content)
		if err != nil {
			return err
		}
		p.results = append(p.results, prompt.Message{Role: "tool", Content: inner.text, Media: inner.media, CallID: string(part.CallID)})
	case mediaKinds[string(part.Type)] != "":
		media, err := mediaOf(string(part.Type), raw)
		if err != nil {
			return err
		}
		p.media = append(p.media, media)
	default:
		sum := sha256.Sum256(raw)
		fmt.Fprintf(b, "[%s %x]", part.Type, sum[:6])
	}
	return nil
}
