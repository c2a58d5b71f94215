package satchel

import (
	"context"
	"weak"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/hook"
	"github.com/satchel-go/satchel/internal/activation"
	"github.com/satchel-go/satchel/internal/agentstate"
	"github.com/satchel-go/satchel/internal/equipment"
	"github.com/satchel-go/satchel/internal/hostfiles"
	"github.com/satchel-go/satchel/internal/rebuild"
	"github.com/satchel-go/satchel/internal/records"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

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
// Decision 1 says why.
func (r *Runtime) Prepare(ctx context.Context, req core.Request) (core.View, error) {
	if err := admit(req.Key); err != nil {
		return core.View{}, err
	}
	if r.open.Stopped() {
		return core.View{}, ErrShutdown
	}
	state := r.states.Of(req.Key)
	rec, err := r.advanced(ctx, &req, state)
	if err != nil {
		return core.View{}, err
	}
	if err := r.audiences.Know(ctx, req.Key, state); err != nil {
		return core.View{}, err
	}
	if r.offer.Runner != nil {
		req.Files = hostfiles.Named(req.Files, req.Messages, rec)
		r.states.Keep(state, req.Files)
	}
	if len(req.Tools) > 0 {
		state.Offer(req.Tools)
		r.bounds.WarnUnmapped(ctx, req.Key, req.Tools)
	}
	if rec, err = r.bounds.Keep(ctx, req.Key, rec, state); err != nil {
		return core.View{}, err
	}
	r.bounds.Saw(ctx, rec)
	if rec.NoSkills && len(rec.Deliveries) == 0 {
		return core.View{Messages: req.Messages, NoSkills: true}, nil
	}
	text := r.stores.Texts(ctx, req.Key)
	st := processors.State{
		Mode: r.mode, Rule: r.summary, Delivers: r.clearing.Delivers,
		Summary: req.Summary || ctx.Value(summaryKey{}) != nil,
	}
	if rec.Overview != "" {
		if st.Overview, err = text(rec.Overview); err != nil {
			return core.View{}, err
		}
	}
	if last := state.LastResponse(); r.mode == loadmode.Once && last.Observed() {
		st.Response = last.Calls()
	}
	st.Space = req.Space
	if r.offer.Runner != nil && len(req.Files) > 0 {
		st.Attached = processors.AttachedLines(req.Files)
	}
	render := func() (messages []core.Message, elsewhere processors.Elsewhere, err error) {
		st.Record = rec
		if st.Content, err = state.Shown(rec, text); err == nil {
			messages, elsewhere = processors.Render(r.chain, req.Messages, st)
		}
		return messages, elsewhere, err
	}
	messages, elsewhere, err := render()
	if err != nil {
		return core.View{}, err
	}
	if short, err := r.shortener.Due(ctx, rec, elsewhere); err != nil {
		return core.View{}, err
	} else if short != rec {
		rec = short
		if messages, elsewhere, err = render(); err != nil {
			return core.View{}, err
		}
	}
	state.Hide(elsewhere.Hidden)
	if r.once {
		state.Holds(req.Messages)
	}
	if r.events != nil {
		r.tell.EmitAll(ctx, req.Key, state.Executing(rec, elsewhere.Hidden))
	}
	if r.guarded {
		if found, broken := r.states.Watch(state).Check(messages, rec, req.Definitions...); broken {
			r.tell.Broken(ctx, req.Key, found)
		}
	}
	return core.View{Messages: messages, NoSkills: rec.NoSkills}, nil
}

// advanced loads the record of the request. Where the request begins a user turn, it
// saves and returns the record with which that turn begins.
func (r *Runtime) advanced(ctx context.Context, req *core.Request, state *agentstate.State) (*session.Record, error) {
	store := r.stores.Of(req.Key)
	rec, err := store.Load(ctx, req.Key)
	if err != nil {
		return nil, err
	}
	state.Saw(rec)
	turn := func(rec *session.Record) loadmode.UserTurn {
		token, _ := TurnToken(ctx)
		return loadmode.FindTurn(rec, req.Messages, token, state.IsAnswered(), state.Mark)
	}
	entered := state.Enter(runOf(ctx))
	if t := turn(rec); !t.Begins {
		if entered && t.IsAnew(rec) {
			again, events, err := r.stores.BeginAgain(ctx, rec, r.mode)
			if err != nil {
				return nil, err
			}
			rec = again
			state.BeginAgain()
			r.tell.EmitAll(ctx, req.Key, events)
		}
		state.InTurn(rec.Turn)
		return r.clearing.Within(ctx, store, rec, req.Messages)
	}
	var events []core.Event
	rec, err = session.UpdateFrom(ctx, store, rec, func(rec *session.Record) (*session.Record, error) {
		events = nil
		t := turn(rec)
		if !t.Begins {
			return nil, nil // another call of this turn was faster
		}
		next, happened, err := r.begin(ctx, rec, t, req, state)
		events = happened
		return next, err
	})
	if err != nil {
		return nil, err
	}
	state.BeginTurn()
	state.InTurn(rec.Turn)
	r.tell.EmitAll(ctx, req.Key, events)
	return rec, nil
}

// begin returns the record with which a turn begins, and the events to report once
// it is saved.
func (r *Runtime) begin(ctx context.Context, rec *session.Record, t loadmode.UserTurn, req *core.Request, state *agentstate.State) (*session.Record, []core.Event, error) {
	next, first := rec.Clone(), rec.Turn == 0
	next.Key = req.Key
	loadmode.Advance(next, r.mode, t.Token, t.User)
	if err := r.clearing.Begin(ctx, next, rec, req.Messages); err != nil {
		return nil, nil, err
	}
	next.CompactNow()
	skills, err := r.audiences.Ask(ctx, next.Key, state)
	if err != nil {
		return nil, nil, err
	}
	events := records.Completed(rec, next, "turn", r.mode)
	r.bounds.Begin(ctx, next)
	gone := r.overviews.Withdraw(next, skills)
	if r.offer.Runner != nil && len(gone) > 0 {
		if err := equipment.Unstage(ctx, r.offer.Runner.Workspaces, next.Key.Session, gone); err != nil {
			return nil, nil, err
		}
	}
	scope := r.scope(next.Key, state)
	events = append(events, core.Event{Kind: core.TurnBegun})
	for _, name := range gone {
		events = append(events, core.Event{Kind: core.SkillUnloaded, Skill: name, Detail: "withdrawn"})
	}
	if first {
		// This is decided once: a session that was offered the tools keeps them.
		next.NoSkills = len(r.Tools()) == 0 || r.overviews.Of(skills).Empty
		if err := r.overviews.Freeze(ctx, next, skills, req.Messages); err != nil {
			return nil, nil, err
		}
		ended, err := r.stores.Ended(ctx, next.Key)
		if err != nil {
			return nil, nil, err
		}
		restoring := rebuild.Rebuild{Scope: scope, Set: r.offer.Set, Ended: ended}
		if err := restoring.From(ctx, next, req.Messages); err != nil {
			return nil, nil, err
		}
	} else {
		notes := len(next.Notes)
		if err := r.overviews.Announce(ctx, next, skills, req.Messages); err != nil {
			return nil, nil, err
		}
		if len(next.Notes) > notes {
			events = append(events, core.Event{Kind: core.CatalogChanged, Detail: next.Notes[notes].Text})
		}
	}
	if r.offer.Runner != nil && r.offer.Runner.Attached != nil && !next.NoSkills {
		hostfiles.Tell(next, r.offer.Runner.Attached(ctx), req.Files, req.Messages)
	}
	calls := next.Calls
	if loads, _ := ctx.Value(loadsKey{}).([]Load); len(loads) > 0 {
		declared, happened, err := activation.Declare(ctx, scope, next, loads...)
		if err != nil {
			return nil, nil, err
		}
		next, events = declared, append(events, happened...)
	}
	activated, happened, err := r.activation.Begin(ctx, scope, next, req.Messages)
	if err != nil {
		return nil, nil, err
	}
	next, events = activated, append(events, happened...)
	if r.mode == loadmode.Once && t.Answered {
		// The loads of a turn are declared once more where its record was lost
		// in the middle of it.
		for call := calls + 1; call <= next.Calls; call++ {
			loadmode.SpendCall(next, call)
		}
	}
	if first && next.Calls > 0 {
		next.Began()
	}
	return next, events, nil
}

// runOf identifies the run that ctx belongs to, nil where nothing says so: the attempt of
// [BeginTurn], or else the run of the framework.
func runOf(ctx context.Context) any {
	if t := hook.TurnOf(ctx); t != nil {
		if t.Continues {
			return nil
		}
		return weak.Make(t)
	}
	if run, _ := hook.RunOf(ctx); run != nil {
		return weak.Make(run)
	}
	return nil
}
