package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/session"
)

// Records keeps the records of agents, and the texts that they need, in a [session.Store].
// It caches decoded records and pinned texts, so a request that changes nothing decodes
// no record and reads no text from the store. It is safe for concurrent use.
type Records struct {
	// Numbers has the numbers of model calls for a tracer; records then keep what a trace needs, see
	// [Traced]. It is nil without a tracer, and not changed after the first use.
	Numbers *CallNumbers

	store session.Store

	mu      sync.Mutex
	decoded *lru.Cache[string, *decodedSession]     // by session
	texts   *lru.Cache[string, string]              // by digest
	pins    *lru.Cache[string, map[string]struct{}] // digests by session
	ends    int                                     // counts the calls of End, MarkEnded and Unpin
}

// decodedSession holds the decoded records of a session's agents.
type decodedSession struct {
	agents map[string]decodedRecord
	bytes  int // of their stored values
}

// decodedRecord is a decoded record with its stored value. The versions of a key start again
// at 1 after its session ended, so only equal bytes prove that the store still holds this value.
type decodedRecord struct {
	version int64
	data    []byte
	record  *Record
}

// NewRecords returns Records that uses store.
func NewRecords(store session.Store) *Records {
	return &Records{
		store:   store,
		decoded: lru.New[string, *decodedSession](maxDecodedBytes, nil),
		texts:   lru.New[string, string](maxTextBytes, nil),
		pins:    lru.New[string, map[string]struct{}](maxPinnedSessions, nil),
	}
}

// Load returns the record of key. If key was never saved, or its session ended, the record
// has Version 0. The result is shared: callers must not change it. The error wraps
// [session.ErrDamaged] if the stored value is no record.
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
		err = r.loadArchive(ctx, rec)
	}
	if err != nil {
		return nil, fmt.Errorf("load record of agent %q: %w", key.Agent, err)
	}
	r.remember(v, rec)
	return rec, nil
}

// Save stores rec if the stored version is still rec.Version. It returns the stored record,
// whose Version is one higher. It neither changes nor retains rec. In all strings but the
// key, U+FFFD replaces bytes that are not valid UTF-8.
func (r *Records) Save(ctx context.Context, rec *Record) (*Record, error) {
	stored, list := rec.archive()
	if list != "" {
		if err := r.Pin(ctx, rec.Key.Session, stored.Archive.List, list); err != nil {
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
	if bytes.Contains(data, []byte(`\ufffd`)) { // perhaps invalid UTF-8 was replaced
		if next, err = decode(rec.Key, session.Value{Data: data}); err != nil {
			return nil, err
		}
	}
	next.Version, next.archived = v.Version, stored.archived
	next.addArchived()
	r.remember(v, next)
	return next, nil
}

// find returns the cached record of a stored value, or nil.
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

// latest returns the record of key that was last loaded or saved here, or nil. The store may have another.
func (r *Records) latest(key core.SessionKey) *Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.decoded.Get(key.Session)
	if !ok {
		return nil
	}
	return s.agents[key.Agent].record
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

// forget removes the records and pins of a session from the caches.
func (r *Records) forget(id string) {
	r.forgetTexts(id, nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decoded.Remove(id)
}

// loadArchive adds the archived deliveries of a decoded record to its deliveries. An archive
// that the store has lost counts as empty, so these texts leave the view.
func (r *Records) loadArchive(ctx context.Context, rec *Record) error {
	if rec.Archive.List == "" {
		return nil
	}
	list, err := r.Pinned(ctx, rec.Key.Session, rec.Archive.List)
	if errors.Is(err, session.ErrNotPinned) {
		rec.Archive, rec.Before = Archive{}, nil
		return nil
	}
	if err == nil {
		rec.archived, err = readArchive(list)
	}
	if err != nil {
		return fmt.Errorf("read the list of texts in view: %w", err)
	}
	rec.addArchived()
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

// Update loads the record of key, passes it to change, saves the record that change returns,
// and returns the stored record. If change returns nil or its argument, nothing is saved.
// After a conflict Update starts again, so change may run several times. Any other error ends
// it, also one that wraps [session.ErrUncertain].
func (r *Records) Update(ctx context.Context, key core.SessionKey, change func(*Record) (*Record, error)) (*Record, error) {
	return r.update(ctx, key, nil, change)
}

// UpdateFrom is Update for a caller that has just loaded the record: the first try begins
// with rec, and only a try after a conflict loads it again.
func (r *Records) UpdateFrom(ctx context.Context, rec *Record, change func(*Record) (*Record, error)) (*Record, error) {
	return r.update(ctx, rec.Key, rec, change)
}

func (r *Records) update(ctx context.Context, key core.SessionKey, rec *Record, change func(*Record) (*Record, error)) (*Record, error) {
	if r.Numbers != nil && r.Numbers.Wait(ctx, key, maxNumberSave) {
		rec = nil // it is older than that save
	}
	return r.updateNow(ctx, key, rec, change)
}

// updateNow is update for a caller that waits for no save of a number.
func (r *Records) updateNow(ctx context.Context, key core.SessionKey, rec *Record, change func(*Record) (*Record, error)) (*Record, error) {
	queued := false
	for try := 0; ; try++ {
		if err := pause(ctx, try); err != nil {
			return nil, err
		}
		if try > 0 && !queued {
			if leave := queue(ctx, key); leave != nil {
				queued = true
				defer leave()
			}
		}
		if try > 0 || rec == nil {
			var err error
			if rec, err = r.Load(ctx, key); err != nil {
				return nil, fmt.Errorf("load session %q: %w", key.Session, err)
			}
		}
		next, err := change(rec)
		if err != nil {
			return nil, err
		}
		if next == nil || next == rec {
			return rec, nil
		}
		if r.Numbers != nil {
			next.Traced.Calls = max(next.Traced.Calls, r.Numbers.last(key))
			next.traceLoads(rec)
		}
		saved, err := r.Save(ctx, next)
		if errors.Is(err, session.ErrConflict) && !errors.Is(err, session.ErrUncertain) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("save session %q: %w", key.Session, err)
		}
		return saved, nil
	}
}

// pause waits before a retry, so that writers in several processes do not keep conflicting.
// It does not wait before the first two tries. Later it waits for a random time of up to
// 32 ms, which grows with each try. It returns early with the error of ctx.
func pause(ctx context.Context, try int) error {
	if try < 2 {
		return ctx.Err()
	}
	limit := 250 * time.Microsecond << min(try-2, 7)
	timer := time.NewTimer(rand.N(limit))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return ctx.Err()
	}
}

// queues serialize the updates of one record within this process after a conflict. A hash of
// the record's key selects the queue. Without queues, n updates at once need n tries each.
var queues = func() (all [64]chan struct{}) {
	for i := range all {
		all[i] = make(chan struct{}, 1)
	}
	return all
}()

// queue waits until the earlier updates of the record have ended, but at most maxQueue. It
// then returns nil, and the caller continues: saves compare versions, so this is safe.
func queue(ctx context.Context, key core.SessionKey) (leave func()) {
	turns := queues[crc32.ChecksumIEEE([]byte(key.Session+"/"+key.Agent))%uint32(len(queues))]
	timer := time.NewTimer(maxQueue)
	defer timer.Stop()
	select {
	case turns <- struct{}{}:
		return func() { <-turns }
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

// Pin keeps text for the session under its digest.
func (r *Records) Pin(ctx context.Context, id, digest, text string) error {
	ends := r.endCount()
	if err := r.store.Pin(ctx, id, digest, text); err != nil {
		return err
	}
	r.keepText(id, digest, text, ends)
	return nil
}

// Pinned returns a pinned text, or an error that wraps [session.ErrNotPinned]. A text that
// another process has unpinned may still be returned from memory.
func (r *Records) Pinned(ctx context.Context, id, digest string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if text, ok := r.text(id, digest); ok {
		return text, nil
	}
	ends := r.endCount()
	text, err := r.store.Pinned(ctx, id, digest)
	if err != nil {
		return "", err
	}
	r.keepText(id, digest, text, ends)
	return text, nil
}

// Unpin removes the pins of the session whose digests are not in keep.
func (r *Records) Unpin(ctx context.Context, id string, keep []string) error {
	defer r.forgetTexts(id, keep)
	return r.store.Unpin(ctx, id, keep)
}

// End removes all values and pins of the session.
func (r *Records) End(ctx context.Context, id string) error {
	defer r.forget(id)
	return r.store.End(ctx, id)
}

func (r *Records) text(id, digest string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pins, _ := r.pins.Get(id)
	if _, pinned := pins[digest]; !pinned {
		return "", false
	}
	return r.texts.Get(digest)
}

// keepText caches a pinned text. It does nothing if a session has ended since the caller read
// ends, because the pin may be gone.
func (r *Records) keepText(id, digest, text string, ends int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends != ends {
		return
	}
	if _, ok := r.texts.Get(digest); !ok {
		r.texts.Put(digest, text, len(text))
	}
	pins, ok := r.pins.Get(id)
	if !ok {
		pins = make(map[string]struct{})
		r.pins.Put(id, pins, 1)
	}
	pins[digest] = struct{}{}
}

// forgetTexts removes the pins of a session that are not in keep from the cache.
func (r *Records) forgetTexts(id string, keep []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends++
	pins, _ := r.pins.Get(id)
	for digest := range pins {
		if !slices.Contains(keep, digest) {
			delete(pins, digest)
		}
	}
	if len(pins) == 0 {
		r.pins.Remove(id)
	}
}

func (r *Records) endCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ends
}
