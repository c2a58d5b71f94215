// Package session holds the state of a conversation: one versioned [Record]
// for each agent in each session, and the [Store] that keeps records and the
// contents that they pin. It does not decide when a load ends; package loadmode
// does.
package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// ErrConflict reports that a record was saved by somebody else since it was
// loaded. Load it again and repeat the change.
var ErrConflict = errors.New("session record was changed meanwhile")

// ErrUncertain reports a Save after which the store may or may not hold the record: a
// server took it and its answer was lost. [Update] returns it and does not try again,
// because the change might be made twice. Load the record to see.
var ErrUncertain = errors.New("the store may or may not have saved the record")

// ErrNotPinned reports a digest under which nothing is pinned.
var ErrNotPinned = errors.New("content is not pinned")

// Store keeps records and pinned contents. Implementations are safe for
// concurrent use by any number of goroutines, hold what they acknowledged
// across a crash as far as they promise durability at all, and pass
// sessiontest.Run.
type Store interface {
	// Load returns the record of key. A key that was never saved, or whose
	// session ended, yields a record with Version 0 and that Key. The result
	// is shared: callers must not change it.
	Load(ctx context.Context, key core.SessionKey) (*state.Record, error)

	// Save stores rec under rec.Key if the stored version is still
	// rec.Version, and returns the record as stored, with Version one higher;
	// rec itself is not changed and not kept. Otherwise it stores nothing and
	// returns an error that wraps ErrConflict. Versions of a key start again
	// at 0 when its session ends, so an ended session cannot be revived by a
	// late Save of an old record.
	Save(ctx context.Context, rec *state.Record) (*state.Record, error)

	// Agents returns the agents that have a record in the session, sorted.
	Agents(ctx context.Context, session string) ([]string, error)

	// Pin keeps text for the session under digest, which is its hex SHA-256.
	// Pinning the same again changes nothing.
	Pin(ctx context.Context, session, digest, text string) error

	// Pinned returns the text, or an error that wraps ErrNotPinned.
	Pinned(ctx context.Context, session, digest string) (string, error)

	// Unpin removes the pins of the session whose digests are not in keep. The
	// records stay. A session without pins is not an error.
	Unpin(ctx context.Context, session string, keep []string) error

	// End removes all records and pins of the session. Ending an unknown
	// session is not an error.
	End(ctx context.Context, session string) error
}

// Update loads the record of key, lets change make the next one, and saves it.
// After a conflict it starts again, so that no update is lost. Any other error
// ends it, also one that wraps [ErrUncertain]. change may run several times. It
// returns nil, or the very record that it was given, to say that nothing changed;
// then nothing is saved. Update returns the record that is stored afterwards.
func Update(ctx context.Context, s Store, key core.SessionKey, change func(*state.Record) (*state.Record, error)) (*state.Record, error) {
	return update(ctx, s, key, nil, change)
}

// UpdateFrom is Update for a caller that has just loaded the record: the first
// try begins with rec, and only a try after a conflict loads it again.
func UpdateFrom(ctx context.Context, s Store, rec *state.Record, change func(*state.Record) (*state.Record, error)) (*state.Record, error) {
	return update(ctx, s, rec.Key, rec, change)
}

func update(ctx context.Context, s Store, key core.SessionKey, rec *state.Record, change func(*state.Record) (*state.Record, error)) (*state.Record, error) {
	queued := false
	for try := 0; ; try++ {
		if err := pause(ctx, try); err != nil {
			return nil, err
		}
		if q, ok := s.(Queuer); ok && try > 0 && !queued {
			if leave := q.Queue(ctx, key); leave != nil {
				queued = true
				defer leave()
			}
		}
		if try > 0 || rec == nil {
			var err error
			if rec, err = s.Load(ctx, key); err != nil {
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
		saved, err := s.Save(ctx, next)
		if errors.Is(err, ErrConflict) && !errors.Is(err, ErrUncertain) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("save session %q: %w", key.Session, err)
		}
		return saved, nil
	}
}

// Queuer is a [Store] that lets updates of one record wait for each other after a
// conflict. Without it, n updates at the same time need n tries each. A store has it by
// embedding [Queues].
type Queuer interface {
	// Queue waits for those who have not left, for a second at most: correctness never
	// depends on it. It returns nil if they still have not left then.
	Queue(ctx context.Context, key core.SessionKey) (leave func())
}

// pause waits before a try: not before the first two, then for a random time of up
// to 32 ms that grows with each try, so that writers in several processes do not
// keep disturbing each other. It returns early with the error of ctx.
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
