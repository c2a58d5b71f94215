package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/tracing/line"
)

// text returns a text as the trace may hold it.
func (c *config) text(text string) string {
	if c.texts != Whole || text == "" {
		return ""
	}
	return c.redacted(text)
}

func (c *config) redacted(text string) string {
	if c.redact == nil || text == "" {
		return text
	}
	return c.redact(text)
}

// skillName is what a name must look like so that it is no text of a user.
var skillName = regexp.MustCompile(`^[a-z0-9][a-z0-9_:.-]{0,63}$`)

// name returns a name that a model has made up.
func (c *config) name(name string) string {
	if c.texts != Whole && !skillName.MatchString(name) {
		return ""
	}
	return c.redacted(name)
}

// message returns the value of a message in its line, and its digest.
func (c *config) message(m *core.Message, media []line.Media) (value json.RawMessage, digest string, err error) {
	v := line.MessageValue{Role: m.Role.String(), Content: c.redacted(m.Text), ToolCalls: []line.ToolCall{}, ToolCallID: m.CallID, Media: media}
	for i := range m.Calls {
		call := &m.Calls[i]
		v.ToolCalls = append(v.ToolCalls, line.ToolCall{ID: call.ID, Name: call.Name, Arguments: c.redacted(call.Arguments)})
	}
	if value, digest, err = encode(v); err != nil || c.texts == Whole {
		return value, digest, err
	}
	value, _, err = encode(line.MessageSize{Role: v.Role, Bytes: len(v.Content), Media: media})
	return value, digest, err
}

// toolCalls returns the calls of an answer.
func (c *config) toolCalls(calls []core.ToolCall) []line.ToolCall {
	all := []line.ToolCall{}
	for i := range calls {
		all = append(all, line.ToolCall{ID: calls[i].ID, Name: calls[i].Name, Arguments: c.text(calls[i].Arguments)})
	}
	return all
}

// alternatives returns the further answers to a call.
func (c *config) alternatives(answers []core.Message) (all []line.Alternative) {
	for i := range answers {
		all = append(all, line.Alternative{Text: c.text(answers[i].Text), ToolCalls: c.toolCalls(answers[i].Calls)})
	}
	return all
}

// toolValues returns the tools of a request as the trace has them, and as cache-report has them. A
// schema that is no JSON is left out.
func (c *config) toolValues(definitions []core.Definition) (written []line.Tool, rendered []prompt.Tool) {
	written = []line.Tool{}
	for i := range definitions {
		d := &definitions[i]
		var schema json.RawMessage
		if d.Schema != nil {
			if text, err := json.Marshal(d.Schema); err == nil {
				schema = text
			}
		}
		written = append(written, line.Tool{Name: d.Name, Description: c.redacted(d.Description), Parameters: schema})
		rendered = append(rendered, prompt.Tool{Name: validText(d.Name), Description: validText(d.Description), Parameters: schema})
	}
	return written, rendered
}

// encode returns the JSON of a value as lines hold it, and the digest of it.
func encode(v any) (json.RawMessage, string, error) {
	text, err := plainjson.Append(nil, v)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(text)
	return text, "sha256:" + hex.EncodeToString(sum[:]), nil
}
