package session

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/core"
)

var _ Tombstones = (*Memory)(nil)

// MarkEnded implements [Tombstones]. It remembers the last 250,000 agents.
func (m *Memory) MarkEnded(ctx context.Context, session string, last []Tombstone) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prepare()
	for _, c := range last {
		key := agentKey{session, c.Agent}
		m.tombstones.Remove(key)
		m.tombstones.Put(key, storedTombstone{Calls: c.Calls, At: time.Now().Unix()}, 1)
	}
	m.sessions.Remove(session)
	return nil
}

// Ended implements [Tombstones].
func (m *Memory) Ended(ctx context.Context, key core.SessionKey) (calls int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prepare()
	if t, ok := m.tombstones.Get(agentKey{key.Session, key.Agent}); ok && !t.isOver() {
		return t.Calls, nil
	}
	return 0, nil
}
