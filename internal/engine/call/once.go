package call

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// begunBefore is the answer to a call whose command was begun before, if it is not known
// whether the command ended.
const begunBefore = "this command was begun before and its end is unknown: look at its files before running it again"

// Once is what the record knows of a call whose command may start only once.
type Once struct {
	call *Saving
	// Answer is that of a call that has Ended before.
	Answer string
	Ended  bool
	// pending is the call in the record, once its command was about to start.
	pending state.Pending
}

// Once looks up a call whose command may start only once. It returns nil for a call that
// belongs to no response and has no id: it cannot be told from others like it, so its
// command runs.
func (s *Saving) Once(ctx context.Context) (*Once, error) {
	if s.Place == nil && (s.Call.ID == "" || s.Observed) {
		return nil, nil
	}
	o := &Once{call: s}
	rec, err := s.Load(ctx)
	if err != nil {
		return nil, err
	}
	was, err := s.noted(rec)
	if err != nil {
		o.Ended, o.Answer = true, s.WithLoad("error: "+begunBefore)
		return o, nil
	}
	if !was.Begun {
		if before, ran := state.FindOnceCall(rec, s.Call); ran {
			was = before
		}
	}
	if o.Ended = was.Done || was.Begun; o.Ended {
		o.Answer, err = s.answered(ctx, was)
	}
	return o, err
}

// errBegun reports a call that another process may have begun.
var errBegun = tools.ModelError(begunBefore)

// noted returns what the record knows of the call, which has no number if that is
// nothing. The error is errBegun if the call had a number and has lost it: another
// process goes on with the turn.
func (s *Saving) noted(rec *state.Record) (state.Pending, error) {
	place := s.Place
	if place.Number() == 0 {
		place = nil // found by its id, if another process has begun it
	}
	i := state.FindPending(rec.Pending, place, s.Call)
	switch {
	case i >= 0:
		return rec.Pending[i], nil
	case place != nil:
		return state.Pending{}, errBegun
	}
	return state.Pending{}, nil
}

// answered returns the answer to a call that was begun before.
func (s *Saving) answered(ctx context.Context, was state.Pending) (string, error) {
	switch {
	case !was.Done:
		return s.WithLoad("error: " + begunBefore), nil
	case was.Text == "":
		return was.Answer, nil
	}
	text, err := s.Stores.Of(s.Key).Pinned(ctx, s.Key.Session, was.Text)
	if errors.Is(err, session.ErrNotPinned) { // the store has lost it
		return "error: " + begunBefore, nil
	}
	return text, err
}

// Begin notes in the record that the command is about to start.
func (o *Once) Begin(ctx context.Context) error {
	s := o.call
	entered := s.isOnly()
	known := false
	_, err := s.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		was, err := s.noted(rec)
		if err == nil && (was.Begun || was.Done) {
			err = errBegun
		}
		if err != nil {
			return nil, "", err
		}
		if known = was.Call != 0; !known {
			was = state.Pending{Call: rec.Calls + 1, From: state.ShortenCall(s.Call), Runs: true}
		}
		was.Begun = true
		o.pending = was
		if known {
			return state.WithAnswer(rec, nil, o.pending), "", nil
		}
		return state.WithFirstAnswer(rec, nil, o.pending, entered), "", nil
	})
	if err != nil {
		o.pending = state.Pending{}
		return err
	}
	if entered && !known {
		s.Place.SetNumber(o.pending.Call)
	}
	return nil
}

// End notes the answer of a call whose command was begun. It does nothing for nil.
func (o *Once) End(ctx context.Context, answer string) (string, error) {
	if o == nil || !o.pending.Begun {
		return answer, nil
	}
	done := o.pending
	done.Done, done.Answer = true, answer
	if len(answer) > maxKeptAnswer {
		done.Answer, done.Text = "", session.Digest(answer)
		if err := o.call.Stores.Pin(ctx, o.call.Key, catalog.Content{Text: answer, Digest: done.Text}); err != nil {
			return "", err
		}
	}
	_, err := o.call.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		return state.WithAnswer(rec, nil, done), "", nil
	})
	if err != nil {
		return "", err
	}
	return answer, nil
}
