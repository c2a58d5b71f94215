package satchel

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/hostfiles"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// Prepare returns the request as the model should get it. It owns all state changes of a model
// call: it loads the session's record, ends lifetimes where a user turn begins, saves the
// record if that changed it, and renders. It reads nothing from disk but the record, and the
// catalog where a session begins. The messages of req are never changed. The same messages,
// state and catalog give the same bytes, so a request may be prepared again. The files of req
// are what skills find in their workspace until the next request.
//
// The error is one of the store or of the host's own use (a declared load that cannot be
// made), never of a skill or of the model.
func (r *Runtime) Prepare(ctx context.Context, req core.Request) (core.View, error) {
	if err := admit(req.Key); err != nil {
		return core.View{}, err
	}
	if r.open.Stopped() {
		return core.View{}, errShutdown
	}
	agent := r.states.Of(req.Key)
	rec, err := r.stores.Load(ctx, req.Key)
	if err != nil {
		return core.View{}, err
	}
	scan := state.ScanMessages(req.Messages, rec.Front.Messages)
	if r.budget != (tools.Budget{}) {
		agent.CountReads(&scan, &r.offer)
	}
	loads, _ := ctx.Value(loadsKey{}).([]Load)
	if rec, err = r.turns.Advance(ctx, &req, &scan, agent, rec, loads); err != nil {
		return core.View{}, err
	}
	if err := r.audiences.Know(ctx, req.Key, agent); err != nil {
		return core.View{}, err
	}
	if r.offer.Runner != nil {
		req.Files = hostfiles.Named(req.Files, &scan, rec)
		r.states.Keep(agent, req.Files)
	}
	if len(req.Tools) > 0 {
		agent.Offer(req.Tools)
		r.bounds.WarnUnmapped(ctx, req.Key, req.Tools)
	}
	r.bounds.See(ctx, rec)
	agent.Request(&scan)
	if rec.NoSkills && len(rec.Deliveries) == 0 {
		messages := req.Messages
		if answer := r.missing(ctx, &req, rec); answer != nil {
			messages = steps.AnswerAll(slices.Clone(messages), answer)
		}
		return core.View{Messages: messages, NoSkills: true}, nil
	}
	return r.view(ctx, &req, &scan, agent, rec)
}

// view renders the request with what the record has delivered, and notes what the model
// will see of it.
func (r *Runtime) view(ctx context.Context, req *core.Request, scan *state.Scan, agent *view.State, rec *state.Record) (core.View, error) {
	text := r.stores.Texts(ctx, req.Key)
	st := steps.State{
		Mode: r.loading.Mode, Rule: r.loading.Summary, Delivers: r.clearing.Delivers,
		Summary: req.Summary || ctx.Value(summaryKey{}) != nil, Space: req.Space, Answer: r.missing(ctx, req, rec),
	}
	var err error
	if rec.Overview != "" {
		if st.Overview, err = text(rec.Overview); err != nil {
			return core.View{}, err
		}
	}
	if last := agent.LastResponse(); r.loading.Mode == loadmode.Once && last.Observed() {
		st.Response = last.Calls()
	}
	if r.offer.Runner != nil && len(req.Files) > 0 {
		st.Attached = steps.AttachedLines(req.Files)
	}
	render := func() (messages []core.Message, elsewhere steps.Elsewhere, err error) {
		st.Record = rec
		if st.Content, err = agent.Shown(rec, text); err == nil {
			messages, elsewhere = steps.Render(r.chain, req.Messages, st)
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
	agent.Hide(elsewhere.Hidden)
	if r.offer.Runner != nil && r.offer.Runner.Once {
		agent.Holds(scan)
	}
	if r.events != nil {
		r.report.EmitAll(ctx, req.Key, agent.Executing(rec, elsewhere.Hidden))
	}
	if r.guarded {
		guard := r.states.Watch(agent)
		if agent.WasLeft() {
			guard.TurnLeft()
		}
		if found, broken := guard.Check(messages, rec, req.Definitions...); broken {
			r.report.Broken(ctx, req.Key, found)
		}
	}
	return core.View{Messages: messages, NoSkills: rec.NoSkills}, nil
}
