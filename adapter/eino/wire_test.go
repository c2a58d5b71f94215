package eino_test

import (
	"context"
	"errors"
	"flag"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/wiretest"
)

var update = flag.Bool("update", false, "write the golden files of the wire tests anew")

// The model gets the same requests with every version of Eino, and after every failure on the
// way.
func TestWire(t *testing.T) {
	for _, c := range wiretest.Conversations() {
		t.Run(c.Name, func(t *testing.T) {
			for name, way := range map[string]func(*testing.T, *wiretest.Conversation, *satchel.Runtime, *wireModel){
				"generate": func(t *testing.T, c *wiretest.Conversation, rt *satchel.Runtime, m *wireModel) {
					playAgent(t, c, rt, m, false)
				},
				"stream": func(t *testing.T, c *wiretest.Conversation, rt *satchel.Runtime, m *wireModel) {
					playAgent(t, c, rt, m, true)
				},
				"retried":     playRetried,
				"interrupted": playInterrupted,
				"react":       playReact,
			} {
				t.Run(name, func(t *testing.T) {
					m := &wireModel{t: t, script: c.Model()}
					trace := &wiretest.Trace{}
					rt := c.Runtime(t, satchel.WithTrace(trace))
					way(t, &c, rt, m)
					m.script.Check(t, c.Name, rt.Tools(), *update, "../../internal/testing/wiretest")
					trace.Check(t, m.script)
				})
			}
		})
	}
}

// wireModel is the script as a model of Eino.
type wireModel struct {
	t      *testing.T
	script *wiretest.Model
	// fails makes each request fail once before it is answered.
	fails bool

	mu    sync.Mutex
	tries int
}

var errFlaky = errors.New("try again")

func (m *wireModel) WithTools(bound []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	return &boundWireModel{m, bound}, nil
}

func (m *wireModel) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	return (&boundWireModel{wireModel: m}).Generate(ctx, in, opts...)
}

func (m *wireModel) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return (&boundWireModel{wireModel: m}).Stream(ctx, in, opts...)
}

func (m *wireModel) isDown() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tries++
	return m.fails && m.tries%2 == 1
}

type boundWireModel struct {
	*wireModel
	bound []*schema.ToolInfo
}

func (m *boundWireModel) Generate(_ context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	if m.isDown() {
		return nil, errFlaky
	}
	answer, err := m.script.Answer(wireRequest(m.t, in, model.GetCommonOptions(&model.Options{Tools: m.bound}, opts...).Tools))
	if err != nil {
		return nil, err
	}
	out := schema.AssistantMessage(answer.Text, nil)
	for _, c := range answer.Calls {
		out.ToolCalls = append(out.ToolCalls, call(c.ID, c.Name, c.Arguments))
	}
	return out, nil
}

func (m *boundWireModel) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	out, err := m.Generate(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray(deltas(out)), nil
}

// wireRequest is a request as a provider is sent it.
func wireRequest(t *testing.T, in []*schema.Message, offered []*schema.ToolInfo) wiretest.Request {
	var r wiretest.Request
	for _, m := range in {
		sent := wiretest.Message{Role: string(m.Role), Text: text(m), CallID: m.ToolCallID, Name: m.ToolName}
		for _, c := range m.ToolCalls {
			sent.Calls = append(sent.Calls, wiretest.Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		r.Messages = append(r.Messages, sent)
	}
	for _, info := range offered {
		s, err := info.ToJSONSchema()
		if err != nil {
			t.Error(err)
		}
		r.Tools = append(r.Tools, core.Definition{Name: info.Name, Description: info.Desc, Schema: s})
	}
	return r
}

// wireTool is the host's tool. It interrupts the run at each call first, if it asks.
type wireTool struct{ asks bool }

func (*wireTool) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: wiretest.HostTool, Desc: wiretest.HostTool,
		ParamsOneOf: schema.NewParamsOneOfByJSONSchema(&jsonschema.Schema{Type: "object"})}, nil
}

func (w *wireTool) InvokableRun(ctx context.Context, _ string, _ ...tool.Option) (string, error) {
	if w.asks {
		if target, _, _ := tool.GetResumeContext[string](ctx); !target {
			return "", tool.Interrupt(ctx, "may I?")
		}
	}
	return wiretest.HostAnswer, nil
}

func playAgent(t *testing.T, c *wiretest.Conversation, rt *satchel.Runtime, m *wireModel, streaming bool) {
	cfg := &adk.ChatModelAgentConfig{Model: m, Instruction: wiretest.System}
	playADK(t, c, rt, cfg, false, streaming)
}

func playRetried(t *testing.T, c *wiretest.Conversation, rt *satchel.Runtime, m *wireModel) {
	m.fails = true
	playADK(t, c, rt, &adk.ChatModelAgentConfig{Model: m, Instruction: wiretest.System, ModelRetryConfig: &adk.ModelRetryConfig{
		MaxRetries: 1, BackoffFunc: func(context.Context, int) time.Duration { return 0 }}}, false, false)
}

func playInterrupted(t *testing.T, c *wiretest.Conversation, rt *satchel.Runtime, m *wireModel) {
	playADK(t, c, rt, &adk.ChatModelAgentConfig{Model: m, Instruction: wiretest.System}, true, false)
}

// playADK plays a conversation with an agent of adk. The host builds the history from its
// events.
func playADK(t *testing.T, c *wiretest.Conversation, rt *satchel.Runtime, cfg *adk.ChatModelAgentConfig, asks, streaming bool) {
	t.Helper()
	cfg.ToolsConfig.Tools = []tool.BaseTool{&wireTool{asks}}
	install(t, cfg, rt)
	agent := newAgent(t, cfg)
	ctx := satchel.WithSession(t.Context(), "s")
	var history []*schema.Message
	for _, turn := range c.Turns {
		history = append(history, wireUser(turn))
		r := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: streaming, CheckPointStore: &checkpoints{}})
		events := drain(t, r.Run(ctx, history, adk.WithCheckPointID("c")))
		history = append(history, messagesOf(t, events)...)
		for targets := questions(events); targets != nil; targets = questions(events) {
			resumed, err := r.ResumeWithParams(ctx, "c", &adk.ResumeParams{Targets: targets})
			if err != nil {
				t.Fatal(err)
			}
			events = drain(t, resumed)
			history = append(history, messagesOf(t, events)...)
		}
	}
}

func messagesOf(t *testing.T, events []*adk.AgentEvent) []*schema.Message {
	t.Helper()
	noErrors(t, events)
	var all []*schema.Message
	for _, e := range events {
		if e.Output != nil && e.Output.MessageOutput != nil && e.Output.MessageOutput.Message != nil {
			all = append(all, e.Output.MessageOutput.Message)
		}
	}
	return all
}

// wireUser is what a user says, with the files beside it.
func wireUser(turn wiretest.Turn) *schema.Message {
	if len(turn.Files) == 0 {
		return schema.UserMessage(turn.User)
	}
	m := &schema.Message{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{
		{Type: schema.ChatMessagePartTypeText, Text: turn.User}}}
	for _, f := range turn.Files {
		url := f.URL()
		m.UserInputMultiContent = append(m.UserInputMultiContent, schema.MessageInputPart{
			Type: schema.ChatMessagePartTypeFileURL, File: &schema.MessageInputFile{MessagePartCommon: schema.MessagePartCommon{URL: &url}}})
	}
	return m
}

// questions are the interrupts that a run ended in, all answered; nil if it did not.
func questions(events []*adk.AgentEvent) map[string]any {
	last := events[len(events)-1]
	if last.Action == nil || last.Action.Interrupted == nil {
		return nil
	}
	targets := map[string]any{}
	for _, c := range last.Action.Interrupted.InterruptContexts {
		if c.IsRootCause {
			targets[c.ID] = "yes"
		}
	}
	return targets
}

// playReact plays a conversation with a react agent.
func playReact(t *testing.T, c *wiretest.Conversation, rt *satchel.Runtime, m *wireModel) {
	a := newReact(t, &react.AgentConfig{
		ToolCallingModel: m, MaxStep: 40,
		ToolsConfig:     compose.ToolsNodeConfig{Tools: []tool.BaseTool{&wireTool{}}},
		MessageModifier: react.NewPersonaModifier(wiretest.System),
	}, rt)
	ctx := satchel.WithSession(t.Context(), "s")
	var history []*schema.Message
	for _, turn := range c.Turns {
		history = append(history, wireUser(turn))
		option, future := react.WithMessageFuture()
		askReact(t, ctx, a, false, history, option)
		for messages := future.GetMessages(); ; {
			message, ok, err := messages.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			history = append(history, message)
		}
	}
}
