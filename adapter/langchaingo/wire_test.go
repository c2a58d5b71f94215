package langchaingo

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/wiretest"
)

// The model gets the same requests as with Eino, with every version of langchaingo.
func TestWire(t *testing.T) {
	for _, c := range wiretest.Conversations() {
		t.Run(c.Name, func(t *testing.T) {
			for name, m := range map[string]*wireModel{
				"once":    {t: t, script: c.Model()},
				"retried": {t: t, script: c.Model(), fails: true},
			} {
				t.Run(name, func(t *testing.T) {
					trace := &wiretest.Trace{}
					rt := c.Runtime(t, satchel.WithTrace(trace))
					playLoop(t, rt, &c, m)
					m.script.Check(t, c.Name, rt.Tools(), false, "")
					trace.Check(t, m.script)
				})
			}
		})
	}
}

// wireModel is the script as a model of langchaingo.
type wireModel struct {
	t      *testing.T
	script *wiretest.Model
	// fails makes each request fail once before it is answered.
	fails bool
	tries int
}

var errFlaky = errors.New("try again")

func (m *wireModel) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", errors.New("the script answers messages only")
}

func (m *wireModel) GenerateContent(_ context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	m.tries++
	if m.fails && m.tries%2 == 1 {
		return nil, errFlaky
	}
	var asked llms.CallOptions
	for _, o := range options {
		o(&asked)
	}
	answer, err := m.script.Answer(wireRequest(m.t, messages, asked.Tools))
	if err != nil {
		return nil, err
	}
	var all []llms.ToolCall
	for _, c := range answer.Calls {
		all = append(all, call(c.ID, c.Name, c.Arguments))
	}
	return reply(answer.Text, all...), nil
}

// wireRequest is a request as a provider is sent it.
func wireRequest(t *testing.T, messages []llms.MessageContent, offered []llms.Tool) wiretest.Request {
	var r wiretest.Request
	for _, m := range messages {
		role := map[llms.ChatMessageType]string{llms.ChatMessageTypeSystem: "system", llms.ChatMessageTypeHuman: "user",
			llms.ChatMessageTypeAI: "assistant", llms.ChatMessageTypeTool: "tool"}[m.Role]
		sent := wiretest.Message{Role: role, Text: joinText(m.Parts)}
		for _, part := range m.Parts {
			switch p := part.(type) {
			case llms.ToolCall:
				sent.Calls = append(sent.Calls, wiretest.Call{ID: p.ID, Name: p.FunctionCall.Name, Arguments: p.FunctionCall.Arguments})
			case llms.ToolCallResponse:
				if sent.CallID != "" || sent.Name != "" {
					t.Errorf("two results are in one message: %+v", m)
				}
				sent.Text, sent.CallID, sent.Name = p.Content, p.ToolCallID, p.Name
			}
		}
		r.Messages = append(r.Messages, sent)
	}
	for _, o := range offered {
		r.Tools = append(r.Tools, core.Definition{Name: o.Function.Name, Description: o.Function.Description, Schema: o.Function.Parameters})
	}
	return r
}

// wireTool is the host's tool.
type wireTool struct{}

func (wireTool) Name() string                                 { return wiretest.HostTool }
func (wireTool) Description() string                          { return wiretest.HostTool }
func (wireTool) Schema() json.RawMessage                      { return json.RawMessage(`{"type":"object"}`) }
func (wireTool) Call(context.Context, string) (string, error) { return wiretest.HostAnswer, nil }

// playLoop plays a conversation in a loop of the host, which repeats a request when the model
// fails.
func playLoop(t *testing.T, rt *satchel.Runtime, c *wiretest.Conversation, m *wireModel) {
	t.Helper()
	adapter, err := Install(rt, m, []tools.Tool{wireTool{}})
	if err != nil {
		t.Fatal(err)
	}
	offered := llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: wiretest.HostTool, Description: wiretest.HostTool, Parameters: map[string]any{"type": "object"}}}})
	ctx := satchel.WithSession(t.Context(), "s")
	history := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, wiretest.System)}
	for _, turn := range c.Turns {
		said := llms.TextParts(llms.ChatMessageTypeHuman, turn.User)
		for _, f := range turn.Files {
			said.Parts = append(said.Parts, llms.ImageURLPart(f.URL()))
		}
		history = append(history, said)
		for ended := false; !ended; {
			resp, err := adapter.Model().GenerateContent(ctx, history, offered)
			if errors.Is(err, errFlaky) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			said := llms.MessageContent{Role: llms.ChatMessageTypeAI}
			if text := resp.Choices[0].Content; text != "" {
				said.Parts = append(said.Parts, llms.TextContent{Text: text})
			}
			for _, asked := range resp.Choices[0].ToolCalls {
				said.Parts = append(said.Parts, asked)
			}
			history = append(history, said)
			for _, asked := range resp.Choices[0].ToolCalls {
				result, err := adapter.Call(ctx, asked)
				if err != nil {
					t.Fatal(err)
				}
				history = append(history, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result}})
			}
			ended = len(resp.Choices[0].ToolCalls) == 0
		}
	}
}
