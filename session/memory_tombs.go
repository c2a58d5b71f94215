package session

import (
	"context"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// maxClosed bounds the agents of ended sessions that a Memory remembers.
const maxClosed = 250_000

var _ Tombs = (*Memory)(nil)

// Bury implements [Tombs]. It remembers the last 250,000 agents.
func (m *Memory) Bury(ctx context.Context, session string, last []state.Closed) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range last {
		m.closed.Remove(c.Agent)
		m.closed.Put(c.Agent, c, 1)
	}
	m.sessions.Remove(session)
	m.sessions.Remove(leaseKey(session).Session)
	return nil
}

// Buried implements [Tombs].
func (m *Memory) Buried(ctx context.Context, key core.SessionKey) (calls int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.closed.Get(ClosedName(key)); ok && !isOver(c) {
		return c.Calls, nil
	}
	return 0, nil
}
