package replay

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// idleStore is a session store that simulates the pauses of a script without waiting. It moves the
// time of the last request in a record back by the pause, until the record is saved again. It is
// for one agent.
type idleStore struct {
	session.Store
	mu   sync.Mutex
	idle time.Duration
}

func newIdleStore() *idleStore { return &idleStore{Store: session.NewMemory()} }

// pass adds a pause.
func (s *idleStore) pass(seconds float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle += time.Duration(seconds * float64(time.Second))
}

func (s *idleStore) Load(ctx context.Context, key core.SessionKey) (session.Value, error) {
	v, err := s.Store.Load(ctx, key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || s.idle == 0 {
		return v, err
	}
	_, digits, found := bytes.Cut(v.Data, []byte(sentField))
	if !found {
		return v, nil
	}
	end := bytes.IndexFunc(digits, func(c rune) bool { return c < '0' || c > '9' })
	sent, err := strconv.ParseInt(string(digits[:end]), 10, 64)
	if err != nil {
		return session.Value{}, err
	}
	earlier := strconv.AppendInt([]byte(sentField), sent-int64(s.idle/time.Second), 10)
	v.Data = bytes.Replace(v.Data, slices.Concat([]byte(sentField), digits[:end]), earlier, 1)
	return v, nil
}

// sentField is where a record says when its last request was made.
const sentField = `,"sent":`

func (s *idleStore) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	saved, err := s.Store.Save(ctx, key, v)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.idle = 0
	}
	return saved, err
}
