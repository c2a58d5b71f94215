package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	einoopenai "github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/adapter/langchaingo"
	"github.com/satchel-go/satchel/internal/tracing/line"
	tracing "github.com/satchel-go/satchel/observe/trace"
	"github.com/satchel-go/satchel/satcheltest"
)

// sender is how a host sends requests through one framework and its client for OpenAI.
type sender func(t *testing.T, rt *satchel.Runtime, url string) error

// The tokens of a traced request are those of the body that the client has sent, whatever tools and messages of the host it
// holds.
func TestTraceOfClients(t *testing.T) {
	loads := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf"), satcheltest.Do("plain", map[string]any{})}, Answer: "one"})
	inText := func(r satcheltest.Request) satcheltest.Response {
		texts := []string{"Thought: x\nAction: skill_load\nAction Input: {\"skill\":\"pdf\"}", "Thought: x\nAction: plain\nAction Input: x", "Final Answer: one\nAI: one"}
		return satcheltest.Response{Text: texts[min(r.Number, len(texts))-1]}
	}
	for name, tc := range map[string]struct {
		send   sender
		script satcheltest.Script
	}{
		"eino":           {sendEino, loads},
		"functions":      {sendChain(func(m llms.Model, ts []tools.Tool) agents.Agent { return agents.NewOpenAIFunctionsAgent(m, ts) }), loads},
		"mrkl":           {sendChain(func(m llms.Model, ts []tools.Tool) agents.Agent { return agents.NewOneShotAgent(m, ts) }), inText},
		"conversational": {sendChain(func(m llms.Model, ts []tools.Tool) agents.Agent { return agents.NewConversationalAgent(m, ts) }), inText},
		"parts":          {sendParts, satcheltest.Plan(satcheltest.Turn{Answer: "one"})},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := satcheltest.Open(tc.script)
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			file := traced(t, tc.send, server.URL())
			want := tokensOf(t, server.Requests())
			calls := linesOf(readTrace(t, file), line.EventCall)
			if len(calls) != len(want) {
				t.Fatalf("%d calls for %d requests", len(calls), len(want))
			}
			for i, c := range calls {
				if c.Parts.Sum() != want[i] {
					t.Errorf("call %d has %d tokens in %+v, want %d for\n%s", i+1, c.Parts.Sum(), c.Parts, want[i], server.Requests()[i].Raw)
				}
			}
		})
	}
}

// einoTool is a tool of the host, with or without parameters.
type einoTool struct{ info schema.ToolInfo }

func (e einoTool) Info(context.Context) (*schema.ToolInfo, error) { return &e.info, nil }

func (einoTool) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "ran", nil
}

func sendEino(t *testing.T, rt *satchel.Runtime, url string) error {
	model, err := einoopenai.NewChatModel(t.Context(), &einoopenai.ChatModelConfig{BaseURL: url, APIKey: "none", Model: "m"})
	if err != nil {
		return err
	}
	cfg := &adk.ChatModelAgentConfig{Name: "a", Description: "d", Model: model}
	cfg.ToolsConfig.Tools = []tool.BaseTool{
		einoTool{schema.ToolInfo{Name: "plain", Desc: "Has no <parameters>."}},
		einoTool{schema.ToolInfo{Name: "other", Desc: "Has & parameters.", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			"z": {Type: schema.String, Desc: "Is <z>", Required: true}, "a": {Type: schema.Integer}})}},
	}
	if _, err := eino.Install(cfg, rt); err != nil {
		return err
	}
	agent, err := adk.NewChatModelAgent(t.Context(), cfg)
	if err != nil {
		return err
	}
	said := &schema.Message{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{
		{Type: schema.ChatMessagePartTypeText, Text: "hello "}, {Type: schema.ChatMessagePartTypeText, Text: "wörld"}}}
	events := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent}).Run(satchel.WithSession(t.Context(), "s"), []adk.Message{said})
	for {
		e, ok := events.Next()
		if !ok || e.Err != nil {
			if ok {
				err = e.Err
			}
			return err
		}
	}
}

// chainTool is a tool of the host.
type chainTool struct{}

func (chainTool) Name() string                                 { return "plain" }
func (chainTool) Description() string                          { return `Is a "plain" <tool> & more.` }
func (chainTool) Call(context.Context, string) (string, error) { return "ran", nil }

// openChain opens the client of langchaingo.
func openChain(rt *satchel.Runtime, url string) (*langchaingo.Adapter, error) {
	llm, err := openai.New(openai.WithBaseURL(url), openai.WithToken("none"), openai.WithModel("m"))
	if err != nil {
		return nil, err
	}
	return langchaingo.Install(rt, llm, []tools.Tool{chainTool{}})
}

func sendChain(newAgent func(llms.Model, []tools.Tool) agents.Agent) sender {
	return func(t *testing.T, rt *satchel.Runtime, url string) error {
		a, err := openChain(rt, url)
		if err != nil {
			return err
		}
		executor := agents.NewExecutor(a.Agent(newAgent(a.Model(), a.Tools())))
		_, err = chains.Call(satchel.WithSession(t.Context(), "s"), executor, map[string]any{"input": "hello wörld", "history": ""})
		return err
	}
}

// sendParts sends messages of several parts, and a tool without parameters.
func sendParts(t *testing.T, rt *satchel.Runtime, url string) error {
	a, err := openChain(rt, url)
	if err != nil {
		return err
	}
	bare := llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "bare", Description: "Is bare."}}})
	_, err = a.Model().GenerateContent(satchel.WithSession(t.Context(), "s"), []llms.MessageContent{
		{Role: llms.ChatMessageTypeSystem, Parts: []llms.ContentPart{llms.TextContent{Text: "a"}, llms.TextContent{Text: "b"}}},
		{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextContent{Text: "hello "}, llms.TextContent{Text: "wörld"}}},
	}, bare)
	return err
}

// traced traces what send sends to an endpoint, and returns the file.
func traced(t *testing.T, send func(*testing.T, *satchel.Runtime, string) error, url string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	trace, err := tracing.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := satchel.New(satchel.WithSkillFS("skills", os.DirFS(testSkills(t))), satchel.WithTrace(trace))
	if err != nil {
		t.Fatal(err)
	}
	if err := send(t, rt, url); err != nil {
		t.Fatal(err)
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	if err := trace.Close(); err != nil {
		t.Error(err)
	}
	return file
}
