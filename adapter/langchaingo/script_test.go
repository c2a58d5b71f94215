package langchaingo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
)

// sent is one request as the client got it.
type sent struct {
	messages []llms.MessageContent
	options  llms.CallOptions
}

// scripted is a client that answers by a function and records every request.
type scripted struct {
	answer func(n int, s sent) (*llms.ContentResponse, error)

	mu   sync.Mutex
	sent []sent
}

func script(replies ...*llms.ContentResponse) *scripted {
	return &scripted{answer: func(n int, _ sent) (*llms.ContentResponse, error) {
		if n >= len(replies) {
			return nil, fmt.Errorf("the script has only %d replies", len(replies))
		}
		return replies[n], nil
	}}
}

func (s *scripted) GenerateContent(ctx context.Context, msgs []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	one := sent{messages: deepCopy(msgs)}
	for _, o := range options {
		o(&one.options)
	}
	s.mu.Lock()
	n := len(s.sent)
	s.sent = append(s.sent, one)
	s.mu.Unlock()
	resp, err := s.answer(n, one)
	if err == nil && one.options.StreamingFunc != nil {
		for _, c := range resp.Choices {
			if err := one.options.StreamingFunc(ctx, []byte(c.Content)); err != nil {
				return nil, err
			}
		}
	}
	return resp, err
}

func (s *scripted) Call(ctx context.Context, prompt string, _ ...llms.CallOption) (string, error) {
	return "called: " + prompt, nil
}

func (s *scripted) last() sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent[len(s.sent)-1]
}

func deepCopy(msgs []llms.MessageContent) []llms.MessageContent {
	out := make([]llms.MessageContent, len(msgs))
	for i, m := range msgs {
		out[i] = llms.MessageContent{Role: m.Role, Parts: append([]llms.ContentPart(nil), m.Parts...)}
		for j, p := range out[i].Parts {
			if c, ok := p.(llms.ToolCall); ok && c.FunctionCall != nil {
				f := *c.FunctionCall
				c.FunctionCall = &f
				out[i].Parts[j] = c
			}
		}
	}
	return out
}

func reply(text string, calls ...llms.ToolCall) *llms.ContentResponse {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: text, ToolCalls: calls}}}
}

func call(id, name, args string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
}

// lines renders a request one part per line, with what the view added cut off.
func lines(msgs []llms.MessageContent) []string {
	var out []string
	for i, m := range msgs {
		for _, part := range m.Parts {
			var text string
			switch p := part.(type) {
			case llms.TextContent:
				text = own(p.Text)
			case llms.ToolCall:
				text = fmt.Sprintf("call %s %s %s", p.ID, p.FunctionCall.Name, p.FunctionCall.Arguments)
			case llms.ToolCallResponse:
				text = fmt.Sprintf("result %s %s %s", p.ToolCallID, p.Name, own(p.Content))
			default:
				text = fmt.Sprintf("%T", p)
			}
			out = append(out, fmt.Sprintf("%d %s: %s", i, m.Role, text))
		}
	}
	return out
}

func own(text string) string {
	for _, mark := range []string{"\n\n<available_skills>", "\n<available_skills>", "<available_skills>", "\n[skill#", "\n\n<skill name=", "\n<skill name="} {
		if i := strings.Index(text, mark); i >= 0 {
			text = text[:i] + "…"
			text = strings.TrimRight(strings.TrimSuffix(text, "…"), "\n") + "…"
		}
	}
	return text
}

func whole(msgs []llms.MessageContent) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(joinText(m.Parts) + "\n")
	}
	return b.String()
}

var twoSkills = fstest.MapFS{
	"pdf/SKILL.md":  {Data: []byte("---\nname: pdf\ndescription: Fill PDF forms.\n---\nPDF BODY {{ .x }} {y}\n")},
	"xlsx/SKILL.md": {Data: []byte("---\nname: xlsx\ndescription: Edit sheets.\n---\nXLSX BODY\n")},
}

func runtime(t testing.TB, opts ...satchel.Option) *satchel.Runtime {
	t.Helper()
	rt, err := satchel.New(append([]satchel.Option{satchel.WithSkillFS("skills", twoSkills)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	return rt
}

func install(t testing.TB, rt *satchel.Runtime, llm llms.Model, host []tools.Tool, opts ...Option) *Adapter {
	t.Helper()
	adapter, err := Install(rt, llm, host, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

func executor(adapter *Adapter, opts ...agents.Option) *agents.Executor {
	agent := adapter.Agent(agents.NewOpenAIFunctionsAgent(adapter.Model(), adapter.Tools(), opts...))
	return agents.NewExecutor(agent, append([]agents.Option{agents.WithMaxIterations(20)}, opts...)...)
}

// hostTool is a tool of the host.
type hostTool struct {
	name string
	fn   func(ctx context.Context, input string) (string, error)
}

func (h hostTool) Name() string        { return h.name }
func (h hostTool) Description() string { return "about " + h.name }
func (h hostTool) Call(ctx context.Context, input string) (string, error) {
	if h.fn == nil {
		return h.name + " got " + input, nil
	}
	return h.fn(ctx, input)
}

// schemaTool is one with a schema of its own.
type schemaTool struct {
	hostTool
	schema string
}

func (s schemaTool) Schema() json.RawMessage { return json.RawMessage(s.schema) }

func steps(name, id, observation string) []schema.AgentStep {
	return []schema.AgentStep{{Action: schema.AgentAction{Tool: name, ToolID: id}, Observation: observation}}
}
