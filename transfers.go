package satchel

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/hook"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/permission"
)

type boundKey struct{}

// bound holds the lists of an agent, which also bound the agents that it calls.
type bound struct {
	key   core.SessionKey
	judge *permission.Judge
	lists []permission.List
	free  []string
}

// isFree reports whether an agent is among the free ones. An agent that runs inside
// another one of its name is called agent/agent.
func isFree(free []string, agent string) bool {
	return slices.ContainsFunc(free, func(name string) bool {
		return agent == name || strings.HasPrefix(agent, name+"/"+name)
	})
}

// handovers holds the bounds of the agents to which others have handed a
// conversation over, by their names: one agent of each name takes part.
type handovers map[string][]bound

// note notes the bounds of an agent; it has none of its own lists.
func (h handovers) note(to string, bounds []bound) {
	bounds = slices.DeleteFunc(slices.Clone(bounds), func(b bound) bool { return b.key.Agent == to })
	if h[to] = bounds; len(bounds) == 0 {
		delete(h, to)
	}
}

// maxTransfers bounds the sessions whose transfers are kept.
const maxTransfers = 10_000

// transfers keeps the handovers of each session: those of one run end with it, but a
// session may be interrupted and go on in another run. They end when an agent that
// set them begins another turn.
type transfers struct {
	mu    sync.Mutex
	known *lru.Cache[string, handovers]
}

func newTransfers() *transfers {
	return &transfers{known: lru.New[string, handovers](maxTransfers, nil)}
}

// runTransfers are the handovers of one run, which is named by no session, or has
// agents of several runtimes.
type runTransfers struct {
	mu     sync.Mutex
	agents handovers
}

func transfersOf(ctx context.Context) *runTransfers {
	run := hook.RunOf(ctx)
	if run == nil {
		return &runTransfers{agents: handovers{}}
	}
	return run.Keep(func() any { return &runTransfers{agents: handovers{}} }).(*runTransfers)
}

// transferTo returns the agent that the arguments of a transfer name. Without one, the
// tool says what is wrong.
func transferTo(arguments string) string {
	var to struct {
		Agent string `json:"agent_name"`
	}
	_ = json.Unmarshal([]byte(arguments), &to)
	return to.Agent
}

// note notes the bounds of the agent to which another one hands its conversation over,
// in the session and in the run of ctx.
func (t *transfers) note(ctx context.Context, session, to string, bounds []bound) {
	run := transfersOf(ctx)
	run.mu.Lock()
	run.agents.note(to, bounds)
	run.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	agents, ok := t.known.Get(session)
	if !ok {
		agents = handovers{}
	}
	agents.note(to, bounds)
	t.put(session, agents)
}

func (t *transfers) put(session string, agents handovers) {
	if len(agents) == 0 {
		t.known.Remove(session)
		return
	}
	t.known.Put(session, agents, 1)
}

// to returns the bounds of an agent, one for each agent that handed the conversation
// over.
func (t *transfers) to(ctx context.Context, key core.SessionKey) []bound {
	run := transfersOf(ctx)
	run.mu.Lock()
	bounds := run.agents[key.Agent]
	run.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	agents, _ := t.known.Get(key.Session)
	for _, b := range agents[key.Agent] {
		if !slices.ContainsFunc(bounds, func(other bound) bool { return other.key.Agent == b.key.Agent }) {
			bounds = append(slices.Clip(bounds), b)
		}
	}
	return bounds
}

// over forgets the bounds that an agent has set: it begins another turn.
func (t *transfers) over(key core.SessionKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	agents, _ := t.known.Get(key.Session)
	maps.DeleteFunc(agents, func(_ string, bounds []bound) bool {
		return slices.ContainsFunc(bounds, func(b bound) bool { return b.key == key })
	})
	t.put(key.Session, agents)
}

// end forgets a session.
func (t *transfers) end(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known.Remove(session)
}
