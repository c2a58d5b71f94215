package view

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/tokencount"
	"github.com/satchel-go/satchel/session"
)

// Stores are where records and texts are kept: those of the host's sessions in its store,
// and those of sessions that no host named in another one.
type Stores struct {
	Kept      *state.Records
	Anonymous *state.Records
	Log       *slog.Logger
}

// Of returns the records among which those of a session are.
func (s *Stores) Of(key core.SessionKey) *state.Records {
	if key.Anonymous {
		return s.Anonymous
	}
	return s.Kept
}

// Load loads the record of an agent.
func (s *Stores) Load(ctx context.Context, key core.SessionKey) (*state.Record, error) {
	return s.Of(key).Load(ctx, key)
}

// Pin keeps a text for a session.
func (s *Stores) Pin(ctx context.Context, key core.SessionKey, c catalog.Content) error {
	if err := s.Of(key).Pin(ctx, key.Session, c.Digest, c.Text); err != nil {
		return fmt.Errorf("pin content for session %q: %w", key.Session, err)
	}
	return nil
}

// lostText stands for a pinned text that the store has lost.
const lostText = "(This text is no longer available. Load it again.)"

// Texts returns a function that finds the pinned texts of a session. For a text that the
// store has lost it returns a sentence that says so, and no error.
func (s *Stores) Texts(ctx context.Context, key core.SessionKey) func(digest string) (string, error) {
	return func(digest string) (string, error) {
		text, err := s.Of(key).Pinned(ctx, key.Session, digest)
		if errors.Is(err, session.ErrNotPinned) {
			s.Log.WarnContext(ctx, "pinned content is lost", "session", key.Session, "digest", digest)
			return lostText, nil
		}
		return text, err
	}
}

// Size estimates the tokens of a pinned text of a session.
func (s *Stores) Size(ctx context.Context, key core.SessionKey, digest string) (int, error) {
	text, err := s.Texts(ctx, key)(digest)
	return tokencount.Estimate(text), err
}

// Agents returns the keys of all agents of the session of key.
func (s *Stores) Agents(ctx context.Context, key core.SessionKey) ([]core.SessionKey, error) {
	agents, err := s.Of(key).Agents(ctx, key.Session)
	if err != nil {
		return nil, err
	}
	var keys []core.SessionKey
	for _, key.Agent = range agents {
		keys = append(keys, key)
	}
	return keys, nil
}

// Ended returns the number of the last call of a session that was ended under the id of
// key, 0 for none.
func (s *Stores) Ended(ctx context.Context, key core.SessionKey) (int, error) {
	if key.Anonymous { // no host can send the messages of an anonymous session again
		return 0, nil
	}
	return s.Kept.Ended(ctx, key)
}
