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
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
)

// pair are two agents: lead loads a skill whose list has Read only, and helper, to which
// the conversation goes, asks a person and calls two tools.
type pair struct {
	t       *testing.T
	lead    []*schema.Message // what its model says
	helper  []*schema.Message
	other   bool     // the agents have a runtime each
	dir     string   // of the sessions, "" for memory
	apart   bool     // each runtime has a directory of its own
	forgets string   // the agent whose runtime keeps its records in memory, or "both"
	free    []string // agents that lists of callers do not bound
	policy  permission.Policy
	called  bool              // helper is a tool of lead
	bare    bool              // lead has no skills
	direct  bool              // what lead's person answers ends its turn
	byHost  bool              // the host hands over
	wrapped bool              // and wraps an agent that is wrapped already
	back    bool              // the host hands back
	between []*schema.Message // what an agent without skills says, by which helper is reached; nil is none
	nothing bool              // no skill has a list
	reached []string

	runtimes []*satchel.Runtime // of this process
}

func (p *pair) runtime(agent string) *satchel.Runtime {
	p.t.Helper()
	list := "allowed-tools: Read\n"
	if p.nothing {
		list = ""
	}
	skills := fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: Reads.\n" + list + "---\nBODY\n")}}
	opts := []satchel.Option{satchel.WithSkillFS("skills", skills)}
	if agent == "lead" {
		opts = append(opts, satchel.WithFreeAgents(p.free...))
	} else {
		opts = append(opts, satchel.WithPermissions(satchel.Permissions{Policy: p.policy}))
	}
	if p.dir != "" && p.forgets != agent && p.forgets != "both" {
		dir := p.dir
		if p.apart {
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

// agent opens everything anew, as another process would.
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
		if name == "lead" && p.called {
			cfg.ToolsConfig.Tools = append(cfg.ToolsConfig.Tools, adk.NewAgentTool(p.t.Context(), helper))
		}
		if p.direct {
			cfg.ToolsConfig.ReturnDirectly = map[string]bool{"approve": true}
		}
		if rt != nil {
			install(p.t, cfg, rt)
		}
		return newAgent(p.t, cfg)
	}
	rt := p.runtime("lead")
	if p.other {
		helper = open("helper", p.helper, p.runtime("helper"))
	} else {
		helper = open("helper", p.helper, rt)
	}
	name := "lead"
	if p.bare { // the name of an agent with skills would stand for one
		name, rt = "bare", nil
	}
	lead := open(name, p.lead, rt)
	if p.called {
		return lead
	}
	transfer := func(agent adk.Agent, to string) adk.Agent {
		return adk.AgentWithDeterministicTransferTo(p.t.Context(), &adk.DeterministicTransferConfig{Agent: agent, ToAgentNames: []string{to}})
	}
	if p.wrapped {
		lead = adk.AgentWithOptions(p.t.Context(), lead)
	}
	if p.byHost {
		lead = transfer(lead, "helper")
	}
	if p.back {
		helper = transfer(helper, "lead")
	}
	if p.between != nil {
		helper = p.under(open("between", p.between, nil), helper)
	}
	return p.under(lead, helper)
}

func (p *pair) under(agent, sub adk.Agent) adk.Agent {
	p.t.Helper()
	all, err := adk.SetSubAgents(p.t.Context(), agent, []adk.Agent{sub})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

var (
	loadsList          = calling(call("l1", "skill_load", `{"skill":"a"}`))
	handsOver          = calling(call("l2", "transfer_to_agent", `{"agent_name":"helper"}`))
	handsBack          = calling(call("h3", "transfer_to_agent", `{"agent_name":"lead"}`))
	asksFirst          = calling(call("l3", "approve", "{}"))
	callsHelper        = calling(call("l4", "helper", `{"request":"help"}`))
	ends               = []*schema.Message{say("done")}
	bounded, unbounded = []string{"lookup_order"}, []string{"run_command", "lookup_order"}
	callsBoth          = []*schema.Message{calling(call("h1", "run_command", "{}")), calling(call("h2", "lookup_order", "{}")), say("helped")}
)

// Where the host hands the conversation over, the lists of the agent before hold too.
// An agent to which the host hands it back has an answer, as from a tool.
func TestListsBoundWhomTheHostHandsOverTo(t *testing.T) {
	led := []*schema.Message{loadsList, say("led")}
	for name, tt := range map[string]struct {
		pair
		anonymous bool
		want      []string
	}{
		"a list":            {pair: pair{lead: led, byHost: true}, want: []string{"lookup_order"}},
		"no list":           {pair: pair{lead: led[1:], byHost: true}, want: []string{"run_command", "lookup_order"}},
		"other runtime":     {pair: pair{lead: led, byHost: true, other: true}, want: []string{"lookup_order"}},
		"without a session": {pair: pair{lead: led, byHost: true}, anonymous: true, want: []string{"lookup_order"}},
		"neither":           {pair: pair{lead: led, byHost: true, other: true}, anonymous: true, want: []string{"lookup_order"}},
		"wrapped twice":     {pair: pair{lead: led, byHost: true, other: true, wrapped: true}, anonymous: true, want: []string{"lookup_order"}},
		"handed back": {pair: pair{lead: append([]*schema.Message{handsOver}, callsBoth...), helper: led, back: true},
			want: []string{"run_command", "lookup_order"}},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				p := tt.pair
				if p.t = t; p.helper == nil {
					p.helper = callsBoth
				}
				session := "s"
				if tt.anonymous {
					session = ""
				}
				noErrors(t, run(t, p.agent(), session, streaming, schema.UserMessage("go")))
				if !slices.Equal(p.reached, tt.want) {
					t.Errorf("reached are %q, want %q", p.reached, tt.want)
				}
			})
		})
	}
}

// An agent that goes on in another process is bounded by the lists of those that handed
// the conversation over to it there.
func TestListsBoundWhoGoesOnElsewhere(t *testing.T) {
	for name, tt := range map[string]struct {
		pair
		anonymous bool
		rest      []*schema.Message // what the model of lead says in the other process
		want      []string
	}{
		"by the model":      {pair: pair{lead: []*schema.Message{loadsList, handsOver}}, want: bounded},
		"other runtime":     {pair: pair{lead: []*schema.Message{loadsList, handsOver}, other: true}, want: bounded},
		"no list":           {pair: pair{lead: []*schema.Message{handsOver}}, want: unbounded},
		"by the host":       {pair: pair{lead: []*schema.Message{loadsList, say("led")}, byHost: true}, want: bounded},
		"back by the model": {pair: pair{lead: []*schema.Message{handsOver, asksFirst}, helper: []*schema.Message{loadsList, handsBack}}, rest: callsBoth, want: bounded},
		"lists are off":     {pair: pair{lead: []*schema.Message{loadsList, handsOver}, other: true, policy: permission.Off}, want: bounded},

		"other store":                   {pair: pair{lead: []*schema.Message{loadsList, handsOver}, other: true, apart: true}, want: bounded},
		"other store, lists are off":    {pair: pair{lead: []*schema.Message{loadsList, handsOver}, other: true, apart: true, policy: permission.Off}, want: bounded},
		"other store, no list":          {pair: pair{lead: []*schema.Message{handsOver}, other: true, apart: true}, want: unbounded},
		"other store, free":             {pair: pair{lead: []*schema.Message{loadsList, handsOver}, other: true, apart: true, free: []string{"helper"}}, want: unbounded},
		"other store, by the host":      {pair: pair{lead: []*schema.Message{loadsList, say("led")}, other: true, apart: true, byHost: true}, want: bounded},
		"other store, back":             {pair: pair{lead: []*schema.Message{handsOver, asksFirst}, helper: []*schema.Message{loadsList, handsBack}, other: true, apart: true}, rest: callsBoth, want: bounded},
		"other store, before it is led": {pair: pair{lead: []*schema.Message{loadsList, asksFirst}, helper: callsBoth, other: true, apart: true, byHost: true, direct: true}, want: bounded},
		"other store, called":           {pair: pair{lead: []*schema.Message{loadsList, callsHelper}, other: true, apart: true, called: true}, rest: ends, want: bounded},
		"the first one's are lost":      {pair: pair{lead: []*schema.Message{loadsList, handsOver}, other: true, apart: true, forgets: "lead"}, want: bounded},
		"the second one's are lost":     {pair: pair{lead: []*schema.Message{loadsList, handsOver}, other: true, apart: true, forgets: "helper"}, want: bounded},
		"the caller's are lost":         {pair: pair{lead: []*schema.Message{loadsList, callsHelper}, other: true, apart: true, called: true, forgets: "lead"}, rest: ends, want: bounded},
		"without a session":             {pair: pair{lead: []*schema.Message{loadsList, handsOver}}, anonymous: true, want: bounded},
		"without a session, called":     {pair: pair{lead: []*schema.Message{loadsList, callsHelper}, called: true}, rest: ends, anonymous: true, want: bounded},
		"by one without skills":         {pair: pair{lead: []*schema.Message{handsOver}, bare: true}, anonymous: true, want: unbounded},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				p := tt.pair
				if p.t, p.dir = t, t.TempDir(); p.helper == nil {
					p.helper = []*schema.Message{calling(call("h0", "approve", "{}"))}
				}
				store := &checkpoints{}
				ctx := t.Context()
				if !tt.anonymous {
					ctx = satchel.WithSession(ctx, "s")
				}
				runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: p.agent(), EnableStreaming: streaming, CheckPointStore: store})
				target := interruptOf(t, drain(t, runner.Query(ctx, "q", adk.WithCheckPointID("c"))))

				p.ends()
				p.lead, p.helper = tt.rest, callsBoth
				runner = adk.NewRunner(ctx, adk.RunnerConfig{Agent: p.agent(), EnableStreaming: streaming, CheckPointStore: store})
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

// The lists also bound an agent that is reached through one without skills, wherever the
// run is interrupted, and however often. Nobody is denied anything where no list holds.
func TestListsBoundWhoGoesOnBehindOneWithoutSkills(t *testing.T) {
	handsOn := calling(call("l2", "transfer_to_agent", `{"agent_name":"between"}`))
	led, ledFreely := []*schema.Message{loadsList, handsOn}, []*schema.Message{handsOn}
	asks := calling(call("m1", "approve", "{}"))
	for name, tt := range map[string]struct {
		pair
		anonymous bool
		stays     bool // the run goes on in the same process, with the same agents
		want      []string
	}{
		"a list":                      {pair: pair{lead: led}, want: bounded},
		"no list":                     {pair: pair{lead: ledFreely}, want: unbounded},
		"lists are off":               {pair: pair{lead: led, policy: permission.Off}, want: bounded},
		"free":                        {pair: pair{lead: led, free: []string{"helper"}}, want: unbounded},
		"one store":                   {pair: pair{lead: led, dir: "one"}, want: bounded},
		"one store, no list":          {pair: pair{lead: ledFreely, dir: "one"}, want: unbounded},
		"the first one's are lost":    {pair: pair{lead: led, forgets: "lead"}, want: bounded},
		"lost where there is no list": {pair: pair{lead: ledFreely, forgets: "lead", nothing: true}, want: unbounded},
		"the last one's are lost":     {pair: pair{lead: led, forgets: "helper"}, want: bounded},
		"all are lost":                {pair: pair{lead: led, forgets: "both"}, want: bounded},
		"without a session":           {pair: pair{lead: led}, anonymous: true, want: bounded},
		"nor a list":                  {pair: pair{lead: ledFreely, nothing: true}, anonymous: true, want: unbounded},
		"by one without skills":       {pair: pair{lead: ledFreely, bare: true}, want: unbounded},
		"in the same process":         {pair: pair{lead: led, forgets: "both"}, stays: true, want: bounded},
		"there without a list":        {pair: pair{lead: ledFreely, forgets: "both"}, stays: true, want: unbounded},
	} {
		for where, interrupts := range map[string]struct{ between, helper []*schema.Message }{
			"between": {[]*schema.Message{asks, handsOver}, callsBoth},
			"helper":  {[]*schema.Message{handsOver}, append([]*schema.Message{calling(call("h0", "approve", "{}"))}, callsBoth...)},
			"both":    {[]*schema.Message{asks, handsOver}, append([]*schema.Message{calling(call("h0", "approve", "{}"))}, callsBoth...)},
		} {
			t.Run(name+"/"+where, func(t *testing.T) {
				both(t, func(t *testing.T, streaming bool) {
					p := tt.pair
					p.other, p.apart, p.t, p.dir = true, p.dir == "", t, t.TempDir()
					p.between, p.helper = interrupts.between, interrupts.helper
					ctx := t.Context()
					if !tt.anonymous {
						ctx = satchel.WithSession(ctx, "s")
					}
					store := &checkpoints{}
					agent := p.agent()
					runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: streaming, CheckPointStore: store})
					events := drain(t, runner.Query(ctx, "q", adk.WithCheckPointID("c")))
					for _, at := range []*[]*schema.Message{&p.between, &p.helper} {
						if (*at)[0] != asks && (*at)[0].ToolCalls[0].ID != "h0" {
							continue
						}
						target := interruptOf(t, events)
						if !tt.stays {
							p.ends()
							*at = (*at)[1:]
							agent = p.agent()
						}
						runner = adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: streaming, CheckPointStore: store})
						rest, err := runner.ResumeWithParams(ctx, "c", &adk.ResumeParams{Targets: map[string]any{target: "yes"}}, adk.WithCheckPointID("c"))
						if err != nil {
							t.Fatal(err)
						}
						events = drain(t, rest)
					}
					noErrors(t, events)
					if !slices.Equal(p.reached, tt.want) {
						t.Errorf("reached are %q, want %q", p.reached, tt.want)
					}
				})
			})
		}
	}
}
