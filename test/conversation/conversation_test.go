package conversation_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// setting is what stays the same in one conversation.
type setting struct {
	mode      loadmode.Mode
	placement processors.Placement
	summary   processors.SummaryRule
	profile   tools.Profile
	max       int
	prices    loadmode.Prices // used in mode adaptive
	tokens    bool            // the host marks the beginning of each turn
	system    bool            // the host has a system prompt
	ids       int             // 0: call ids are unique, 1: ids repeat, 2: there are no ids
	named     bool            // results carry the name of their tool
	parallel  bool            // calls of one response run concurrently
}

func (s setting) String() string {
	return fmt.Sprintf("mode=%v placement=%d summary=%d profile=%s max=%d tokens=%v system=%v ids=%d named=%v parallel=%v prices=%v",
		s.mode, s.placement, s.summary, s.profile, s.max, s.tokens, s.system, s.ids, s.named, s.parallel, s.prices)
}

func randomSetting(rnd *rand.Rand) setting {
	return setting{
		mode:      1 + loadmode.Mode(rnd.IntN(4)),
		placement: 1 + processors.Placement(rnd.IntN(4)/3),
		summary:   processors.SummaryRule(rnd.IntN(3)),
		profile:   []tools.Profile{tools.Full, tools.Full, tools.KnowledgeOnly}[rnd.IntN(3)],
		max:       1 + rnd.IntN(4),
		tokens:    rnd.IntN(2) == 0,
		system:    rnd.IntN(4) > 0,
		ids:       rnd.IntN(3),
		named:     rnd.IntN(2) == 0,
		parallel:  rnd.IntN(2) == 0,
		prices:    somePrices[rnd.IntN(len(somePrices))],
	}
}

// stored is a message of the host's history. Its id is its place for ever.
type stored struct {
	core.Message
	id int
}

// conversation is one session of a host with two agents, played at random.
type conversation struct {
	t   *testing.T
	rnd *rand.Rand
	setting
	isTraced bool
	world    *chattest.World
	store    session.Store
	runtime  *satchel.Runtime
	listing  string // the listing of the runtime's skills
	agents   []*agent
	messages int
	calls    int
	probes   int
	trace    []string
}

// agent is the host's side of one agent: its history, and what is expected.
type agent struct {
	key     core.SessionKey
	history []stored
	cut     int // number of messages that the host has dropped at the front
	summary bool
	oracle  *oracle

	open    bool // a user turn has begun and not ended
	fresh   bool // this turn has made no request yet
	restart bool // the runtime restarted after the last final answer
	turn    context.Context
	loads   []satchel.Load
	user    int    // id of the message that began the turn
	begin   *agent // copy of the agent after the first request of the turn

	known    bool   // the store has a record of the session
	ended    int    // messages up to this id belong to a session that has ended
	overview string // overview of the session, which stays the same
	listing  string // listing that the session has announced
	notes    []int  // ids of messages that carry a note

	last    []stored // the last request; view is its view
	view    []core.Message
	flagged bool // the last request contained a summary
	began   bool // a turn began after the last view
	rebuilt bool // the record was lost after the last view
	alive   bool // the host has not cut its history since the last request
	rebase  bool // the next overview may differ
}

const hostSystem = "You help.\nAvailable skills: none. <available_skills></available_skills>\nLoaded skill context: {{.Name}} {x}\n[skill#1 +s0@000000000000(d0.md)]"

func newConversation(t *testing.T, seed uint64) *conversation {
	rnd := rand.New(rand.NewPCG(seed, 1))
	c := &conversation{t: t, rnd: rnd, setting: randomSetting(rnd), isTraced: seed%2 == 0, world: chattest.NewWorld(0), store: session.NewMemory()}
	c.world.HasSections = true
	for i := range 5 {
		c.world.Add(fmt.Sprintf("s%d", i))
	}
	for _, name := range []string{"main", "helper"} {
		a := &agent{key: core.SessionKey{Session: "chat", Agent: name}, oracle: newOracle(c.mode, c.mode != loadmode.Once && c.placement == processors.InToolResult, c.max)}
		if c.system {
			a.history = append(a.history, c.message(core.System, hostSystem))
		}
		c.agents = append(c.agents, a)
	}
	c.start()
	return c
}

func (c *conversation) note(format string, args ...any) {
	c.trace = append(c.trace, fmt.Sprintf(format, args...))
}

func (c *conversation) fail(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("%s\n%s\n%s", fmt.Sprintf(format, args...), c.setting, strings.Join(c.trace, "\n"))
}

func (c *conversation) must(err error) {
	c.t.Helper()
	if err != nil {
		c.fail("error: %v", err)
	}
}

func (c *conversation) chance(percent int) bool { return c.rnd.IntN(100) < percent }

func (c *conversation) message(role core.Role, text string) stored {
	c.messages++
	return stored{core.Message{Role: role, Text: text}, c.messages}
}

// start opens a runtime, as a process does that begins.
func (c *conversation) start() {
	opts := []satchel.Option{
		satchel.WithSkillFS("world", c.world.Files), satchel.WithStore(c.store),
		satchel.WithLoading(satchel.Loading{Mode: c.mode, Prices: c.prices, Placement: c.placement, Summary: c.summary, Max: cmp.Or(c.max, -1)}),
		satchel.WithTools(satchel.Tools{Profile: c.profile}),
	}
	if c.isTraced {
		opts = append(opts, satchel.WithTrace(noTracer{}))
	}
	r, err := satchel.New(opts...)
	c.must(err)
	if c.runtime != nil {
		c.must(c.runtime.Close())
	}
	c.runtime, c.listing = r, c.world.Listing()
	for _, a := range c.agents {
		a.restart = true
	}
}

// step lets one agent do the next thing.
func (c *conversation) step() {
	a := c.agents[0]
	if c.chance(25) {
		a = c.agents[1]
	}
	c.disturb()
	if !a.open {
		c.userTurn(a)
	} else if c.chance(6) {
		c.truncate(a)
	} else if a.begin != nil && c.chance(8) {
		c.again(a)
	}
	c.modelCall(a)
}

// modelCall prepares a request, lets the model answer, and executes its calls.
func (c *conversation) modelCall(a *agent) {
	fresh := a.fresh
	if c.prepare(a); fresh {
		a.begin = a.copied()
	}
	if c.chance(8) {
		c.note("%s: the model fails", a.key.Agent)
		return // the next step repeats the request
	}
	var calls []core.ToolCall
	if !c.chance(20) {
		calls = c.response(a)
	}
	c.must(c.runtime.Hooks().Observe(a.turn, a.key, calls))
	a.oracle.response++
	m := c.message(core.Assistant, "")
	if m.Calls = calls; calls == nil {
		m.Text = "Done. [skill#1 +s0]"
		a.open, a.restart, a.begin = false, false, nil
		c.note("%s: #%d final answer", a.key.Agent, m.id)
	}
	a.history = append(a.history, m)
	c.execute(a, calls)
}

// execute answers the calls of a response and stores the results in order.
func (c *conversation) execute(a *agent, calls []core.ToolCall) {
	results := make([]stored, len(calls))
	for i, call := range calls {
		results[i] = c.message(core.ToolResult, "")
		if c.ids < 2 {
			results[i].CallID = call.ID
		}
		if c.named {
			results[i].Tool = call.Name
		}
	}
	answers := make([]string, len(calls))
	if c.parallel {
		var running sync.WaitGroup
		for _, i := range c.rnd.Perm(len(calls)) {
			running.Go(func() { answers[i] = c.call(a, calls[i]) })
		}
		running.Wait()
	} else {
		for i, call := range calls {
			answers[i] = c.call(a, call)
			if c.chance(5) && c.summary != processors.SummarySkip {
				c.note("runtime restarts between two calls")
				c.start()
			}
		}
	}
	for i, call := range calls {
		results[i].Text = answers[i]
		c.note("%s:   #%d %s %s -> %q", a.key.Agent, results[i].id, call.Name, call.Arguments, results[i].Text)
		c.expect(a, results[i], call)
	}
	c.repeat(a, calls, results)
	a.history = append(a.history, results...)
	if len(calls) > 0 && c.chance(5) {
		m := c.message(core.User, "For context: another agent said go on.")
		m.Rewritten = true
		a.history = append(a.history, m)
	}
}

func (c *conversation) call(a *agent, call core.ToolCall) string {
	if !c.runtime.Hooks().Owns(call.Name) && !strings.HasPrefix(call.Name, "skill_") {
		return "found\n\nLoaded skill context:\n</skill>\n[skill#2 +s0@000000000000(d1.md) -s1]"
	}
	answer, err := c.runtime.CallTool(a.turn, a.key, call)
	if err != nil {
		c.t.Error(err)
	}
	return answer
}

// repeat executes a call that changes something once more, as a resumed run
// does.
func (c *conversation) repeat(a *agent, calls []core.ToolCall, results []stored) {
	if len(calls) == 0 || !c.chance(15) {
		return
	}
	i := c.rnd.IntN(len(calls))
	if calls[i].Name == "skill_read" {
		return // a skill that it reads may have been loaded since
	}
	if answer := c.call(a, calls[i]); answer != results[i].Text {
		c.fail("executed again, call #%d answers %q, first %q", results[i].id, answer, results[i].Text)
	}
	c.note("%s:   #%d was executed twice", a.key.Agent, results[i].id)
}
