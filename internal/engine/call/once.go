package call

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// begunBefore answers a call whose command has started before, if it is not known whether it has
// ended.
const begunBefore = "this command was begun before and its end is unknown: look at its files before running it again"

// Once ensures that the command of a call starts only once.
type Once struct {
	call *callRecord
	// Answer is the answer of a call that has ended before; HasEnded reports that.
	Answer   string
	HasEnded bool
	// pending is the call's entry in the record, from the time when its command was about to
	// start.
	pending state.Pending
}

// Once looks up a call whose command may start only once. It returns nil if the call belongs to
// no response and has no id. Such a call cannot be identified later, so its command runs without
// protection.
func (s *callRecord) Once(ctx context.Context) (*Once, error) {
	if s.Place == nil && (s.Call.ID == "" || s.Observed) {
		return nil, nil
	}
	o := &Once{call: s}
	rec, err := s.Load(ctx)
	if err != nil {
		return nil, err
	}
	was, err := s.findPending(rec)
	if err != nil {
		o.HasEnded, o.Answer = true, s.WithReload("error: "+begunBefore)
		return o, nil
	}
	if !was.Begun {
		if before, ran := state.FindOnceCall(rec, s.Call); ran {
			was = before
		}
	}
	if o.HasEnded = was.Done || was.Begun; o.HasEnded {
		o.Answer, err = s.previousAnswer(ctx, was)
	}
	return o, err
}

// errBegun is the error of a call that another process may have started.
var errBegun = tools.ModelError(begunBefore)

// findPending returns the call's entry in the record, or the zero value if there is none. The
// error is errBegun if the call had a number that the record does not hold any more, because
// another process continues the turn.
func (s *callRecord) findPending(rec *state.Record) (state.Pending, error) {
	place := s.Place
	if place.Number() == 0 {
		place = nil // another process may have begun it; then its id finds it
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

// previousAnswer returns the answer of a call whose command has started before.
func (s *callRecord) previousAnswer(ctx context.Context, was state.Pending) (string, error) {
	switch {
	case !was.Done:
		return s.WithReload("error: " + begunBefore), nil
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
		was, err := s.findPending(rec)
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

// End saves the answer of a call and returns it. It saves only the answers of calls for
// which Begin was called.
func (o *Once) End(ctx context.Context, answer string) (string, error) {
	if !o.pending.Begun {
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
