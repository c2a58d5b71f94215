package langchaingo

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel/core"
)

var ours = []core.Tool{
	{Name: "skill_load", Description: "Load.", Schema: json.RawMessage(`{"properties":{"skill":{"type":"string"}},"type":"object"}`)},
	{Name: "skill_unload", Description: "Unload.", Schema: json.RawMessage(`{"type":"object"}`)},
}

// framework is the schema that OpenAIFunctionsAgent makes for every tool.
func framework() map[string]any {
	return map[string]any{
		"properties": map[string]any{"__arg1": map[string]string{"title": "__arg1", "type": "string"}},
		"required":   []string{"__arg1"},
		"type":       "object",
	}
}

func TestNewOffer(t *testing.T) {
	tests := []struct {
		name string
		host []tools.Tool
		want error
	}{
		{"collision in another case", []tools.Tool{hostTool{name: "Skill_Load"}}, errToolName},
		{"no name", []tools.Tool{hostTool{}}, errToolName},
		{"nil", []tools.Tool{nil}, errArgument},
		{"schema that is no JSON", []tools.Tool{schemaTool{hostTool{name: "a"}, "{"}}, errSchema},
		{"schema of a string", []tools.Tool{schemaTool{hostTool{name: "a"}, `{"type":"string"}`}}, errSchema},
		{"fine", []tools.Tool{hostTool{name: "a"}, schemaTool{hostTool{name: "b"}, `{"type":"object"}`}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := newOffer(ours, tt.host); !errors.Is(err, tt.want) {
				t.Errorf("newOffer = %v, want %v", err, tt.want)
			}
		})
	}
}

func TestRewrite(t *testing.T) {
	o, err := newOffer(ours, []tools.Tool{hostTool{name: "search"}, schemaTool{hostTool{name: "city"}, `{"type":"object","properties":{"c":{"type":"string"}}}`}})
	if err != nil {
		t.Fatal(err)
	}
	const (
		arg    = `{"properties":{"__arg1":{"title":"__arg1","type":"string"}},"required":["__arg1"],"type":"object"}`
		city   = `{"properties":{"c":{"type":"string"}},"type":"object"}`
		load   = `{"properties":{"skill":{"type":"string"}},"type":"object"}`
		unload = `{"properties":{},"type":"object"}`
	)
	function := func(name string) llms.FunctionDefinition {
		return llms.FunctionDefinition{Name: name, Parameters: framework()}
	}
	one := llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: "search", Parameters: json.RawMessage(`{"type":"object","x":1}`)}}
	tests := []struct {
		name     string
		in       llms.CallOptions
		noSkills bool
		want     []string
		choice   any
	}{
		{
			"functions become tools with schemas",
			llms.CallOptions{Functions: []llms.FunctionDefinition{function("search"), function("city"), function("skill_load"), function("skill_unload")}},
			false, []string{"search " + arg, "city " + city, "skill_load " + load, "skill_unload " + unload}, nil,
		},
		{
			"no skills, none of ours",
			llms.CallOptions{Functions: []llms.FunctionDefinition{function("search"), function("skill_load")}, ToolChoice: llms.ToolChoice{Type: "function", Function: &llms.FunctionReference{Name: "skill_load"}}},
			true, []string{"search " + arg}, nil,
		},
		{
			"a loop that names no tools gets ours", llms.CallOptions{ToolChoice: "auto"},
			false, []string{"skill_load " + load, "skill_unload " + unload}, "auto",
		},
		{
			"tools of the host's own making stay, and repeated names go",
			llms.CallOptions{Tools: []llms.Tool{one, one}}, false,
			[]string{`search {"type":"object","x":1}`, "skill_load " + load, "skill_unload " + unload}, nil,
		},
		{
			"a function that is not installed", llms.CallOptions{Functions: []llms.FunctionDefinition{function("new")}},
			true, []string{"new " + arg}, nil,
		},
		{
			"behaviour becomes a choice", llms.CallOptions{FunctionCallBehavior: llms.FunctionCallBehaviorNone},
			false, []string{"skill_load " + load, "skill_unload " + unload}, "none",
		},
		{
			"behaviour of one function", llms.CallOptions{FunctionCallBehavior: `{"name": "skill_load"}`},
			false, []string{"skill_load " + load, "skill_unload " + unload},
			llms.ToolChoice{Type: "function", Function: &llms.FunctionReference{Name: "skill_load"}},
		},
		{"nothing to choose from", llms.CallOptions{ToolChoice: "auto"}, true, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.in
			o.rewrite(&got, tt.noSkills)
			first, _ := json.Marshal(got.Tools)
			o.rewrite(&got, tt.noSkills)
			if again, _ := json.Marshal(got.Tools); string(again) != string(first) {
				t.Errorf("rewriting twice changes the tools:\n%s\n%s", first, again)
			}
			if diff := differ(tt.want, definitions(t, got.Tools)); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if diff := differ(tt.choice, got.ToolChoice); diff != "" || got.Functions != nil || got.FunctionCallBehavior != "" {
				t.Errorf("choice (-want +got):\n%s functions %v behaviour %q", diff, got.Functions, got.FunctionCallBehavior)
			}
		})
	}
}

// TestRewriteOfManyTools offers more tools than are looked through one by one.
func TestRewriteOfManyTools(t *testing.T) {
	o, err := newOffer(ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	var opts llms.CallOptions
	var want []string
	for i := range 100 {
		name := fmt.Sprint("tool", i%50) // each name occurs twice
		opts.Tools = append(opts.Tools, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: name}})
		if i < 50 {
			want = append(want, name)
		}
	}
	opts.Functions = []llms.FunctionDefinition{{Name: "skill_load"}}
	want = append(append([]string{"skill_load"}, want...), "skill_unload")
	o.rewrite(&opts, false)
	var got []string
	for _, tool := range opts.Tools {
		got = append(got, tool.Function.Name)
	}
	if diff := differ(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

// definitions renders tools as JSON, and checks what the Google client needs:
// plain maps all the way down.
func definitions(t *testing.T, list []llms.Tool) []string {
	t.Helper()
	var out []string
	for _, tool := range list {
		raw, err := json.Marshal(tool.Function.Parameters)
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := tool.Function.Parameters.(map[string]any); ok {
			for name, p := range m["properties"].(map[string]any) {
				if _, ok := p.(map[string]any); !ok {
					t.Errorf("%s.%s is a %T", tool.Function.Name, name, p)
				}
			}
		}
		out = append(out, tool.Function.Name+" "+string(raw))
	}
	return out
}
