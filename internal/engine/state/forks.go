package state

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// forkMark is the part of an agent's name that says that the agent is a fork.
const forkMark = "/fork:"

// ForkKey returns the key of the n-th fork of an agent, which runs a skill.
func ForkKey(parent core.SessionKey, skill string, n int) core.SessionKey {
	parent.Agent += forkMark + skill + "#" + strconv.Itoa(n)
	return parent
}

// forks holds the records of the forks that run. The zero value is ready to use. It is safe for
// concurrent use.
type forks struct{ running sync.Map } // *Records by core.SessionKey

// of returns the records of a fork that runs, or nil.
func (f *forks) of(key core.SessionKey) *Records {
	r, _ := f.running.Load(key)
	records, _ := r.(*Records)
	return records
}

// BeginFork gives a fork a session of its own in the store of its parent, so that its record and
// its pins end with it. A fork that another process has begun goes on with what is there.
func (s *Stores) BeginFork(key core.SessionKey) {
	parent := s.ofSession(key)
	records := NewRecords(newForkStore(parent.store, key))
	records.Numbers = parent.Numbers
	s.forks.running.Store(key, records)
}

// EndFork removes the record and the pins of a fork.
func (s *Stores) EndFork(ctx context.Context, key core.SessionKey) error {
	s.forks.running.Delete(key)
	s.awaitNumbers(ctx, key, func(of core.SessionKey) bool { return of == key })
	return s.ofSession(key).store.End(ctx, forkSession(key))
}

// PauseFork forgets a fork that was interrupted, and keeps its record.
func (s *Stores) PauseFork(key core.SessionKey) { s.forks.running.Delete(key) }

// EndForks removes the records of the forks that have begun in a session and not ended, because
// they were interrupted or their process died. A damaged session has none that could be found.
func (s *Stores) EndForks(ctx context.Context, in core.SessionKey) error {
	keys, _ := s.Agents(ctx, in)
	var errs []error
	for _, key := range keys {
		rec, err := s.Load(ctx, key)
		if err != nil {
			continue // a damaged record ends with the session
		}
		for _, f := range rec.Forked {
			errs = append(errs, s.ofSession(key).store.End(ctx, forkSession(ForkKey(key, f.Skill, f.N))))
		}
	}
	return errors.Join(errs...)
}

// Forked is a fork that has begun and not ended. Call is the number of the call that runs it.
type Forked struct {
	Skill string `json:"skill"`
	N     int    `json:"n"`
	Call  int    `json:"call"`
}

// AddFork notes a fork that begins. r is a copy that may be changed.
func (r *Record) AddFork(f Forked) {
	r.Forks = max(r.Forks, f.N)
	r.Forked = append(r.Forked, f)
	r.Forked = r.Forked[max(0, len(r.Forked)-maxForked):]
}

// EndForks notes that the forks of a call have ended. r is a copy that may be changed.
func (r *Record) EndForks(call int) {
	r.Forked = slices.DeleteFunc(r.Forked, func(f Forked) bool { return f.Call == call })
	if len(r.Forked) == 0 {
		r.Forked = nil
	}
}

// forkSession returns the id of the session in which a store keeps a fork.
func forkSession(key core.SessionKey) string {
	return session.ReservedPrefix + "fork:" + session.Digest(key.Session+"\x00"+key.Agent)
}

// forkStore is the store of one fork. It keeps what belongs to the session of the fork's parent in
// a session of its own.
type forkStore struct {
	session.Store
	parent, own string
}

func newForkStore(store session.Store, key core.SessionKey) session.Store {
	return forkStore{store, key.Session, forkSession(key)}
}

// id returns the session of the store that stands for id.
func (s forkStore) id(id string) string {
	if id == s.parent {
		return s.own
	}
	return id
}

func (s forkStore) key(key core.SessionKey) core.SessionKey {
	key.Session = s.id(key.Session)
	return key
}

// Load implements [session.Store].
func (s forkStore) Load(ctx context.Context, key core.SessionKey) (session.Value, error) {
	return s.Store.Load(ctx, s.key(key))
}

// Save implements [session.Store].
func (s forkStore) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	return s.Store.Save(ctx, s.key(key), v)
}

// Agents implements [session.Store].
func (s forkStore) Agents(ctx context.Context, id string) ([]string, error) {
	return s.Store.Agents(ctx, s.id(id))
}

// Pin implements [session.Store].
func (s forkStore) Pin(ctx context.Context, id, digest, text string) error {
	return s.Store.Pin(ctx, s.id(id), digest, text)
}

// Pinned implements [session.Store].
func (s forkStore) Pinned(ctx context.Context, id, digest string) (string, error) {
	return s.Store.Pinned(ctx, s.id(id), digest)
}

// Unpin implements [session.Store].
func (s forkStore) Unpin(ctx context.Context, id string, keep []string) error {
	return s.Store.Unpin(ctx, s.id(id), keep)
}

// End implements [session.Store].
func (s forkStore) End(ctx context.Context, id string) error { return s.Store.End(ctx, s.id(id)) }
