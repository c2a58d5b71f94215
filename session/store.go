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
)

// ErrConflict reports that a record was saved by somebody else since it was
// loaded. Load it again and repeat the change.
var ErrConflict = errors.New("session record was changed meanwhile")

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
	Load(ctx context.Context, key core.SessionKey) (*Record, error)

	// Save stores rec under rec.Key if the stored version is still
	// rec.Version, and returns the record as stored, with Version one higher;
	// rec itself is not changed and not kept. Otherwise it stores nothing and
	// returns an error that wraps ErrConflict. Versions of a key start again
	// at 0 when its session ends, so an ended session cannot be revived by a
	// late Save of an old record.
	Save(ctx context.Context, rec *Record) (*Record, error)

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

// Update loads the record of key, lets change make the next one, and saves it;
// after a conflict it starts again, so that no update is lost. change may run
// several times. It returns nil, or the very record it was given, to say that
// nothing changed; then nothing is saved. Update returns the record that is
// stored afterwards.
func Update(ctx context.Context, s Store, key core.SessionKey, change func(*Record) (*Record, error)) (*Record, error) {
	for try := 0; ; try++ {
		if err := pause(ctx, try); err != nil {
			return nil, err
		}
		if q, ok := s.(queuer); ok && try == 1 {
			defer q.queue(ctx, key)()
		}
		rec, err := s.Load(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("load session %q: %w", key.Session, err)
		}
		next, err := change(rec)
		if err != nil {
			return nil, err
		}
		if next == nil || next == rec {
			return rec, nil
		}
		saved, err := s.Save(ctx, next)
		if errors.Is(err, ErrConflict) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("save session %q: %w", key.Session, err)
		}
		return saved, nil
	}
}

// queuer is a store that can let the updates of one record that met a conflict
// go one after the other. Without that, n updates at once make n tries each.
// queue waits a bounded time only and promises nothing.
type queuer interface {
	queue(ctx context.Context, key core.SessionKey) (leave func())
}

// pause waits before a try, not before the first two and then longer each time
// up to 32 ms, at random, so that writers in several processes do not keep
// making each other start again. It returns early with the error of ctx.
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
