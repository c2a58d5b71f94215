package eino_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/processors"
)

// The prefix guard sees a change of the tools, bound or of an option.
func TestPrefixGuardSeesTools(t *testing.T) {
	city := func(about string) *schema.ToolInfo {
		return &schema.ToolInfo{Name: "city", Desc: "A tool of the host.", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			"name": {Type: schema.String, Desc: about}, "country": {Type: schema.String},
		})}
	}
	weather := &schema.ToolInfo{Name: "weather", Desc: "Another."}
	edited := *weather
	edited.Desc = "Another one."
	type tools = []*schema.ToolInfo
	for name, tt := range map[string]struct {
		requests []tools
		want     []int // indexes of requests that break the prompt cache
	}{
		"the same":              {[]tools{{city("a"), weather}, {city("a"), weather}}, nil},
		"added":                 {[]tools{{city("a")}, {city("a"), weather}, {city("a"), weather}}, []int{1}},
		"removed":               {[]tools{{city("a"), weather}, {city("a")}}, []int{1}},
		"none and back":         {[]tools{{weather}, nil, {weather}}, []int{1, 2}},
		"moved":                 {[]tools{{city("a"), weather}, {weather, city("a")}}, []int{1}},
		"described differently": {[]tools{{weather}, {&edited}}, []int{1}},
		"another parameter":     {[]tools{{city("a")}, {city("b")}}, []int{1}},
	} {
		for _, by := range []string{"WithTools", "option"} {
			t.Run(name+" by "+by, func(t *testing.T) {
				at := 0
				var broke []int
				rt := newRuntime(t, satchel.WithPrefixGuard(func(b processors.PrefixBreak) {
					if b.Cause != "tools" || b.Message != -1 || b.Tokens == 0 {
						t.Errorf("request %d: %+v", at, b)
					}
					broke = append(broke, at)
				}))
				a, err := eino.New(rt)
				if err != nil {
					t.Fatal(err)
				}
				wrapped, err := a.Model(answering(func([]*schema.Message) (*schema.Message, error) { return say("done"), nil }))
				if err != nil {
					t.Fatal(err)
				}
				for at = range tt.requests {
					if err := generate(satchel.WithSession(t.Context(), "s"), wrapped, by, tt.requests[at]); err != nil {
						t.Fatal(err)
					}
				}
				if !slices.Equal(broke, tt.want) {
					t.Errorf("requests %v break, want %v", broke, tt.want)
				}
			})
		}
	}
}

func generate(ctx context.Context, m model.ToolCallingChatModel, by string, tools []*schema.ToolInfo) (err error) {
	history := []*schema.Message{schema.SystemMessage("You help."), schema.UserMessage("one")}
	if by == "option" {
		_, err = m.Generate(ctx, history, model.WithTools(append([]*schema.ToolInfo{}, tools...)))
		return err
	}
	if m, err = m.WithTools(tools); err != nil {
		return err
	}
	_, err = m.Generate(ctx, history)
	return err
}

// An agent of Eino offers the same tools in every request of every turn.
func TestAgentKeepsItsTools(t *testing.T) {
	rt := newRuntime(t, satchel.WithPrefixGuard(processors.FailTest(t)))
	llm := script(loading("1", "pdf"), say("first"), loading("2", "csv"), say("second"))
	var history []*schema.Message
	for turn := range 2 {
		cfg := &adk.ChatModelAgentConfig{Model: llm, Instruction: "You help."}
		install(t, cfg, rt)
		history = append(history, schema.UserMessage(fmt.Sprint("question ", turn)))
		for _, e := range run(t, newAgent(t, cfg), "s", false, history...) {
			if m, _, err := adk.GetMessage(e); err != nil {
				t.Fatal(err)
			} else if m != nil {
				history = append(history, m)
			}
		}
	}
	if llm.calls() != 4 {
		t.Errorf("%d calls, want 4", llm.calls())
	}
}
