package eino_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
)

func newAgent(t testing.TB, cfg *adk.ChatModelAgentConfig) *adk.ChatModelAgent {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "agent"
	}
	if cfg.Description == "" {
		cfg.Description = "An agent."
	}
	a, err := adk.NewChatModelAgent(t.Context(), cfg)
	if err != nil {
		t.Fatalf("new agent: %v", err)
	}
	return a
}

func install(t testing.TB, cfg *adk.ChatModelAgentConfig, rt *satchel.Runtime, opts ...eino.Option) {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "agent"
	}
	if _, err := eino.Install(cfg, rt, opts...); err != nil {
		t.Fatalf("install: %v", err)
	}
}

// run runs an agent in a named session, streaming or not.
func run(t testing.TB, agent adk.Agent, session string, streaming bool, messages ...*schema.Message) []*adk.AgentEvent {
	t.Helper()
	return runUnder(t, t.Context(), agent, session, streaming, messages...)
}

//nolint:revive // the context is an argument of the test, which comes first
func runUnder(t testing.TB, ctx context.Context, agent adk.Agent, session string, streaming bool, messages ...*schema.Message) []*adk.AgentEvent {
	t.Helper()
	if session != "" {
		ctx = satchel.WithSession(ctx, session)
	}
	r := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: streaming})
	return drain(t, r.Run(ctx, messages))
}

// both runs a test for Generate and for Stream.
func both(t *testing.T, f func(t *testing.T, streaming bool)) {
	t.Run("generate", func(t *testing.T) { f(t, false) })
	t.Run("stream", func(t *testing.T) { f(t, true) })
}

func TestInstallViewIsNotPersisted(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		m := script(loading("1", "pdf"), calling(call("2", "look", `{"at":"{x}"}`)), say("done"))
		var stored []string
		cfg := &adk.ChatModelAgentConfig{
			Model:       m,
			Instruction: `Answer as {"a": 1}, {{ .B }}`,
			ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{&hostTool{name: "look"}}}},
			Middlewares: []adk.AgentMiddleware{{BeforeChatModel: func(_ context.Context, s *adk.ChatModelAgentState) error {
				stored = append(stored, allText(s.Messages))
				return nil
			}}},
		}
		install(t, cfg, newRuntime(t))
		history := []*schema.Message{schema.UserMessage("earlier {q}"), say("earlier {{a}}"), schema.UserMessage("read {this} and {{ that }}")}
		before := cloneMessages(history)
		events := run(t, newAgent(t, cfg), "s", streaming, history...)
		noErrors(t, events)

		if m.calls() != 3 {
			t.Fatalf("model was called %d times, want 3", m.calls())
		}
		for i, bodies := range []int{0, 1, 1} {
			req := m.request(t, i)
			if got := shows(req, pdfBody); got != bodies {
				t.Errorf("call %d shows the body %d times, want %d:\n%s", i, got, bodies, allText(req))
			}
			if got := shows(req, "<available_skills>"); got != 1 {
				t.Errorf("call %d shows the overview %d times, want 1", i, got)
			}
			if !strings.HasPrefix(req[0].Content, `Answer as {"a": 1}, {{ .B }}`) {
				t.Errorf("call %d begins with %q, want the instruction verbatim", i, req[0].Content)
			}
			if got := text(req[3]); got != "read {this} and {{ that }}" {
				t.Errorf("call %d has the user message as %q, want it verbatim", i, got)
			}
		}
		for i, s := range stored {
			if strings.Contains(s, pdfBody) || strings.Contains(s, "<available_skills>") {
				t.Errorf("history before call %d holds the view:\n%s", i, s)
			}
		}
		for _, s := range said(events) {
			if strings.Contains(s, pdfBody) {
				t.Errorf("event holds the body: %s", s)
			}
		}
		if !reflect.DeepEqual(before, history) {
			t.Error("the caller's messages were changed")
		}
		for i, ok := range m.withKey {
			if !ok {
				t.Errorf("call %d has no session key in its context", i)
			}
		}
	})
}

func TestInstallAppendsOnly(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		m := script(loading("1", "pdf"), loading("2", "csv"),
			calling(call("3", "skill_select_docs", `{"skill":"pdf","docs":["forms.md"],"mode":"add"}`)), say("done"))
		cfg := &adk.ChatModelAgentConfig{Model: m, Instruction: "Work."}
		install(t, cfg, newRuntime(t))
		noErrors(t, run(t, newAgent(t, cfg), "s", streaming, schema.UserMessage("go")))
		for i := 1; i < m.calls(); i++ {
			shorter := strings.TrimSuffix(wire(t, m.request(t, i-1)), "]")
			if !strings.HasPrefix(wire(t, m.request(t, i)), shorter) {
				t.Errorf("call %d does not begin with call %d", i, i-1)
			}
		}
		last := m.request(t, m.calls()-1)
		for _, body := range []string{pdfBody, csvBody, "FORMS DOC"} {
			if got := shows(last, body); got != 1 {
				t.Errorf("last call shows %q %d times, want 1", body, got)
			}
		}
	})
}

func TestSessionValuesAndBraces(t *testing.T) {
	m := script(loading("1", "pdf"), say("done"))
	cfg := &adk.ChatModelAgentConfig{Model: m, Instruction: "Hello {who}."}
	install(t, cfg, newRuntime(t))
	ctx := satchel.WithSession(t.Context(), "s")
	r := adk.NewRunner(ctx, adk.RunnerConfig{Agent: newAgent(t, cfg)})
	noErrors(t, drain(t, r.Query(ctx, "use {braces}", adk.WithSessionValues(map[string]any{"who": "Ada"}))))
	req := m.request(t, 1)
	if !strings.HasPrefix(req[0].Content, "Hello Ada.") || shows(req, pdfBody) != 1 || shows(req, "use {braces}") != 1 {
		t.Errorf("request is:\n%s", allText(req))
	}
}

func TestRetrySendsTheSameView(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		flaky, n := errors.New("flaky"), 0
		replies := []*schema.Message{loading("1", "pdf"), nil, nil, say("done")}
		m := answering(func([]*schema.Message) (*schema.Message, error) {
			n++
			if replies[n-1] == nil {
				return nil, flaky
			}
			return replies[n-1], nil
		})
		cfg := &adk.ChatModelAgentConfig{Model: m, ModelRetryConfig: &adk.ModelRetryConfig{MaxRetries: 3,
			BackoffFunc: func(context.Context, int) time.Duration { return 0 }}}
		install(t, cfg, newRuntime(t))
		events := run(t, newAgent(t, cfg), "s", streaming, schema.UserMessage("q"))
		noErrors(t, events)
		if m.calls() != 4 {
			t.Fatalf("model was called %d times, want 4", m.calls())
		}
		first := wire(t, m.request(t, 1))
		for i := 2; i < 4; i++ {
			if wire(t, m.request(t, i)) != first {
				t.Errorf("retry %d was sent another view", i-1)
			}
		}
		if got := len(said(events)); got != 3 {
			t.Errorf("got %d messages %q, want call, result, answer", got, said(events))
		}
	})
}

func TestAssistantEventsAreNotDoubled(t *testing.T) {
	for _, selfReports := range []bool{false, true} {
		for _, retry := range []bool{false, true} {
			both(t, func(t *testing.T, streaming bool) {
				m := script(loading("1", "pdf"), say("done"))
				m.selfReports = selfReports
				cfg := &adk.ChatModelAgentConfig{Model: m}
				if retry {
					cfg.ModelRetryConfig = &adk.ModelRetryConfig{MaxRetries: 1}
				}
				install(t, cfg, newRuntime(t))
				events := run(t, newAgent(t, cfg), "s", streaming, schema.UserMessage("q"))
				noErrors(t, events)
				if got := said(events); len(got) != 3 || got[2] != "assistant: done" {
					t.Errorf("self-reporting %t, retrying %t: agent said %q, want three messages", selfReports, retry, got)
				}
			})
		}
	}
}

func TestProblemsOfSkillToolsAreText(t *testing.T) {
	for _, args := range []string{`{"skill":"pfd"}`, `{`, ``, `pdf`, `{"__arg1":"pdf"}`, `{"skill":7}`, `null`} {
		t.Run(args, func(t *testing.T) {
			m := script(calling(call("1", "skill_load", args)), say("done"))
			cfg := &adk.ChatModelAgentConfig{Model: m}
			install(t, cfg, newRuntime(t))
			events := run(t, newAgent(t, cfg), "s", false, schema.UserMessage("q"))
			noErrors(t, events)
			if got := said(events); len(got) != 3 || len(got[1]) <= len("tool: ") {
				t.Errorf("agent said %q, want an answer to the call", got)
			}
		})
	}
}

func TestLoadAndUseInOneMessage(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		m := script(calling(call("1", "skill_load", `{"skill":"pdf"}`), call("2", "skill_load", `{"skill":"csv"}`),
			call("3", "skill_list_docs", `{"skill":"pdf"}`), call("4", "skill_read", `{"skill":"csv","path":"delimiter.md"}`)), say("done"))
		cfg := &adk.ChatModelAgentConfig{Model: m}
		install(t, cfg, newRuntime(t))
		noErrors(t, run(t, newAgent(t, cfg), "s", streaming, schema.UserMessage("q")))
		req := m.request(t, 1)
		for _, want := range []string{pdfBody, csvBody, "forms.md", "DELIMITER DOC"} {
			if shows(req, want) == 0 {
				t.Errorf("request lacks %q:\n%s", want, allText(req))
			}
		}
	})
}

// Some clients take no file parts: the model gets the words beside them.
func TestModelsWithoutFileParts(t *testing.T) {
	file := schema.MessageInputPart{Type: schema.ChatMessagePartTypeFileURL, File: &schema.MessageInputFile{Name: "a.csv"}}
	words := schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: "sum it up"}
	m := script(say("3"))
	cfg := &adk.ChatModelAgentConfig{Model: m, Instruction: "Count."}
	install(t, cfg, newRuntime(t), eino.WithoutFileParts())
	ctx := satchel.WithSession(t.Context(), "s")
	r := adk.NewRunner(ctx, adk.RunnerConfig{Agent: newAgent(t, cfg)})
	noErrors(t, drain(t, r.Run(ctx, []*schema.Message{{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{words, file}}})))
	req := m.request(t, 0)
	if parts := req[len(req)-1].UserInputMultiContent; len(parts) != 1 || parts[0].Text != words.Text {
		t.Errorf("the model got %+v", parts)
	}
}

func TestPartsSurvive(t *testing.T) {
	url := "https://example.com/cat.png"
	image := schema.MessageInputPart{Type: schema.ChatMessagePartTypeImageURL,
		Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{URL: &url}}}
	words := schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: "what is this?"}
	for name, msg := range map[string]*schema.Message{
		"input parts": {Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{words, image}},
		"old parts": {Role: schema.User, MultiContent: []schema.ChatMessagePart{
			{Type: schema.ChatMessagePartTypeText, Text: "what is this?"},
			{Type: schema.ChatMessagePartTypeImageURL, ImageURL: &schema.ChatMessageImageURL{URL: url}}}},
	} {
		t.Run(name, func(t *testing.T) {
			m := script(say("a cat"))
			cfg := &adk.ChatModelAgentConfig{Model: m, Instruction: "Look."}
			install(t, cfg, newRuntime(t))
			ctx := satchel.WithLoads(satchel.WithSession(t.Context(), "s"), satchel.Load{Skill: "pdf"})
			before := cloneMessages([]*schema.Message{msg})
			r := adk.NewRunner(ctx, adk.RunnerConfig{Agent: newAgent(t, cfg)})
			noErrors(t, drain(t, r.Run(ctx, []*schema.Message{msg})))
			req := m.request(t, 0)
			got := req[len(req)-1]
			in, old := got.UserInputMultiContent, got.MultiContent
			switch {
			case len(in) == 3 && reflect.DeepEqual(in[:2], msg.UserInputMultiContent) && strings.Contains(in[2].Text, pdfBody):
			case len(old) == 3 && reflect.DeepEqual(old[:2], msg.MultiContent) && strings.Contains(old[2].Text, pdfBody):
			default:
				t.Errorf("the user message is %+v, want its parts and then the skill", got)
			}
			if !reflect.DeepEqual(before[0], msg) {
				t.Error("the caller's message was changed")
			}
		})
	}
}
