package view

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// Clear takes from the record of an agent what is loaded and delivered.
func (s *Stores) Clear(ctx context.Context, key core.SessionKey) error {
	_, err := s.Of(key).Update(ctx, key, func(rec *state.Record) (*state.Record, error) {
		if len(rec.Active) == 0 && len(rec.Deliveries) == 0 {
			return nil, nil
		}
		next := rec.Clone()
		next.Active, next.Deliveries = nil, nil
		next.Began() // also where the turn is begun again
		return next, nil
	})
	return err
}

// Release unpins the texts that no agent of a session needs once some agents are cleared. It
// keeps all texts if the host has a value of its own in the session, whose pins are not known.
// loaded reports whether another agent has a skill loaded, also if Release cannot unpin.
func (s *Stores) Release(ctx context.Context, in core.SessionKey, cleared func(core.SessionKey) bool) (loaded bool, err error) {
	keys, err := s.Agents(ctx, in)
	if err != nil {
		return true, err
	}
	var pins []string
	foreign := false
	for _, key := range keys {
		rec, err := s.Load(ctx, key)
		if errors.Is(err, session.ErrDamaged) {
			foreign = true
			continue
		}
		if err != nil {
			return true, err
		}
		pins = append(pins, rec.Pins()...)
		loaded = loaded || len(rec.Active) > 0 && !cleared(key)
	}
	if foreign {
		return loaded, nil
	}
	return loaded, s.Of(in).Unpin(ctx, in.Session, pins)
}
