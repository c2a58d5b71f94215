package replay

import (
	"context"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// idleStore is a store in which the pauses of a script have passed, though nobody has
// waited: until a record is saved again, its last request is so much longer ago. It is
// for one agent.
type idleStore struct {
	session.Store
	mu   sync.Mutex
	idle time.Duration
}

func newIdleStore() *idleStore { return &idleStore{Store: session.NewMemory()} }

// pass lets time pass.
func (s *idleStore) pass(seconds float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle += time.Duration(seconds * float64(time.Second))
}

func (s *idleStore) Load(ctx context.Context, key core.SessionKey) (*state.Record, error) {
	rec, err := s.Store.Load(ctx, key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || s.idle == 0 || rec.Sent == 0 {
		return rec, err
	}
	rec = rec.Clone()
	rec.Sent -= int64(s.idle / time.Second)
	return rec, nil
}

func (s *idleStore) Save(ctx context.Context, rec *state.Record) (*state.Record, error) {
	saved, err := s.Store.Save(ctx, rec)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.idle = 0
	}
	return saved, err
}
