package langchaingo

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/processors"
)

// The prefix guard sees a change of the tools that a call's options offer.
func TestPrefixGuardSeesTools(t *testing.T) {
	tool := func(name, schema string) llms.Tool {
		return llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: name, Description: "d", Parameters: json.RawMessage(schema)}}
	}
	offered := func(list ...llms.Tool) []llms.CallOption { return []llms.CallOption{llms.WithTools(list)} }
	functions := func(names ...string) []llms.CallOption {
		var list []llms.FunctionDefinition
		for _, name := range names {
			list = append(list, llms.FunctionDefinition{Name: name, Parameters: framework()}) // a new value for each call, as in the framework's agent
		}
		return []llms.CallOption{llms.WithFunctions(list)}
	}
	type calls = [][]llms.CallOption
	for name, tt := range map[string]struct {
		calls calls
		want  []int // indexes of calls that break the prompt cache
	}{
		"none":                  {calls{nil, nil}, nil},
		"the same":              {calls{offered(tool("a", "{}")), offered(tool("a", "{}"))}, nil},
		"functions of an agent": {calls{functions("search", "other"), functions("search", "other")}, nil},
		"added":                 {calls{nil, offered(tool("a", "{}")), offered(tool("a", "{}"), tool("b", "{}"))}, []int{1, 2}},
		"removed":               {calls{offered(tool("a", "{}")), nil}, []int{1}},
		"moved":                 {calls{functions("search", "other"), functions("other", "search")}, []int{1}},
		"another schema":        {calls{offered(tool("a", `{"x":1}`)), offered(tool("a", `{"x":2}`))}, []int{1}},
		"a tool that is none":   {calls{offered(llms.Tool{Type: "web_search"}), offered(llms.Tool{Type: "web_fetch"})}, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			at := 0
			var broke []int
			rt := runtime(t, satchel.WithPrefixGuard(func(b processors.PrefixBreak) {
				if b.Cause != "tools" || b.Message != -1 || b.Tokens == 0 {
					t.Errorf("call %d: %+v", at, b)
				}
				broke = append(broke, at)
			}))
			adapter := install(t, rt, script(reply("one"), reply("two"), reply("three")), []tools.Tool{hostTool{name: "search"}})
			ctx := satchel.WithSession(t.Context(), "s")
			for at = range tt.calls {
				if _, err := adapter.Model().GenerateContent(ctx, []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hi")}, tt.calls[at]...); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(broke, tt.want) {
				t.Errorf("calls %v break, want %v", broke, tt.want)
			}
		})
	}
}
