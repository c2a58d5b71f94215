package eino_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
)

const (
	pdfBody = `PDF BODY with {single} and {{ .Double }} braces`
	csvBody = `CSV BODY`
)

func skillFS() fstest.MapFS {
	skill := func(name, body string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Works with " + name + " files.\n---\n" + body + "\n")}
	}
	return fstest.MapFS{
		"pdf/SKILL.md":     skill("pdf", pdfBody),
		"pdf/forms.md":     &fstest.MapFile{Data: []byte("FORMS DOC\n")},
		"csv/SKILL.md":     skill("csv", csvBody),
		"csv/delimiter.md": &fstest.MapFile{Data: []byte("DELIMITER DOC\n")},
	}
}

func newRuntime(t testing.TB, opts ...satchel.Option) *satchel.Runtime {
	t.Helper()
	rt, err := satchel.New(append([]satchel.Option{satchel.WithSkillFS("test", skillFS())}, opts...)...)
	if err != nil {
		t.Fatalf("new runtime: %v", err)
	}
	return rt
}

func emptyRuntime(t testing.TB, opts ...satchel.Option) *satchel.Runtime {
	t.Helper()
	rt, err := satchel.New(opts...)
	if err != nil {
		t.Fatalf("new runtime: %v", err)
	}
	return rt
}

func cloneMessages(in []*schema.Message) []*schema.Message {
	out := make([]*schema.Message, 0, len(in))
	for _, m := range in {
		c := *m
		c.ToolCalls = slices.Clone(m.ToolCalls)
		c.UserInputMultiContent = slices.Clone(m.UserInputMultiContent)
		c.MultiContent = slices.Clone(m.MultiContent)
		out = append(out, &c)
	}
	return out
}

func say(text string) *schema.Message { return schema.AssistantMessage(text, nil) }

func call(id, name, args string) schema.ToolCall {
	return schema.ToolCall{ID: id, Type: "function", Function: schema.FunctionCall{Name: name, Arguments: args}}
}

func calling(calls ...schema.ToolCall) *schema.Message { return schema.AssistantMessage("", calls) }

func loading(id, skill string) *schema.Message {
	return calling(call(id, "skill_load", `{"skill":"`+skill+`"}`))
}

// hostTool is an invokable tool of the host.
type hostTool struct {
	name string
	run  func(ctx context.Context, args string) (string, error)
}

func (h *hostTool) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: h.name, Desc: "A tool of the host."}, nil
}

func (h *hostTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	if h.run == nil {
		return "ran " + h.name, nil
	}
	return h.run(ctx, args)
}

// text is all text of a message, parts included.
func text(m *schema.Message) string {
	var b strings.Builder
	b.WriteString(m.Content)
	for _, p := range m.UserInputMultiContent {
		b.WriteString(p.Text)
	}
	for _, p := range m.MultiContent {
		b.WriteString(p.Text)
	}
	return b.String()
}

func allText(messages []*schema.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(string(m.Role) + ": " + text(m) + "\n")
	}
	return b.String()
}

func shows(messages []*schema.Message, body string) int {
	return strings.Count(allText(messages), body)
}

// sent is the part of a message that reaches a provider. The rest stays in the process: the
// places of calls in a stream, usage, and the extras, in which some versions of adk number the
// messages of each request.
type sent struct {
	Role    schema.RoleType            `json:"role"`
	Content string                     `json:"content"`
	Parts   []schema.MessageInputPart  `json:"parts,omitempty"`
	Older   []schema.ChatMessagePart   `json:"older_parts,omitempty"`
	Made    []schema.MessageOutputPart `json:"made_parts,omitempty"`
	Calls   []sentCall                 `json:"tool_calls,omitempty"`
	CallID  string                     `json:"tool_call_id,omitempty"`
	Name    string                     `json:"name,omitempty"`
}

type sentCall struct {
	ID       string              `json:"id"`
	Function schema.FunctionCall `json:"function"`
}

// wire is a request as bytes.
func wire(t testing.TB, messages []*schema.Message) string {
	t.Helper()
	request := make([]sent, 0, len(messages))
	for _, m := range messages {
		s := sent{Role: m.Role, Content: m.Content, Parts: m.UserInputMultiContent, Older: m.MultiContent,
			Made: m.AssistantGenMultiContent, CallID: m.ToolCallID, Name: m.ToolName}
		for _, c := range m.ToolCalls {
			s.Calls = append(s.Calls, sentCall{ID: c.ID, Function: c.Function})
		}
		request = append(request, s)
	}
	b, err := json.Marshal(request)
	if err != nil {
		t.Fatalf("marshal messages: %v", err)
	}
	return string(b)
}

// drain reads a run to its end.
func drain(t testing.TB, events *adk.AsyncIterator[*adk.AgentEvent]) []*adk.AgentEvent {
	t.Helper()
	var out []*adk.AgentEvent
	for {
		e, ok := events.Next()
		if !ok {
			return out
		}
		if e.Output != nil && e.Output.MessageOutput != nil && e.Output.MessageOutput.IsStreaming {
			m, err := schema.ConcatMessageStream(e.Output.MessageOutput.MessageStream)
			if err != nil && e.Err == nil {
				e.Err = err
			}
			e.Output.MessageOutput.Message = m
		}
		out = append(out, e)
	}
}

func noErrors(t testing.TB, events []*adk.AgentEvent) {
	t.Helper()
	for _, e := range events {
		if e.Err != nil {
			t.Fatalf("run: %v", e.Err)
		}
	}
}

// said lists the messages of the events as "role: text".
func said(events []*adk.AgentEvent) []string {
	var out []string
	for _, e := range events {
		if e.Output == nil || e.Output.MessageOutput == nil || e.Output.MessageOutput.Message == nil {
			continue
		}
		m := e.Output.MessageOutput.Message
		out = append(out, string(m.Role)+": "+m.Content)
	}
	return out
}
