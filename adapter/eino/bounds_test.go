package eino_test

import (
	"context"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
)

// An agent cannot get around the list of a skill that it has loaded by calling
// another agent, or by handing the conversation over to it.
func TestListsBoundCalledAgents(t *testing.T) {
	skills := fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: Reads.\nallowed-tools: Read\n---\nBODY\n")}}
	for name, tt := range map[string]struct {
		load, transfer, same, anonymous bool
		turn                            bool
		want                            []string
	}{
		"called, no list":                    {want: []string{"run_command", "lookup_order"}},
		"called under a list":                {load: true, same: true, want: []string{"lookup_order"}},
		"called under a list, other runtime": {load: true, want: []string{"lookup_order"}},
		"transferred to, no list":            {transfer: true, same: true, want: []string{"run_command", "lookup_order"}},
		"transferred to under a list":        {load: true, transfer: true, same: true, want: []string{"lookup_order"}},
		"transferred to, other runtime":      {load: true, transfer: true, want: []string{"lookup_order"}},
		"transferred to in a turn":           {load: true, transfer: true, same: true, anonymous: true, turn: true, want: []string{"lookup_order"}},
		"other runtime in a turn":            {load: true, transfer: true, anonymous: true, turn: true, want: []string{"lookup_order"}},
		"transferred to without either":      {load: true, transfer: true, same: true, anonymous: true, want: []string{"run_command", "lookup_order"}},
		"called without a session":           {load: true, anonymous: true, want: []string{"lookup_order"}},
		"nothing loaded, without a session":  {transfer: true, anonymous: true, want: []string{"run_command", "lookup_order"}},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				runtime := func() *satchel.Runtime {
					rt, err := satchel.New(satchel.WithSkillFS("skills", skills))
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = rt.Close() })
					return rt
				}
				lead := runtime()
				helper := lead
				if !tt.same {
					helper = runtime()
				}
				var reached []string
				hc := &adk.ChatModelAgentConfig{Name: "helper", Description: "Helps.", Model: script(
					calling(call("h1", "run_command", "{}")), calling(call("h2", "lookup_order", "{}")), say("helped"))}
				for _, name := range []string{"run_command", "lookup_order"} {
					hc.ToolsConfig.Tools = append(hc.ToolsConfig.Tools, &hostTool{name: name, run: func(context.Context, string) (string, error) {
						reached = append(reached, name)
						return "done", nil
					}})
				}
				install(t, hc, helper)
				var replies []*schema.Message
				if tt.load {
					replies = append(replies, calling(call("l1", "skill_load", `{"skill":"a"}`)))
				}
				lc := &adk.ChatModelAgentConfig{Name: "lead", Description: "Leads."}
				var agent adk.Agent
				if tt.transfer {
					lc.Model = script(append(replies, calling(call("l2", "transfer_to_agent", `{"agent_name":"helper"}`)))...)
					install(t, lc, lead)
					var err error
					if agent, err = adk.SetSubAgents(t.Context(), newAgent(t, lc), []adk.Agent{newAgent(t, hc)}); err != nil {
						t.Fatal(err)
					}
				} else {
					lc.Model = script(append(replies, calling(call("l2", "helper", `{"request":"help"}`)), say("done"))...)
					lc.ToolsConfig.Tools = []tool.BaseTool{adk.NewAgentTool(t.Context(), newAgent(t, hc))}
					install(t, lc, lead)
					agent = newAgent(t, lc)
				}
				session := "s"
				if tt.anonymous {
					session = ""
				}
				ctx := t.Context()
				if tt.turn {
					ctx = satchel.BeginTurn(ctx, "")
				}
				noErrors(t, runUnder(t, ctx, agent, session, streaming, schema.UserMessage("go")))
				if !slices.Equal(reached, tt.want) {
					t.Errorf("reached are %q, want %q", reached, tt.want)
				}
			})
		})
	}
}
