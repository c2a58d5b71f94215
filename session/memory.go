package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/lru"
)

// DefaultMaxSessions is how many sessions a [Memory] keeps unless
// [WithMaxSessions] says otherwise.
const DefaultMaxSessions = 100_000

var errNilRecord = errors.New("save session record: record is nil")

// Memory is a [Store] in memory; it ends with the process. The number of sessions
// is bounded, so that a server whose hosts never call End does not grow forever: a
// new session beyond the bound ends the least recently used one. Every call that
// names a stored session counts as a use, also Agents.
type Memory struct {
	max int

	mu       sync.Mutex // guards all below; nothing under it blocks
	sessions *lru.Cache[string, *memorySession]
	closed   *lru.Cache[string, state.Closed] // by agent, as ClosedName names it
}

// memorySession holds the records and the pins of one session.
type memorySession struct {
	records map[string]*state.Record // by agent
	pins    map[string]string        // by digest
	changed time.Time                // when a record was saved last
}

// agents are those that have a record, sorted.
func (s *memorySession) agents() []string { return slices.Sorted(maps.Keys(s.records)) }

var _ Store = (*Memory)(nil)

// MemoryOption configures [NewMemory].
type MemoryOption func(*Memory)

// WithMaxSessions bounds the number of sessions that are kept; 0 or less removes
// the bound. The default is [DefaultMaxSessions]. The agents of a session that was
// dropped start over at Version 0, as after End.
func WithMaxSessions(n int) MemoryOption {
	return func(m *Memory) { m.max = n }
}

// NewMemory returns an empty store. It needs no closing.
func NewMemory(opts ...MemoryOption) *Memory {
	m := &Memory{max: DefaultMaxSessions}
	for _, o := range opts {
		o(m)
	}
	m.sessions = lru.New[string, *memorySession](m.max, nil)
	m.closed = lru.New[string, state.Closed](maxClosed, nil)
	return m
}

// Load implements [Store]. It neither copies nor allocates if the record exists.
func (m *Memory) Load(ctx context.Context, key core.SessionKey) (*state.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.use(key.Session); s != nil {
		if rec := s.records[key.Agent]; rec != nil {
			return rec, nil
		}
	}
	return &state.Record{Key: key}, nil
}

// Save implements [Store].
func (m *Memory) Save(ctx context.Context, rec *state.Record) (*state.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, errNilRecord
	}
	next := rec.Clone()
	next.Version++

	m.mu.Lock()
	defer m.mu.Unlock()
	stored := int64(0)
	s := m.use(rec.Key.Session)
	if s != nil && s.records[rec.Key.Agent] != nil {
		stored = s.records[rec.Key.Agent].Version
	}
	if rec.Version != stored {
		return nil, conflict(rec, stored)
	}
	if s == nil {
		s = m.begin(rec.Key.Session)
	}
	s.records[rec.Key.Agent], s.changed = next, time.Now()
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

// Pin implements [Store]. A digest that is not that of the text fails with
// [ErrDigest].
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
		s = m.begin(session)
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
	return "", notPinned(digest)
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
	m.sessions.Remove(session)
	return nil
}

// use returns a stored session and makes it the most recently used one, or returns
// nil.
func (m *Memory) use(session string) *memorySession {
	s, _ := m.sessions.Get(session)
	return s
}

// begin adds a session and drops the least recently used one beyond the bound.
func (m *Memory) begin(session string) *memorySession {
	s := &memorySession{records: map[string]*state.Record{}, pins: map[string]string{}}
	m.sessions.Put(session, s, 1)
	return s
}

// conflict is the error of saving rec when the current version is stored.
func conflict(rec *state.Record, stored int64) error {
	return fmt.Errorf("save record of agent %q from version %d over version %d: %w",
		rec.Key.Agent, rec.Version, stored, ErrConflict)
}
