package eino_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/wiretest"
)

// tracedModel wraps a model in an adapter of a runtime with a tracer.
func tracedModel(t *testing.T, m model.BaseChatModel, opts ...satchel.Option) (model.ToolCallingChatModel, context.Context, *wiretest.Trace) {
	t.Helper()
	trace := &wiretest.Trace{}
	a, err := eino.New(newRuntime(t, append(opts, satchel.WithTrace(trace))...))
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := a.Model(m)
	if err != nil {
		t.Fatal(err)
	}
	return wrapped, satchel.WithSession(t.Context(), "s"), trace
}

// only returns the only exchange of a trace.
func only(t *testing.T, trace *wiretest.Trace) wiretest.Exchange {
	t.Helper()
	all := trace.Exchanges(t)
	if len(all) != 1 {
		t.Fatalf("the trace has %d exchanges, want 1: %+v", len(all), all)
	}
	return all[0]
}

var question = []*schema.Message{schema.UserMessage("q")}

func TestTraceOfAFailure(t *testing.T) {
	broken := errors.New("503 from the provider")
	for name, m := range map[string]model.BaseChatModel{
		"error": answering(func([]*schema.Message) (*schema.Message, error) { return nil, broken }),
		"panic": answering(func([]*schema.Message) (*schema.Message, error) { panic(broken) }),
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				wrapped, ctx, trace := tracedModel(t, m)
				func() {
					defer func() { _ = recover() }()
					if streaming {
						_, _ = wrapped.Stream(ctx, question)
					} else {
						_, _ = wrapped.Generate(ctx, question)
					}
				}()
				if got := only(t, trace).Answer; got.Err == nil || name == "error" && !errors.Is(got.Err, broken) {
					t.Errorf("the answer is traced as %+v, want the failure", got)
				}
			})
		})
	}
}

// chunks is a model that streams chunks, and then fails if err is set.
type chunks struct {
	parts []*schema.Message
	err   error
}

func (c chunks) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	return nil, errors.ErrUnsupported
}

func (c chunks) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	reader, writer := schema.Pipe[*schema.Message](len(c.parts) + 1)
	for _, p := range c.parts {
		writer.Send(p, nil)
	}
	if c.err != nil {
		writer.Send(nil, c.err)
	}
	writer.Close()
	return reader, nil
}

func TestTraceOfAStream(t *testing.T) {
	first := 0
	parts := []*schema.Message{
		{Role: schema.Assistant, Content: "Let me "},
		{Role: schema.Assistant, Content: "see.", ToolCalls: []schema.ToolCall{{Index: &first, ID: "1", Function: schema.FunctionCall{Name: "look", Arguments: "{"}}}},
		{Role: schema.Assistant, ToolCalls: []schema.ToolCall{{Index: &first, Function: schema.FunctionCall{Arguments: "}"}}}},
		metered(schema.AssistantMessage("", nil), 100, 40, 7),
	}
	broken := errors.New("the stream broke")
	for _, tc := range []struct {
		name  string
		model chunks
		reads int // chunks that are read before the reader is closed; 0 reads all
		want  core.ModelAnswer
	}{
		{"read to the end", chunks{parts: parts}, 0, core.ModelAnswer{Text: "Let me see.", Calls: []core.ToolCall{{ID: "1", Name: "look", Arguments: "{}"}},
			Usage: core.Usage{Prompt: 100, Cached: 40, Completion: 7}}},
		{"closed early", chunks{parts: parts}, 1, core.ModelAnswer{Text: "Let me see.", Calls: []core.ToolCall{{ID: "1", Name: "look", Arguments: "{"}}}},
		{"broken", chunks{parts, broken}, 0, core.ModelAnswer{Err: broken, Usage: core.Usage{Prompt: 100, Cached: 40, Completion: 7}}},
		{"empty", chunks{}, 0, core.ModelAnswer{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			wrapped, ctx, trace := tracedModel(t, tc.model)
			stream, err := wrapped.Stream(ctx, question)
			if err != nil {
				t.Fatal(err)
			}
			for n := 0; err == nil && (tc.reads == 0 || n < tc.reads); n++ {
				_, err = stream.Recv()
			}
			stream.Close()
			eventually(t, "the answer", func() bool { return trace.Answers() == 1 })
			got := only(t, trace).Answer
			if got.Text != tc.want.Text || !slices.Equal(got.Calls, tc.want.Calls) || got.Usage != tc.want.Usage || !errors.Is(got.Err, tc.want.Err) {
				t.Errorf("the answer is traced as %+v, want %+v", got, tc.want)
			}
		})
	}
}

// The request with file parts that the client refuses and the one without them are two requests.
func TestTraceOfRefusedFiles(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		refusal := errors.New("unsupported chat message part type: file_url")
		var refused atomic.Int64
		trace := &wiretest.Trace{}
		cfg := &adk.ChatModelAgentConfig{Model: refusingModel{script(say("one")), &refused, refusal}}
		install(t, cfg, newRuntime(t, satchel.WithTrace(trace)))
		noErrors(t, run(t, newAgent(t, cfg), "s", streaming, fileMessage("https://example.com/a", [2]string{"x.csv", "x,y\n"})))
		all := trace.Exchanges(t)
		if len(all) != 2 || !errors.Is(all[0].Answer.Err, refusal) || all[1].Answer.Err != nil || all[1].Answer.Text != "one" {
			t.Fatalf("the trace is %+v, want a refused request and one with an answer", all)
		}
		last := func(r core.ModelRequest) string { return r.Messages[len(r.Messages)-1].Text }
		if last(all[0].Request) != last(all[1].Request) {
			t.Errorf("the texts are\n%s\nand\n%s", last(all[0].Request), last(all[1].Request))
		}
	})
}

// namedModel names itself.
type namedModel struct{ *scripted }

func (namedModel) ModelName() string { return "own-name" }

func (m namedModel) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	bound := *m.scripted
	bound.bound = tools
	return namedModel{&bound}, nil
}

func TestTraceNamesTheModel(t *testing.T) {
	for _, tc := range []struct {
		model model.BaseChatModel
		opts  []model.Option
		want  string
	}{
		{script(say("a")), nil, ""},
		{script(say("a")), []model.Option{model.WithModel("small")}, "small"},
		{namedModel{script(say("a"))}, nil, "own-name"},
		{namedModel{script(say("a"))}, []model.Option{model.WithModel("small")}, "small"},
	} {
		wrapped, ctx, trace := tracedModel(t, tc.model)
		bound, err := wrapped.WithTools([]*schema.ToolInfo{{Name: "look"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bound.Generate(ctx, question, tc.opts...); err != nil {
			t.Fatal(err)
		}
		if got := only(t, trace).Request.Model; got != tc.want {
			t.Errorf("the model is traced as %q, want %q", got, tc.want)
		}
	}
}

// A request of a session without skills is traced without the skill tools.
func TestTraceHasTheToolsThatAreSent(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		trace := &wiretest.Trace{}
		m := script(say("done"))
		rt := newRuntime(t, satchel.WithTrace(trace), satchel.WithAudience(func(context.Context, core.SessionKey) satchel.Audience {
			return satchel.Audience{Key: "a", Allow: func(core.Skill) bool { return allowed }}
		}))
		a := newReact(t, &react.AgentConfig{ToolCallingModel: m, ToolsConfig: compose.ToolsNodeConfig{}}, rt)
		askReact(t, satchel.WithSession(t.Context(), "s"), a, false, question)
		var names []string
		for _, d := range only(t, trace).Request.Tools {
			names = append(names, d.Name)
		}
		if !slices.Equal(names, m.offered[0]) || (len(names) > 0) != allowed {
			t.Errorf("allowed %v: the trace has the tools %q, want %q", allowed, names, m.offered[0])
		}
	}
}

// Each request of a fork is traced under the fork's key, between that of the load and the next one of the agent.
func TestTraceOfAFork(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		trace := &wiretest.Trace{}
		m := script(loading("1", "report"), withUsage(say("THE REPORT"), 200, 20), say("done"))
		h := newForkHost(t, satchel.Fork{}, m, satchel.WithTrace(trace))
		noErrors(t, run(t, h.agent, "s", streaming, schema.UserMessage("report, please")))
		var got []string
		for _, e := range trace.Exchanges(t) {
			got = append(got, e.Request.Key.Agent+" "+e.Answer.Text)
		}
		if want := []string{"agent ", "agent/fork:report#1 THE REPORT", "agent done"}; !slices.Equal(got, want) {
			t.Errorf("the trace is %q, want %q", got, want)
		}
	})
}

// Agents that hand the conversation over or are tools of each other are traced under keys of their own.
func TestTraceOfTwoAgents(t *testing.T) {
	for _, isTool := range []bool{false, true} {
		trace := &wiretest.Trace{}
		rt := newRuntime(t, satchel.WithTrace(trace))
		helper := &adk.ChatModelAgentConfig{Name: "helper", Description: "Helps.", Model: script(loading("1", "pdf"), say("helped"))}
		lead := &adk.ChatModelAgentConfig{Name: "lead", Description: "Leads.", Model: script(
			calling(call("2", "transfer_to_agent", `{"agent_name":"helper"}`)))}
		install(t, helper, rt)
		h := newAgent(t, helper)
		if isTool {
			lead.Model = script(calling(call("2", "helper", `{"request":"help"}`)), say("done"))
			lead.ToolsConfig.Tools = append(lead.ToolsConfig.Tools, adk.NewAgentTool(t.Context(), h))
		}
		install(t, lead, rt)
		var agent adk.Agent = newAgent(t, lead)
		if !isTool {
			both, err := adk.SetSubAgents(t.Context(), agent, []adk.Agent{h})
			if err != nil {
				t.Fatal(err)
			}
			agent = both
		}
		noErrors(t, run(t, agent, "s", false, schema.UserMessage("go")))
		var got []string
		for _, e := range trace.Exchanges(t) {
			got = append(got, e.Request.Key.Agent)
		}
		want := []string{"lead", "helper", "helper"}
		if isTool {
			want = append(want, "lead")
		}
		if !slices.Equal(got, want) {
			t.Errorf("tool %v: the trace has the agents %s, want %s", isTool, strings.Join(got, ", "), strings.Join(want, ", "))
		}
	}
}
