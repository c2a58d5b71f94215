package satchel

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// pin keeps a text for a session.
func (r *Runtime) pin(ctx context.Context, key core.SessionKey, c catalog.Content) error {
	if err := r.storeOf(key).Pin(ctx, key.Session, c.Digest, c.Text); err != nil {
		return fmt.Errorf("pin content for session %q: %w", key.Session, err)
	}
	return nil
}

// lostText stands for a pinned text that the store has lost.
const lostText = "(This text is no longer available. Load it again.)"

// pinLookup returns a function that finds the pinned texts of a session. For a text
// that the store has lost it returns lostText, and no error.
func (r *Runtime) pinLookup(ctx context.Context, key core.SessionKey) func(digest string) (string, error) {
	return func(digest string) (string, error) {
		text, err := r.storeOf(key).Pinned(ctx, key.Session, digest)
		if errors.Is(err, session.ErrNotPinned) {
			r.logger.WarnContext(ctx, "pinned content is lost", "session", key.Session, "digest", digest)
			return lostText, nil
		}
		return text, err
	}
}
