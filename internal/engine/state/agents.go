package state

import (
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
)

// Agents holds what a runtime keeps in memory of its agents, by their keys.
type Agents struct {
	mu  sync.Mutex
	all *lru.Cache[core.SessionKey, *Agent]
	// holders are the agents that have files.
	holders *lru.Cache[*Agent, struct{}]
}

// NewAgents returns an empty Agents that keeps at most limit agents.
func NewAgents(limit int) *Agents {
	a := &Agents{
		holders: lru.New(maxHolders, func(s *Agent, _ struct{}) { s.attach(nil) }),
	}
	a.all = lru.New(limit, func(_ core.SessionKey, s *Agent) { a.drop(s) })
	return a
}

// Of returns the agent of a key. It makes a new one if there is none.
func (a *Agents) Of(key core.SessionKey) *Agent {
	a.mu.Lock()
	defer a.mu.Unlock()
	agent, ok := a.all.Get(key)
	if !ok {
		agent = &Agent{}
		a.all.Put(key, agent, 1)
	}
	return agent
}

// TurnOf returns the number of an agent's user turn, 0 if it is not known.
func (a *Agents) TurnOf(key core.SessionKey) int {
	if agent := a.known(key); agent != nil {
		return agent.turnNumber()
	}
	return 0
}

// LastCall returns the number of an agent's last model call, 0 if it is not known, and whether another
// agent of the session came first.
func (a *Agents) LastCall(key core.SessionKey) (number int, isSubagent bool) {
	if agent := a.known(key); agent != nil {
		return agent.LastCall()
	}
	return 0, false
}

// known returns the agent of a key, or nil.
func (a *Agents) known(key core.SessionKey) *Agent {
	a.mu.Lock()
	defer a.mu.Unlock()
	agent, _ := a.all.Get(key)
	return agent
}

// End drops all agents of a session.
func (a *Agents) End(session string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, agent := range a.all.All() {
		if key.Session == session {
			a.all.Remove(key)
			a.drop(agent)
		}
	}
}

// Forget drops one agent.
func (a *Agents) Forget(key core.SessionKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if agent, ok := a.all.Get(key); ok {
		a.all.Remove(key)
		a.drop(agent)
	}
}

// drop removes the files of an agent. The caller holds a.mu.
func (a *Agents) drop(agent *Agent) {
	if a.holders.Remove(agent) {
		agent.attach(nil)
	}
}

// SetFiles sets the attached files of an agent's request. It keeps at most the newest 1000.
func (a *Agents) SetFiles(agent *Agent, files []core.File) {
	files = files[max(0, len(files)-maxFiles):]
	a.mu.Lock()
	defer a.mu.Unlock()
	agent.attach(files)
	if len(files) == 0 {
		a.holders.Remove(agent)
		return
	}
	a.holders.Put(agent, struct{}{}, 1)
}
