package langchaingo

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/prompts"
	"github.com/tmc/langchaingo/tools"

	"github.com/tmc/langchaingo/agents"

	"github.com/satchel-go/satchel"
)

func TestInstallErrors(t *testing.T) {
	rt, llm := runtime(t), script()
	tests := []struct {
		name string
		make func() (*Adapter, error)
		want error
		text string
	}{
		{"no runtime", func() (*Adapter, error) { return Install(nil, llm, nil) }, errArgument, "runtime"},
		{"no model", func() (*Adapter, error) { return Install(rt, nil, nil) }, errArgument, "model"},
		{"collision", func() (*Adapter, error) { return Install(rt, llm, []tools.Tool{hostTool{name: "SKILL_LOAD"}}) }, errToolName, `"SKILL_LOAD"`},
		{"no agent name", func() (*Adapter, error) { return Install(rt, llm, nil, WithAgentName("")) }, errArgument, "agent name"},
		{"no system text", func() (*Adapter, error) { return Install(rt, llm, nil, WithSystem("")) }, errArgument, "system"},
		{"no streaming function", func() (*Adapter, error) { return Install(rt, llm, nil, WithStreaming(nil)) }, errArgument, "streaming"},
		{"no history", func() (*Adapter, error) { return Install(rt, llm, nil, WithHistory(nil)) }, errArgument, "history"},
		{"no such client", func() (*Adapter, error) { return Install(rt, llm, nil, WithClient(nil)) }, errArgument, "client"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			adapter, err := tt.make()
			if adapter != nil || !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Install = %v, %v; want %v about %s", adapter, err, tt.want, tt.text)
			}
		})
	}
}

func TestEmptyCatalogAddsNothing(t *testing.T) {
	rt, err := satchel.New(satchel.WithSkillFS("none", fstest.MapFS{}))
	if err != nil {
		t.Fatal(err)
	}
	llm := script(reply("", call("1", "a", `{"__arg1":"x"}`)), reply("done"))
	adapter := install(t, rt, llm, []tools.Tool{hostTool{name: "a"}})
	if _, err := chains.Run(t.Context(), executor(adapter), "q"); err != nil {
		t.Fatal(err)
	}
	want := []string{"0 system: " + defaultSystem, "1 human: q", `2 ai: call 1 a {"__arg1":"x"}`, "3 tool: result 1 a a got x"}
	if diff := differ(want, lines(llm.last().messages)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if got := definitions(t, llm.last().options.Tools); len(got) != 1 {
		t.Errorf("tools = %v", got)
	}
}

func TestSessionThatSeesNoSkill(t *testing.T) {
	files := fstest.MapFS{"pdf/SKILL.md": twoSkills["pdf/SKILL.md"]}
	rt, err := satchel.New(satchel.WithSkillFS("skills", files))
	if err != nil {
		t.Fatal(err)
	}
	llm := script(reply("done"))
	adapter := install(t, rt, llm, []tools.Tool{hostTool{name: "a"}})
	delete(files, "pdf/SKILL.md")
	if err := rt.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := chains.Run(t.Context(), executor(adapter), "q"); err != nil {
		t.Fatal(err)
	}
	if got := definitions(t, llm.last().options.Tools); len(got) != 1 || strings.Contains(whole(llm.last().messages), "available_skills") {
		t.Errorf("tools = %v, request:\n%s", got, whole(llm.last().messages))
	}
}

func TestSystemText(t *testing.T) {
	own := agents.NewOpenAIOption().WithSystemMessage("I am {{.who}}")
	tests := []struct {
		name    string
		adapter []Option
		opts    []agents.Option
		want    []string
	}{
		{"the framework's default", nil, nil, []string{"0 system: " + defaultSystem + "…"}},
		{"in place of the default", []Option{WithSystem("{{x}}")}, nil, []string{"0 system: {{x}}…"}},
		{"in place of an empty one", []Option{WithSystem("{{x}}")}, []agents.Option{agents.NewOpenAIOption().WithSystemMessage("")}, []string{"0 system: {{x}}…"}},
		{"before the host's own", []Option{WithSystem("{{x}}")}, []agents.Option{own}, []string{"0 system: {{x}}", "1 system: I am me…"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			llm := script(reply("done"))
			adapter := install(t, runtime(t), llm, nil, tt.adapter...)
			exec := executor(adapter, tt.opts...)
			if _, err := chains.Call(t.Context(), exec, map[string]any{"input": "q", "who": "me"}); err != nil {
				t.Fatal(err)
			}
			got := lines(llm.last().messages)
			if diff := differ(tt.want, got[:len(got)-1]); diff != "" {
				t.Errorf("system (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModelForwards(t *testing.T) {
	adapter := install(t, runtime(t), script(), nil)
	if got, err := adapter.model.Call(t.Context(), "p"); err != nil || got != "called: p" {
		t.Errorf("Call = %q, %v", got, err)
	}
	if adapter.model.SupportsReasoning() || !install(t, runtime(t), reasoningModel{script()}, nil).model.SupportsReasoning() {
		t.Error("SupportsReasoning is not the client's")
	}
}

type reasoningModel struct{ *scripted }

func (reasoningModel) SupportsReasoning() bool { return true }

// TestOptionsOfTheClientSurvive uses a client that sets its defaults before it applies the
// options, as several do.
func TestOptionsOfTheClientSurvive(t *testing.T) {
	var got llms.CallOptions
	llm := defaultedModel{script(reply("done")), &got}
	adapter := install(t, runtime(t), llm, nil)
	if _, err := chains.Run(t.Context(), executor(adapter), "q", chains.WithTemperature(0.5)); err != nil {
		t.Fatal(err)
	}
	if got.Model != "default" || got.MaxTokens != 77 || got.Temperature != 0.5 || len(got.Functions) != 0 || len(got.Tools) == 0 {
		t.Errorf("options = %+v", got)
	}
}

type defaultedModel struct {
	*scripted
	got *llms.CallOptions
}

func (d defaultedModel) GenerateContent(ctx context.Context, msgs []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	*d.got = llms.CallOptions{Model: "default", MaxTokens: 77}
	for _, o := range options {
		o(d.got)
	}
	return d.scripted.GenerateContent(ctx, msgs, options...)
}

func TestSchemasOfOurs(t *testing.T) {
	llm := script(reply("done"))
	rt := runtime(t)
	adapter := install(t, rt, llm, []tools.Tool{schemaTool{hostTool{name: "city"}, `{"type":"object","properties":{"c":{"type":"string"}}}`}})
	if _, err := chains.Run(t.Context(), executor(adapter), "q"); err != nil {
		t.Fatal(err)
	}
	offered := llm.last().options.Tools
	if len(offered) != 1+len(rt.Tools()) || offered[0].Function.Description != "about city" {
		t.Fatalf("%d tools", len(offered))
	}
	for i, want := range rt.Tools() {
		got := offered[i+1].Function
		raw, err := json.Marshal(got.Parameters)
		if err != nil || got.Name != want.Name || got.Description != want.Description || differ(decoded(t, want.Schema), decoded(t, raw)) != "" {
			t.Errorf("tool %d = %s %s %s, %v", i, got.Name, got.Description, raw, err)
		}
	}
}

func decoded(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSystemTemplateOfTheFrameworkIsNotUsed(t *testing.T) {
	llm := script(reply("done"))
	adapter := install(t, runtime(t), llm, nil, WithSystem(`use {{ cookiecutter.name }} and {"a":1}`))
	extra := agents.NewOpenAIOption().WithExtraMessages([]prompts.MessageFormatter{prompts.NewAIMessagePromptTemplate("hello", nil)})
	if _, err := chains.Run(t.Context(), executor(adapter, extra), "q"); err != nil {
		t.Fatal(err)
	}
	want := []string{`0 system: use {{ cookiecutter.name }} and {"a":1}…`, "1 ai: hello", "2 human: q"}
	if diff := differ(want, lines(llm.last().messages)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}
