package answers

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/internal/response"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// Answer answers a call under a number that it is given, with a way to save what the call
// changes and the answer to it.
type Answer func(number int, update func(context.Context, tools.Change) (string, error)) (string, error)

// Change answers a call that changes what is loaded. It saves the answer together
// with the change, and also where the call changed nothing: executed again, the call
// must give the same answer and change nothing.
func (s *Saving) Change(ctx context.Context, answer Answer) (string, error) {
	for {
		rec, err := s.Load(ctx)
		if err != nil {
			return "", err
		}
		number, known := rec.Calls+1, false
		if i := response.FindPending(rec.Pending, s.Place, s.Call); i >= 0 {
			if rec.Pending[i].Done {
				return rec.Pending[i].Answer, nil
			}
			number, known = rec.Pending[i].Call, true
			s.Place.Found(rec)
		}
		text, err := s.changeAs(ctx, answer, number, known)
		if !errors.Is(err, ErrNumberTaken) {
			return text, err
		}
		s.record = nil
	}
}

// changeAs answers the call under a number. known says that the record has already
// given the call this number; otherwise it gets the number together with the answer.
func (s *Saving) changeAs(ctx context.Context, answer Answer, number int, known bool) (string, error) {
	saved := false
	done := session.Pending{Call: number, From: response.Kept(s.Call), Done: true}
	only := s.IsOnly()
	update := func(ctx context.Context, change tools.Change) (string, error) {
		text, err := s.Update(ctx, s.Numbered(change, done, known))
		saved = err == nil
		return text, err
	}
	text, err := answer(number, update)
	if err == nil && !saved {
		text, err = update(ctx, func(*session.Record) (*session.Record, string, error) { return nil, text, nil })
	}
	if err == nil && only && !known {
		s.Place.SetNumber(number)
	}
	return text, err
}
