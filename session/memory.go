package session

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
)

// Memory is a [Store] in memory; its content ends with the process. The zero value is ready for
// use, and must not be copied after that. Every call for a stored session counts as a use of
// it, Agents included.
type Memory struct {
	// MaxSessions limits the sessions in the store. A new session beyond it ends the least
	// recently used one, whose agents start over at version 0. 0 means 100,000, and -1 no limit.
	// It must not change after the first call.
	MaxSessions int

	mu         sync.Mutex // guards the fields below; held for short operations only
	sessions   *lru.Cache[string, *memorySession]
	tombstones *lru.Cache[agentKey, storedTombstone]
}

// agentKey names an agent of a session.
type agentKey struct{ session, agent string }

// memorySession holds the values and the pins of one session.
type memorySession struct {
	values  map[string]Value  // by agent
	pins    map[string]string // by digest
	changed time.Time         // when a value was saved last
}

// agents returns the agents that have a value, sorted.
func (s *memorySession) agents() []string { return slices.Sorted(maps.Keys(s.values)) }

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store with the default limit. It needs no Close.
func NewMemory() *Memory { return &Memory{} }

// prepare creates the caches at the first call. The caller holds m.mu.
func (m *Memory) prepare() {
	if m.sessions == nil {
		m.sessions = lru.New[string, *memorySession](cmp.Or(m.MaxSessions, maxSessions), nil)
		m.tombstones = lru.New[agentKey, storedTombstone](maxTombstones, nil)
	}
}

// Load implements [Store]. It neither copies nor allocates.
func (m *Memory) Load(ctx context.Context, key core.SessionKey) (Value, error) {
	if err := ctx.Err(); err != nil {
		return Value{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.use(key.Session); s != nil {
		return s.values[key.Agent], nil
	}
	return Value{}, nil
}

// Save implements [Store].
func (m *Memory) Save(ctx context.Context, key core.SessionKey, v Value) (Value, error) {
	if err := ctx.Err(); err != nil {
		return Value{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	stored := int64(0)
	s := m.use(key.Session)
	if s != nil {
		stored = s.values[key.Agent].Version
	}
	if v.Version != stored {
		return Value{}, conflictError(key, v.Version, stored)
	}
	if s == nil {
		s = m.add(key.Session)
	}
	next := Value{Version: v.Version + 1, Data: bytes.Clone(v.Data)}
	s.values[key.Agent], s.changed = next, time.Now()
	return next, nil
}

// Agents implements [Store].
func (m *Memory) Agents(ctx context.Context, session string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.use(session)
	if s == nil {
		return nil, nil
	}
	return s.agents(), nil
}

// Pin implements [Store].
func (m *Memory) Pin(ctx context.Context, session, digest, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkPin(digest, text); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.use(session)
	if s == nil {
		s = m.add(session)
	}
	if _, ok := s.pins[digest]; !ok {
		s.pins[digest] = text
	}
	return nil
}

// Pinned implements [Store].
func (m *Memory) Pinned(ctx context.Context, session, digest string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.use(session); s != nil {
		if text, ok := s.pins[digest]; ok {
			return text, nil
		}
	}
	return "", notPinnedError(digest)
}

// Unpin implements [Store].
func (m *Memory) Unpin(ctx context.Context, session string, keep []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.use(session); s != nil {
		maps.DeleteFunc(s.pins, func(digest, _ string) bool { return !slices.Contains(keep, digest) })
	}
	return nil
}

// End implements [Store].
func (m *Memory) End(ctx context.Context, session string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prepare()
	m.sessions.Remove(session)
	return nil
}

// use returns a stored session, or nil, and makes it the most recently used one.
func (m *Memory) use(session string) *memorySession {
	m.prepare()
	s, _ := m.sessions.Get(session)
	return s
}

// add adds a session, and ends the least recently used one above the limit.
func (m *Memory) add(session string) *memorySession {
	s := &memorySession{values: map[string]Value{}, pins: map[string]string{}}
	m.sessions.Put(session, s, 1)
	return s
}
