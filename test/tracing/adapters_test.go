// Package tracing compares what the adapters report to a tracer.
package tracing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	einomodel "github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/adapter/langchaingo"
	"github.com/satchel-go/satchel/internal/testing/wiretest"
)

// The same conversation gives the same trace in both frameworks, streamed or not.
func TestAdaptersTraceTheSame(t *testing.T) {
	for _, c := range wiretest.Conversations() {
		t.Run(c.Name, func(t *testing.T) {
			traceOf := func(play func(*testing.T, *wiretest.Conversation, *satchel.Runtime)) []string {
				trace := &wiretest.Trace{}
				play(t, &c, c.Runtime(t, satchel.WithTrace(trace)))
				return trace.Lines(t)
			}
			whole := traceOf(func(t *testing.T, c *wiretest.Conversation, rt *satchel.Runtime) { playEino(t, c, rt, false) })
			streamed := traceOf(func(t *testing.T, c *wiretest.Conversation, rt *satchel.Runtime) { playEino(t, c, rt, true) })
			compare(t, "Eino, streamed", streamed, whole)
			chain := traceOf(func(t *testing.T, c *wiretest.Conversation, rt *satchel.Runtime) { playChain(t, c, rt) })
			compare(t, "langchaingo", chain, whole)
		})
	}
}

// A client that gets its messages in another form gets the same texts, and the trace says where they stand.
func TestTextsInMessagesOfAnthropic(t *testing.T) {
	for _, c := range wiretest.Conversations() {
		t.Run(c.Name, func(t *testing.T) {
			textsOf := func(opts ...langchaingo.Option) []string {
				trace := &wiretest.Trace{}
				playChain(t, &c, c.Runtime(t, satchel.WithTrace(trace)), opts...)
				return placedTexts(t, trace)
			}
			compare(t, "Anthropic", textsOf(langchaingo.WithClient(&anthropic.LLM{})), textsOf())
		})
	}
}

// placedTexts returns the texts in the views of a trace, one line for each.
func placedTexts(t *testing.T, trace *wiretest.Trace) []string {
	t.Helper()
	var all []string
	for i, e := range trace.Exchanges(t) {
		for _, p := range e.Request.View.Texts {
			shown := e.Request.Messages[p.Message].Text[p.Start:p.End]
			all = append(all, fmt.Sprintf("request %d: skill %q, doc %q, load %d, %s, %s: %s", i, p.Skill, p.Doc, p.Load, p.Mode, p.Leaves, strings.TrimSpace(shown)))
		}
	}
	return all
}

// compare reports the first line that differs from that of Eino.
func compare(t *testing.T, name string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d lines, want %d", name, len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: line %d is\n%s\nwant\n%s", name, i, got[i], want[i])
			return
		}
	}
}

const hostSchema = `{"type":"object"}`

// einoModel answers a script in Eino.
type einoModel struct {
	answers []wiretest.Answer
	asked   int
	onCall  func() error // nil for nothing
}

func (m *einoModel) Generate(context.Context, []*schema.Message, ...einomodel.Option) (*schema.Message, error) {
	if m.onCall != nil {
		if err := m.onCall(); err != nil {
			return nil, err
		}
	}
	if m.asked >= len(m.answers) {
		return nil, errors.New("the script has ended")
	}
	answer := m.answers[m.asked]
	m.asked++
	out := schema.AssistantMessage(answer.Text, nil)
	for _, c := range answer.Calls {
		out.ToolCalls = append(out.ToolCalls, schema.ToolCall{ID: c.ID, Type: "function", Function: schema.FunctionCall{Name: c.Name, Arguments: c.Arguments}})
	}
	return out, nil
}

func (m *einoModel) WithTools([]*schema.ToolInfo) (einomodel.ToolCallingChatModel, error) {
	return m, nil
}

func (m *einoModel) Stream(ctx context.Context, in []*schema.Message, opts ...einomodel.Option) (*schema.StreamReader[*schema.Message], error) {
	out, err := m.Generate(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{out}), nil
}

// einoTool is the tool of the host in Eino.
type einoTool struct{}

func (einoTool) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: wiretest.HostTool, Desc: wiretest.HostTool,
		ParamsOneOf: schema.NewParamsOneOfByJSONSchema(&jsonschema.Schema{Type: "object"})}, nil
}

func (einoTool) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return wiretest.HostAnswer, nil
}

// playEino plays a conversation in a loop of the host.
func playEino(t *testing.T, c *wiretest.Conversation, rt *satchel.Runtime, streaming bool) {
	t.Helper()
	cfg := &react.AgentConfig{ToolCallingModel: &einoModel{answers: answers(c)}, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{einoTool{}}}}
	if _, err := eino.InstallReact(cfg, rt); err != nil {
		t.Fatal(err)
	}
	var infos []*schema.ToolInfo
	for _, one := range cfg.ToolsConfig.Tools {
		info, err := one.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		infos = append(infos, info)
	}
	bound, err := cfg.ToolCallingModel.WithTools(infos)
	if err != nil {
		t.Fatal(err)
	}
	node, err := compose.NewToolNode(t.Context(), &cfg.ToolsConfig)
	if err != nil {
		t.Fatal(err)
	}
	ctx := satchel.WithSession(t.Context(), "s")
	history := []*schema.Message{schema.SystemMessage(wiretest.System)}
	for _, turn := range c.Turns {
		history = append(history, einoUser(turn))
		for ended := false; !ended; {
			out, err := ask(ctx, bound, history, streaming)
			if err != nil {
				t.Fatal(err)
			}
			history = append(history, out)
			if ended = len(out.ToolCalls) == 0; ended {
				continue
			}
			results, err := node.Invoke(ctx, out)
			if err != nil {
				t.Fatal(err)
			}
			history = append(history, results...)
		}
	}
}

func ask(ctx context.Context, m einomodel.BaseChatModel, history []*schema.Message, streaming bool) (*schema.Message, error) {
	if !streaming {
		return m.Generate(ctx, history)
	}
	stream, err := m.Stream(ctx, history)
	if err != nil {
		return nil, err
	}
	return schema.ConcatMessageStream(stream)
}

// einoUser is what a user says, with the files beside it.
func einoUser(turn wiretest.Turn) *schema.Message {
	if len(turn.Files) == 0 {
		return schema.UserMessage(turn.User)
	}
	m := &schema.Message{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{{Type: schema.ChatMessagePartTypeText, Text: turn.User}}}
	for _, f := range turn.Files {
		url := f.URL()
		m.UserInputMultiContent = append(m.UserInputMultiContent, schema.MessageInputPart{
			Type: schema.ChatMessagePartTypeFileURL, File: &schema.MessageInputFile{MessagePartCommon: schema.MessagePartCommon{URL: &url}}})
	}
	return m
}

// answers returns all answers of a conversation.
func answers(c *wiretest.Conversation) (all []wiretest.Answer) {
	for _, turn := range c.Turns {
		all = append(all, turn.Answers...)
	}
	return all
}

// chainModel answers a script in langchaingo.
type chainModel struct {
	answers []wiretest.Answer
	asked   int
	onCall  func() error // nil for nothing
}

func (m *chainModel) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return "", errors.New("the script answers messages only")
}

func (m *chainModel) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	if m.onCall != nil {
		if err := m.onCall(); err != nil {
			return nil, err
		}
	}
	if m.asked >= len(m.answers) {
		return nil, errors.New("the script has ended")
	}
	answer := m.answers[m.asked]
	m.asked++
	choice := &llms.ContentChoice{Content: answer.Text, StopReason: "stop"}
	for _, c := range answer.Calls {
		choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: c.ID, Type: "function", FunctionCall: &llms.FunctionCall{Name: c.Name, Arguments: c.Arguments}})
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

// chainTool is the tool of the host in langchaingo.
type chainTool struct{}

func (chainTool) Name() string                                 { return wiretest.HostTool }
func (chainTool) Description() string                          { return wiretest.HostTool }
func (chainTool) Schema() json.RawMessage                      { return json.RawMessage(hostSchema) }
func (chainTool) Call(context.Context, string) (string, error) { return wiretest.HostAnswer, nil }

// playChain plays a conversation in a loop of the host.
func playChain(t *testing.T, c *wiretest.Conversation, rt *satchel.Runtime, opts ...langchaingo.Option) {
	t.Helper()
	a, err := langchaingo.Install(rt, &chainModel{answers: answers(c)}, []tools.Tool{chainTool{}}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	offered := llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: wiretest.HostTool, Description: wiretest.HostTool, Parameters: json.RawMessage(hostSchema)}}})
	ctx := satchel.WithSession(t.Context(), "s")
	history := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, wiretest.System)}
	for _, turn := range c.Turns {
		said := llms.TextParts(llms.ChatMessageTypeHuman, turn.User)
		for _, f := range turn.Files {
			said.Parts = append(said.Parts, llms.ImageURLPart(f.URL()))
		}
		history = append(history, said)
		for ended := false; !ended; {
			resp, err := a.Model().GenerateContent(ctx, history, offered)
			if err != nil {
				t.Fatal(err)
			}
			out := llms.MessageContent{Role: llms.ChatMessageTypeAI}
			if text := resp.Choices[0].Content; text != "" {
				out.Parts = append(out.Parts, llms.TextContent{Text: text})
			}
			var results []llms.MessageContent
			for _, call := range resp.Choices[0].ToolCalls {
				out.Parts = append(out.Parts, call)
				result, err := a.Call(ctx, call)
				if err != nil {
					t.Fatal(err)
				}
				results = append(results, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result}})
			}
			history = append(append(history, out), results...)
			ended = len(results) == 0
		}
	}
}
