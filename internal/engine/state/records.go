package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/session"
)

// Records keeps the records of agents, and the texts that they need, in a store of bytes.
// It remembers decoded records and pinned texts, so that a request that changes nothing
// decodes nothing and reads no text. It is safe for concurrent use, and needs no closing.
type Records struct {
	store session.Store

	mu      sync.Mutex
	decoded *lru.Cache[string, *decodedSession]     // by session
	texts   *lru.Cache[string, string]              // by digest
	pins    *lru.Cache[string, map[string]struct{}] // digests by session
	ends    int                                     // counts End, MarkEnded and Unpin
}

// decodedSession has the decoded records of the agents of a session.
type decodedSession struct {
	agents map[string]decodedRecord
	bytes  int // of their stored values
}

// decodedRecord is what a stored value was decoded to. Versions of a key start again when
// its session ends, so only the bytes tell whether the store still holds that value.
type decodedRecord struct {
	version int64
	data    []byte
	record  *Record
}

// NewRecords returns the records in a store.
func NewRecords(store session.Store) *Records {
	return &Records{
		store:   store,
		decoded: lru.New[string, *decodedSession](maxDecodedBytes, nil),
		texts:   lru.New[string, string](maxTextBytes, nil),
		pins:    lru.New[string, map[string]struct{}](maxPinnedSessions, nil),
	}
}

// Load returns the record of key. A key that was never saved, or whose session ended,
// has a record with Version 0. The result is shared: callers must not change it. An error
// wraps [session.ErrDamaged] if the stored value is no record.
func (r *Records) Load(ctx context.Context, key core.SessionKey) (*Record, error) {
	v, err := r.store.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	if v.Version == 0 {
		return &Record{Key: key}, nil
	}
	if rec := r.find(key, v); rec != nil {
		return rec, nil
	}
	rec, err := decode(key, v)
	if err == nil {
		err = r.unshelve(ctx, rec)
	}
	if err != nil {
		return nil, fmt.Errorf("load record of agent %q: %w", key.Agent, err)
	}
	r.remember(v, rec)
	return rec, nil
}

// Save stores rec if the stored version is still rec.Version, and returns the record as
// Load returns it from then on, with Version one higher. It neither changes nor keeps rec.
// Strings that are not valid UTF-8 are stored with U+FFFD in place of the wrong bytes,
// except the key.
func (r *Records) Save(ctx context.Context, rec *Record) (*Record, error) {
	stored, list := rec.shelve()
	if list != "" {
		if err := r.Pin(ctx, rec.Key.Session, stored.Shelf.List, list); err != nil {
			return nil, err
		}
	}
	data, err := encode(stored)
	if err != nil {
		return nil, err
	}
	pins := stored.Pins()
	if stored.Listing != "" {
		pins = append(pins, stored.Listing)
	}
	v, err := r.store.Save(ctx, rec.Key, session.Value{Version: rec.Version, Data: data, Pins: pins})
	if err != nil {
		return nil, err
	}
	next := stored.Clone()
	if bytes.Contains(data, []byte(`\ufffd`)) { // perhaps in place of wrong bytes
		if next, err = decode(rec.Key, session.Value{Data: data}); err != nil {
			return nil, err
		}
	}
	next.Version, next.shelved = v.Version, stored.shelved
	next.addShelved()
	r.remember(v, next)
	return next, nil
}

// find returns the record that a stored value was decoded to, nil if that is not known.
func (r *Records) find(key core.SessionKey, v session.Value) *Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.decoded.Get(key.Session)
	if !ok {
		return nil
	}
	d := s.agents[key.Agent]
	if d.version != v.Version || !bytes.Equal(d.data, v.Data) || d.record.Key != key {
		return nil
	}
	return d.record
}

func (r *Records) remember(v session.Value, rec *Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.decoded.Get(rec.Key.Session)
	if !ok {
		s = &decodedSession{agents: map[string]decodedRecord{}}
	}
	s.bytes += len(v.Data) - len(s.agents[rec.Key.Agent].data)
	s.agents[rec.Key.Agent] = decodedRecord{v.Version, v.Data, rec}
	r.decoded.Put(rec.Key.Session, s, s.bytes)
}

// forget forgets the records and texts of a session that ends.
func (r *Records) forget(id string) {
	r.forgetTexts(id, nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decoded.Remove(id)
}

// unshelve puts what is on the shelf of a decoded record among its deliveries. A list that
// the store has lost counts as empty: the texts leave the view.
func (r *Records) unshelve(ctx context.Context, rec *Record) error {
	if rec.Shelf.List == "" {
		return nil
	}
	list, err := r.Pinned(ctx, rec.Key.Session, rec.Shelf.List)
	if errors.Is(err, session.ErrNotPinned) {
		rec.Shelf, rec.Before = Shelf{}, nil
		return nil
	}
	if err == nil {
		rec.shelved, err = readShelf(list)
	}
	if err != nil {
		return fmt.Errorf("read the list of texts in view: %w", err)
	}
	rec.addShelved()
	return nil
}

// Agents returns the agents that have a value in the session, sorted.
func (r *Records) Agents(ctx context.Context, id string) ([]string, error) {
	return r.store.Agents(ctx, id)
}

// Sessions lists the sessions of the store. The error wraps [errors.ErrUnsupported] if the
// store is no [session.Lister].
func (r *Records) Sessions(ctx context.Context) ([]session.Info, error) {
	l, ok := r.store.(session.Lister)
	if !ok {
		return nil, fmt.Errorf("list sessions: the store is no session.Lister: %w", errors.ErrUnsupported)
	}
	return l.Sessions(ctx)
}
