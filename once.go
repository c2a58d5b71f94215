package satchel

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/response"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// The answer to a call whose command was begun before, and whether it ended is not
// known.
const begunBefore = "this command was begun before and its end is unknown: look at its files before running it again"

// maxKeptAnswer is the length of an answer that a record holds itself. A longer one
// is pinned: a record holds those of all calls of a response.
const maxKeptAnswer = 2 << 10

// onceCall is what the record knows of a call whose command may start only once.
// The zero value, and nil, are those of any other call.
type onceCall struct {
	call *Call
	// answer is that of a call that has ended before.
	answer string
	ended  bool
	// pending is the call in the record, once its command was about to start.
	pending session.Pending
}

// once looks up a call whose command may start only once, and lets the operation
// note the start. A call that belongs to no response and has no id cannot be told
// from others like it, so its command runs.
func (c *Call) once(ctx context.Context, s *tools.Scope) (*onceCall, error) {
	o := &onceCall{call: c}
	if !c.runtime.once || !c.operation.Once || c.place == nil && (c.call.ID == "" || c.observed) {
		return o, nil
	}
	rec, err := c.load(ctx)
	if err != nil {
		return o, err
	}
	was, err := c.noted(rec)
	if err != nil {
		o.ended, o.answer = true, c.withLoad("error: "+begunBefore)
		return o, nil
	}
	if o.ended = was.Done || was.Begun; o.ended {
		o.answer, err = c.answered(ctx, was)
		return o, err
	}
	s.Begin = o.begin
	return o, nil
}

// errBegun reports a call that another process may have begun.
var errBegun = tools.ModelError(begunBefore)

// noted returns what the record knows of the call, which has no number if that is
// nothing. The error is errBegun if the call had a number and has lost it: another
// process goes on with the turn.
func (c *Call) noted(rec *session.Record) (session.Pending, error) {
	place := c.place
	if place.Number() == 0 {
		place = nil // found by its id, if another process has begun it
	}
	i := response.FindPending(rec.Pending, place, c.call)
	switch {
	case i >= 0:
		return rec.Pending[i], nil
	case place != nil:
		return session.Pending{}, errBegun
	}
	return session.Pending{}, nil
}

// answered returns the answer to a call that was begun before.
func (c *Call) answered(ctx context.Context, was session.Pending) (string, error) {
	switch {
	case !was.Done:
		return c.withLoad("error: " + begunBefore), nil
	case was.Text == "":
		return was.Answer, nil
	}
	text, err := c.runtime.stores.Of(c.key).Pinned(ctx, c.key.Session, was.Text)
	if errors.Is(err, session.ErrNotPinned) { // the store has lost it
		return "error: " + begunBefore, nil
	}
	return text, err
}

// begin notes in the record that the command is about to start.
func (o *onceCall) begin(ctx context.Context) error {
	c := o.call
	entered := c.isOnly()
	known := false
	_, err := c.update(ctx, func(rec *session.Record) (*session.Record, string, error) {
		was, err := c.noted(rec)
		if err == nil && (was.Begun || was.Done) {
			err = errBegun
		}
		if err != nil {
			return nil, "", err
		}
		if known = was.Call != 0; !known {
			was = session.Pending{Call: rec.Calls + 1, From: response.Kept(c.call), Runs: true}
		}
		was.Begun = true
		o.pending = was
		if known {
			return response.Answered(rec, nil, o.pending), "", nil
		}
		return response.AnsweredFirst(rec, nil, o.pending, entered), "", nil
	})
	if err != nil {
		o.pending = session.Pending{}
		return err
	}
	if entered && !known {
		c.place.SetNumber(o.pending.Call)
	}
	return nil
}

// end notes the answer of a call whose command was begun.
func (o *onceCall) end(ctx context.Context, answer string) (string, error) {
	if !o.pending.Begun {
		return answer, nil
	}
	done := o.pending
	done.Done, done.Answer = true, answer
	if len(answer) > maxKeptAnswer {
		done.Answer, done.Text = "", session.Digest(answer)
		if err := o.call.runtime.stores.Pin(ctx, o.call.key, catalog.Content{Text: answer, Digest: done.Text}); err != nil {
			return "", err
		}
	}
	_, err := o.call.update(ctx, func(rec *session.Record) (*session.Record, string, error) {
		return response.Answered(rec, nil, done), "", nil
	})
	if err != nil {
		return "", err
	}
	return answer, nil
}
