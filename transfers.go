package satchel

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/core"
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

// maxTransfers bounds the sessions whose transfers are kept.
const maxTransfers = 10_000

// transfers keeps, for each session, the bounds of the agents to which others have
// handed the conversation over. They end when an agent that set them begins another
// turn.
type transfers struct {
	mu    sync.Mutex
	known *lru.Cache[string, map[string][]bound]
}

func newTransfers() *transfers {
	return &transfers{known: lru.New[string, map[string][]bound](maxTransfers, nil)}
}

// note notes the bounds of the agent that the arguments of a transfer name.
func (t *transfers) note(from core.SessionKey, arguments string, bounds []bound) {
	var to struct {
		Agent string `json:"agent_name"`
	}
	if json.Unmarshal([]byte(arguments), &to) != nil || to.Agent == "" {
		return // the tool says what is wrong
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	agents, _ := t.known.Get(from.Session)
	if agents == nil {
		agents = map[string][]bound{}
	}
	if agents[to.Agent] = bounds; len(bounds) == 0 {
		delete(agents, to.Agent)
	}
	t.put(from.Session, agents)
}

func (t *transfers) put(session string, agents map[string][]bound) {
	if len(agents) == 0 {
		t.known.Remove(session)
		return
	}
	t.known.Put(session, agents, 1)
}

// to returns the bounds of an agent.
func (t *transfers) to(key core.SessionKey) []bound {
	t.mu.Lock()
	defer t.mu.Unlock()
	agents, _ := t.known.Get(key.Session)
	return agents[key.Agent]
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
