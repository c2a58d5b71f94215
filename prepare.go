package satchel

import (
	"context"
	"errors"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// lostText stands for a pinned text that the store has lost.
const lostText = "(This text is no longer available. Load it again.)"

// Prepare returns the request as the model should be sent it. It is the one
// owner of state changes per model call: it loads the session's record, lets
// lifetimes end where a user turn begins, saves the record if that changed it,
// and renders. It reads nothing from disk but the record, and the catalog where
// a session begins. The messages of req are never changed; the same messages,
// state and catalog give the same bytes, so a request may be prepared again. The
// files of req are what skills find in their workspace until the next request.
//
// The error is one of the store or of the host's own use (a declared load that
// cannot be made), never of a skill or of the model.
func (r *Runtime) Prepare(ctx context.Context, req core.Request) (core.View, error) {
	life := r.live.of(req.Key)
	rec, err := r.advanced(ctx, &req, life)
	if err != nil {
		return core.View{}, err
	}
	if r.runner != nil {
		r.live.hold(life, req.Files)
	}
	if len(req.Tools) > 0 {
		life.offer(req.Tools)
	}
	if rec.NoSkills && len(rec.Deliveries) == 0 {
		return core.View{Messages: req.Messages, NoSkills: true}, nil
	}
	text := r.texter(ctx, req.Key)
	content, err := life.shown(rec, text)
	if err != nil {
		return core.View{}, err
	}
	st := processors.State{
		Record: rec, Content: content, Mode: r.mode, Rule: r.summary, Delivers: r.delivers,
		Summary: req.Summary || ctx.Value(summaryKey{}) != nil,
	}
	if rec.Overview != "" {
		if st.Overview, err = text(rec.Overview); err != nil {
			return core.View{}, err
		}
	}
	if r.mode == loadmode.Once {
		st.Response = life.responded()
	}
	st.Space = req.Space
	messages, hidden := processors.Render(r.chain, req.Messages, st)
	life.hide(hidden)
	if r.guarded {
		r.guard(ctx, &req, life, messages, rec)
	}
	return core.View{Messages: messages, NoSkills: rec.NoSkills}, nil
}

// texter returns what finds the pinned texts of a session.
func (r *Runtime) texter(ctx context.Context, key core.SessionKey) func(digest string) (string, error) {
	return func(digest string) (string, error) {
		text, err := r.pinned(ctx, key, digest)
		if errors.Is(err, session.ErrNotPinned) {
			r.logger.WarnContext(ctx, "pinned content is lost", "session", key.Session, "digest", digest)
			return lostText, nil
		}
		return text, err
	}
}

// advanced returns the record of the request, after what the request begins.
func (r *Runtime) advanced(ctx context.Context, req *core.Request, life *life) (*session.Record, error) {
	store := r.storeOf(req.Key)
	rec, err := store.Load(ctx, req.Key)
	if err != nil {
		return nil, err
	}
	t := r.turnOf(ctx, rec, req.Messages, life)
	if !t.begins {
		return rec, nil
	}
	var events []core.Event
	rec, err = session.Update(ctx, store, req.Key, func(rec *session.Record) (*session.Record, error) {
		events = nil
		t := r.turnOf(ctx, rec, req.Messages, life)
		if !t.begins {
			return nil, nil // another call of this turn was faster
		}
		next, happened, err := r.begin(ctx, rec, t, req)
		events = happened
		return next, err
	})
	if err != nil {
		return nil, err
	}
	life.close(false)
	for _, e := range events {
		e.Key = req.Key
		r.Emit(ctx, e)
	}
	return rec, nil
}

// begin makes the record with which a turn begins.
func (r *Runtime) begin(ctx context.Context, rec *session.Record, t turn, req *core.Request) (*session.Record, []core.Event, error) {
	next, first := rec.Clone(), rec.Turn == 0
	next.Key = req.Key
	loadmode.Advance(next, r.mode, t.token, t.user)
	if err := r.outlive(ctx, next, rec, req.Messages); err != nil {
		return nil, nil, err
	}
	events := []core.Event{{Kind: core.TurnBegun}}
	if first {
		// Once for all: a session that was offered the tools keeps them.
		next.NoSkills = len(r.offered) == 0 || r.current().empty
		if err := r.freeze(ctx, next); err != nil {
			return nil, nil, err
		}
		if err := r.rebuild(ctx, next, req.Messages); err != nil {
			return nil, nil, err
		}
	} else {
		notes := len(next.Notes)
		if err := r.announce(ctx, next, req.Messages); err != nil {
			return nil, nil, err
		}
		if len(next.Notes) > notes {
			events = append(events, core.Event{Kind: core.CatalogChanged, Detail: next.Notes[notes].Text})
		}
	}
	loads, _ := ctx.Value(loadsKey{}).([]Load)
	if len(loads) == 0 {
		return next, events, nil
	}
	scope := r.scope(req.Key)
	scope.Record = func(context.Context) (*session.Record, error) { return next, nil }
	declaration, err := tools.Declare(ctx, scope, loads)
	if err != nil {
		return nil, nil, err
	}
	if next, err = declaration.Apply(next, next.User); err != nil {
		return nil, nil, err
	}
	if r.mode == loadmode.Once && t.answered {
		spend(next, next.Calls)
	}
	return next, append(events, declaration.Events()...), nil
}

// spend notes that the model has answered to what a call delivered: the loads of
// a turn are declared once more where its record was lost in the middle of it.
func spend(rec *session.Record, call int) {
	for i := range rec.Deliveries {
		if rec.Deliveries[i].Call == call {
			rec.Deliveries[i].Spent = true
		}
	}
}

// turn is what a request says about the user turn that it belongs to.
type turn struct {
	begins bool
	token  string
	user   session.Mark
	// answered: the agent has done something since the message of the user.
	answered bool
}

// turnOf finds out whether the request begins a user turn. A token of the host
// decides; without one, the last message that a user wrote does, if nothing
// that the agent did follows it: it begins a turn if it is not the one that
// began the last, or if that turn was answered. Neither a retry nor a resumed
// run begins one.
func (r *Runtime) turnOf(ctx context.Context, rec *session.Record, messages []core.Message, life *life) turn {
	var t turn
	t.token, _ = TurnToken(ctx)
	last := -1
	for i := len(messages) - 1; i >= 0 && last < 0; i-- {
		switch m := &messages[i]; {
		case m.Role == core.User && !m.Rewritten:
			last = i
		case m.Role == core.Assistant || m.Role == core.ToolResult:
			t.answered = true
		}
	}
	if last >= 0 {
		t.user.Hash = life.mark(messages[last].Text)
		for i := range messages[:last] {
			if messages[i].Role == core.User && !messages[i].Rewritten {
				t.user.Ordinal++
			}
		}
	}
	switch {
	case rec.Turn == 0:
		t.begins = true
	case t.token != "":
		t.begins = t.token != rec.Token && !slices.Contains(rec.Tokens, t.token)
	case last < 0 || t.answered:
	default:
		t.begins = t.user.Hash != rec.User.Hash || t.user.Ordinal > rec.User.Ordinal || life.isClosed()
	}
	return t
}
