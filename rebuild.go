package satchel

import (
	"context"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/rebuild"
	"github.com/satchel-go/satchel/session"
)

// rebuild restores the record of a session that begins from the receipts in its
// messages: the history may be older than the store, or the store was lost.
func (r *Runtime) rebuild(ctx context.Context, rec *session.Record, messages []core.Message) error {
	ended := 0
	if !rec.Key.Anonymous { // no host can send the messages of an anonymous session again
		var err error
		if ended, err = session.Buried(ctx, r.store, rec.Key); err != nil {
			return err
		}
	}
	restoring := rebuild.Rebuild{Scope: r.scope(rec.Key, r.states.Of(rec.Key)), Set: r.set, Ended: ended}
	return restoring.From(ctx, rec, messages)
}
