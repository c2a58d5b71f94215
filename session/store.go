// Package session keeps what the agents of a conversation have stored: opaque bytes under
// a version, and the texts that those bytes need. [Memory] and [Directory] are stores; the
// modules session/redisstore and session/pgstore have others.
package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core"
)

// ErrConflict reports that a value was saved by another caller since it was loaded. Load
// it again and repeat the change.
var ErrConflict = errors.New("session value was changed meanwhile")

// ErrUncertain reports a Save after which the store may or may not hold the value: a
// server took it and its answer was lost. Load the value to see. A change that is repeated
// without that might be made twice.
var ErrUncertain = errors.New("the store may or may not have saved the value")

// ErrNotPinned reports a digest under which no text is pinned.
var ErrNotPinned = errors.New("content is not pinned")

// ErrDamaged reports stored content that exists but cannot be trusted: it is incomplete,
// was changed, or belongs to another agent. A store deletes nothing of it; end the session
// to start over.
var ErrDamaged = errors.New("stored session content is damaged")

// ErrTooLarge reports a value or a pinned text that is larger than the store accepts.
var ErrTooLarge = errors.New("larger than the store accepts")

// Reserved begins the ids of the sessions under which Satchel keeps data that belongs to
// no conversation. They are not listed, and stay until they are ended.
const Reserved = "satchel:"

// Value is what an agent of a session has stored. The zero Value was never saved.
type Value struct {
	// Version counts the saves, from 1.
	Version int64
	// Data are bytes that only the caller understands. The Data that a store returns is
	// shared: callers must not change it.
	Data []byte
	// Pins are the digests of the texts that Data needs. Save renews their time to live.
	// A store does not keep them: the values that it returns have none.
	Pins []string
}

// Store keeps the values of agents and pinned texts. Implementations are safe for
// concurrent use by any number of goroutines. They hold what they acknowledged across a
// crash if they promise durability at all, and pass sessiontest.Run.
type Store interface {
	// Load returns the value of an agent. It is the zero Value for a key that was never
	// saved or whose session ended.
	Load(ctx context.Context, key core.SessionKey) (Value, error)

	// Save stores v.Data if the stored version is still v.Version, and returns the value
	// as stored, with Version one higher. Otherwise it stores nothing and returns an error
	// that wraps ErrConflict. Save keeps a copy of v.Data. Versions of a key start again
	// at 0 when its session ends, so a late Save does not revive an ended session.
	Save(ctx context.Context, key core.SessionKey, v Value) (Value, error)

	// Agents returns the agents that have a value in the session, sorted.
	Agents(ctx context.Context, session string) ([]string, error)

	// Pin keeps text for the session under digest, which is its hex SHA-256; see
	// [Digest]. Any other digest is an error. Pinning the same again changes nothing.
	Pin(ctx context.Context, session, digest, text string) error

	// Pinned returns the text, or an error that wraps ErrNotPinned.
	Pinned(ctx context.Context, session, digest string) (string, error)

	// Unpin removes the pins of the session whose digests are not in keep. The values
	// stay. A session without pins is not an error.
	Unpin(ctx context.Context, session string, keep []string) error

	// End removes all values and pins of the session. Ending an unknown session is not
	// an error.
	End(ctx context.Context, session string) error
}

// conflict is the error of saving from a version when another one is stored.
func conflict(key core.SessionKey, from, stored int64) error {
	return fmt.Errorf("save value of agent %q from version %d over version %d: %w", key.Agent, from, stored, ErrConflict)
}
