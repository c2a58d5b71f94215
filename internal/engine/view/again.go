package view

import (
	"context"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// BeginAgain saves and returns the record with which the turn of rec began, and the events of
// the change. Callers use it after an attempt to answer the turn has failed.
func (s *Stores) BeginAgain(ctx context.Context, rec *state.Record, mode loadmode.Mode) (*state.Record, []core.Event, error) {
	turn := rec.Turn
	var events []core.Event
	rec, err := s.Of(rec.Key).UpdateFrom(ctx, rec, func(rec *state.Record) (*state.Record, error) {
		next := rec.Clone()
		if events = nil; rec.Turn != turn || !next.BeginAgain() {
			return nil, nil
		}
		events = Completed(rec, next, "again", mode)
		return next, nil
	})
	return rec, events, err
}
