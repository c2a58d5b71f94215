// Package session stores the state of the agents of a conversation: opaque bytes under a
// version, and the texts that those bytes need. [Memory] and [Directory] are stores; the
// modules session/redisstore and session/pgstore have others.
package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core"
)

// ErrConflict reports that another caller saved the value after it was loaded. The caller loads
// it again and repeats the change.
var ErrConflict = errors.New("session value was changed meanwhile")

// ErrUncertain reports a Save after which the store may or may not hold the value, because the
// answer of a server was lost. The caller loads the value to find out. If it repeats the change
// without that, the change may be made twice.
var ErrUncertain = errors.New("the store may or may not have saved the value")

// ErrNotPinned reports a digest under which no text is pinned.
var ErrNotPinned = errors.New("content is not pinned")

// ErrDamaged reports stored content that cannot be trusted: it is incomplete, was changed, or
// belongs to another agent. The store deletes none of it; end the session to start over.
var ErrDamaged = errors.New("stored session content is damaged")

// ErrTooLarge reports a value or a pinned text that is larger than the store accepts.
var ErrTooLarge = errors.New("larger than the store accepts")

// ReservedPrefix begins the ids of sessions in which Satchel stores data that belongs to no
// conversation. Sessions does not list them, and they stay until they are ended.
const ReservedPrefix = "satchel:"

// Value is the stored state of an agent. The zero Value was never saved.
type Value struct {
	// Version counts the saves, from 1.
	Version int64
	// Data is opaque to the store. Callers must not change the Data that a store returns, because
	// it is shared.
	Data []byte
	// Pins are the digests of the texts that Data needs. Save renews the time to live of these
	// texts. The store does not save Pins: the values that it returns have none.
	Pins []string
}

// Store stores the values of agents, and pinned texts. Implementations are safe for concurrent
// use. If they promise durability, acknowledged changes survive a crash. They pass
// sessiontest.Run.
type Store interface {
	// Load returns the value of an agent. It is the zero Value if the key was never saved, or if
	// its session has ended.
	Load(ctx context.Context, key core.SessionKey) (Value, error)

	// Save stores a copy of v.Data if the stored version is still v.Version, and returns the
	// stored value, with Version one higher. Otherwise it stores nothing and returns an error
	// that wraps ErrConflict. When a session ends, the versions of its keys start again at 0, so
	// a late Save does not revive it.
	Save(ctx context.Context, key core.SessionKey, v Value) (Value, error)

	// Agents returns the agents that have a value in the session, sorted.
	Agents(ctx context.Context, session string) ([]string, error)

	// Pin stores text for the session under digest, which is its hex SHA-256; see [Digest]. Any
	// other digest is an error. A second Pin of the same text changes nothing.
	Pin(ctx context.Context, session, digest, text string) error

	// Pinned returns the text with a digest, or an error that wraps ErrNotPinned.
	Pinned(ctx context.Context, session, digest string) (string, error)

	// Unpin removes the pins of the session whose digests are not in keep. The values
	// stay. A session without pins is not an error.
	Unpin(ctx context.Context, session string, keep []string) error

	// End removes all values and pins of the session. Ending an unknown session is not
	// an error.
	End(ctx context.Context, session string) error
}

// conflictError returns the error for a save from one version when another one is stored.
func conflictError(key core.SessionKey, from, stored int64) error {
	return fmt.Errorf("save value of agent %q from version %d over version %d: %w", key.Agent, from, stored, ErrConflict)
}

// Digest returns the digest of text for [Store.Pin]: its SHA-256 in 64 lower-case hex digits.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// checkPin returns an error if digest is not that of text. Readers of the pin trust the digest.
func checkPin(digest, text string) error {
	if digest != Digest(text) {
		return fmt.Errorf("pin %q: digest is not the hex SHA-256 of the text", digest)
	}
	return nil
}

func notPinnedError(digest string) error {
	return fmt.Errorf("read pin %q: %w", digest, ErrNotPinned)
}
