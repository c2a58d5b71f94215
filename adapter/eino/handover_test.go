package eino_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/session"
)

// pair has two agents. lead loads a skill whose list has Read only. helper gets the
// conversation, asks a person and calls two tools.
type pair struct {
	t             *testing.T
	leadReplies   []*schema.Message // replies of the model of lead
	helperReplies []*schema.Message
	ownRuntimes   bool   // each agent has its own runtime
	dir           string // directory of the sessions; "" keeps them in memory
	ownDirs       bool   // each runtime has its own directory
	helperIsTool  bool   // helper is a tool of lead
	hostTransfers bool   // the host transfers from lead to helper
	doubleWrapped bool   // like byHost, and the host wraps an agent that is already wrapped
	transfersBack bool   // the host transfers back to lead
	reached       []string

	runtimes []*satchel.Runtime // runtimes of this process
}

func (p *pair) runtime(agent string) *satchel.Runtime {
	p.t.Helper()
	skills := fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: Reads.\nallowed-tools: Read\n---\nBODY\n")}}
	opts := []satchel.Option{satchel.WithSkillFS("skills", skills)}
	if p.dir != "" {
		dir := p.dir
		if p.ownDirs {
			dir = filepath.Join(dir, agent)
		}
		store, err := session.OpenDirectory(dir, session.WithSync(false))
		if err != nil {
			p.t.Fatal(err)
		}
		p.t.Cleanup(func() { _ = store.Close() })
		opts = append(opts, satchel.WithStore(store))
	}
	rt, err := satchel.New(opts...)
	if err != nil {
		p.t.Fatal(err)
	}
	p.runtimes = append(p.runtimes, rt)
	p.t.Cleanup(func() { _ = rt.Close() })
	return rt
}

// ends ends the process: its runtimes are closed.
func (p *pair) ends() {
	for _, rt := range p.runtimes {
		_ = rt.Close()
	}
	p.runtimes = nil
}

// agent opens everything a second time, as another process would.
func (p *pair) agent() adk.Agent {
	p.t.Helper()
	tools := []tool.BaseTool{approval(true)}
	for _, name := range []string{"run_command", "lookup_order"} {
		tools = append(tools, &hostTool{name: name, run: func(context.Context, string) (string, error) {
			p.reached = append(p.reached, name)
			return "done", nil
		}})
	}
	var helper adk.Agent
	open := func(name string, replies []*schema.Message, rt *satchel.Runtime) adk.Agent {
		cfg := &adk.ChatModelAgentConfig{Name: name, Model: script(replies...)}
		cfg.ToolsConfig.Tools = slices.Clone(tools)
		if name == "lead" && p.helperIsTool {
			cfg.ToolsConfig.Tools = append(cfg.ToolsConfig.Tools, adk.NewAgentTool(p.t.Context(), helper))
		}
		install(p.t, cfg, rt)
		return newAgent(p.t, cfg)
	}
	rt := p.runtime("lead")
	if p.ownRuntimes {
		helper = open("helper", p.helperReplies, p.runtime("helper"))
	} else {
		helper = open("helper", p.helperReplies, rt)
	}
	lead := open("lead", p.leadReplies, rt)
	if p.helperIsTool {
		return lead
	}
	transfer := func(agent adk.Agent, to string) adk.Agent {
		return adk.AgentWithDeterministicTransferTo(p.t.Context(), &adk.DeterministicTransferConfig{Agent: agent, ToAgentNames: []string{to}})
	}
	if p.doubleWrapped {
		lead = adk.AgentWithOptions(p.t.Context(), lead)
	}
	if p.hostTransfers {
		lead = transfer(lead, "helper")
	}
	if p.transfersBack {
		helper = transfer(helper, "lead")
	}
	all, err := adk.SetSubAgents(p.t.Context(), lead, []adk.Agent{helper})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

var (
	loadsList          = calling(call("l1", "skill_load", `{"skill":"a"}`))
	handsOver          = calling(call("l2", "transfer_to_agent", `{"agent_name":"helper"}`))
	callsHelper        = calling(call("l4", "helper", `{"request":"help"}`))
	ends               = []*schema.Message{say("done")}
	bounded, unbounded = []string{"lookup_order"}, []string{"run_command", "lookup_order"}
	callsBoth          = []*schema.Message{calling(call("h1", "run_command", "{}")), calling(call("h2", "lookup_order", "{}")), say("helped")}
)

// If the host hands the conversation over, the lists of the agent before still hold, if the
// host's context names the session or the turn. If the host hands it back to an agent, that
// agent has an answer, as from a tool.
func TestListsBoundWhomTheHostHandsOverTo(t *testing.T) {
	led := []*schema.Message{loadsList, say("led")}
	for name, tt := range map[string]struct {
		pair
		anonymous bool
		turn      bool
		want      []string
	}{
		"a list":         {pair: pair{leadReplies: led, hostTransfers: true}, want: []string{"lookup_order"}},
		"no list":        {pair: pair{leadReplies: led[1:], hostTransfers: true}, want: []string{"run_command", "lookup_order"}},
		"other runtime":  {pair: pair{leadReplies: led, hostTransfers: true, ownRuntimes: true}, want: []string{"lookup_order"}},
		"in a turn":      {pair: pair{leadReplies: led, hostTransfers: true, ownRuntimes: true}, anonymous: true, turn: true, want: []string{"lookup_order"}},
		"wrapped twice":  {pair: pair{leadReplies: led, hostTransfers: true, ownRuntimes: true, doubleWrapped: true}, anonymous: true, turn: true, want: []string{"lookup_order"}},
		"without either": {pair: pair{leadReplies: led, hostTransfers: true}, anonymous: true, want: []string{"run_command", "lookup_order"}},
		"handed back": {pair: pair{leadReplies: append([]*schema.Message{handsOver}, callsBoth...), helperReplies: led, transfersBack: true},
			want: []string{"run_command", "lookup_order"}},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				p := tt.pair
				if p.t = t; p.helperReplies == nil {
					p.helperReplies = callsBoth
				}
				session := "s"
				if tt.anonymous {
					session = ""
				}
				ctx := t.Context()
				if tt.turn {
					ctx = satchel.BeginTurn(ctx, "")
				}
				noErrors(t, runUnder(t, ctx, p.agent(), session, streaming, schema.UserMessage("go")))
				if !slices.Equal(p.reached, tt.want) {
					t.Errorf("reached are %q, want %q", p.reached, tt.want)
				}
			})
		})
	}
}

// A run that continues after an interrupt under the context of its session is bound by the same
// lists as before. In another process only the lists of a caller hold, because its record
// contains them. Those of an agent that handed the conversation over do not.
func TestListsBoundWhoGoesOnElsewhere(t *testing.T) {
	for name, tt := range map[string]struct {
		pair
		rest  []*schema.Message // replies of the model of lead after the run is resumed
		stays bool              // the run is resumed in the same process, with the same agents
		want  []string
	}{
		"in the same process":              {pair: pair{leadReplies: []*schema.Message{loadsList, handsOver}}, stays: true, want: bounded},
		"in the same process, by the host": {pair: pair{leadReplies: []*schema.Message{loadsList, say("led")}, hostTransfers: true}, stays: true, want: bounded},
		"in the same process, no list":     {pair: pair{leadReplies: []*schema.Message{handsOver}}, stays: true, want: unbounded},
		"called":                           {pair: pair{leadReplies: []*schema.Message{loadsList, callsHelper}, helperIsTool: true}, rest: ends, want: bounded},
		"called, other store":              {pair: pair{leadReplies: []*schema.Message{loadsList, callsHelper}, ownRuntimes: true, ownDirs: true, helperIsTool: true}, rest: ends, want: bounded},
		"called, no list":                  {pair: pair{leadReplies: []*schema.Message{callsHelper}, helperIsTool: true}, rest: ends, want: unbounded},
		"handed over to":                   {pair: pair{leadReplies: []*schema.Message{loadsList, handsOver}}, want: unbounded},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				p := tt.pair
				p.t, p.dir = t, t.TempDir()
				if p.helperReplies = []*schema.Message{calling(call("h0", "approve", "{}"))}; tt.stays {
					p.helperReplies = append(p.helperReplies, callsBoth...)
				}
				store := &checkpoints{}
				ctx := satchel.WithSession(t.Context(), "s")
				agent := p.agent()
				runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: streaming, CheckPointStore: store})
				target := interruptOf(t, drain(t, runner.Query(ctx, "q", adk.WithCheckPointID("c"))))

				if !tt.stays {
					p.ends()
					ctx = satchel.WithSession(t.Context(), "s")
					p.leadReplies, p.helperReplies = tt.rest, callsBoth
					agent = p.agent()
				}
				runner = adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: streaming, CheckPointStore: store})
				events, err := runner.ResumeWithParams(ctx, "c", &adk.ResumeParams{Targets: map[string]any{target: "yes"}})
				if err != nil {
					t.Fatal(err)
				}
				noErrors(t, drain(t, events))
				if !slices.Equal(p.reached, tt.want) {
					t.Errorf("reached are %q, want %q", p.reached, tt.want)
				}
			})
		})
	}
}
