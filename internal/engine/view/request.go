package view

import (
	"cmp"
	"context"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// Requests renders the requests of agents. Its exported fields are not changed after its first
// use.
type Requests struct {
	Mode  loadmode.Mode
	Rule  processors.SummaryRule
	Chain []steps.Processor
	// Delivers are the names of the tools whose results show content.
	Delivers map[string]bool
	// Runs reports that there is a runner, and Once that it runs each command at most once.
	// IsGuarded reports that each request is compared with the previous one.
	Runs, Once, IsGuarded bool
	Shortener             Shortener
	Stores                *state.Stores
	Report                *Reporter
	// Tracing describes the views, or is nil without a tracer.
	Tracing *Tracing

	mu     sync.Mutex
	guards *lru.Cache[core.SessionKey, *steps.PrefixGuard]
}

// guardOf returns the prefix guard of an agent. It makes a new one if there is none, for example
// because the cache has dropped it.
func (r *Requests) guardOf(key core.SessionKey) *steps.PrefixGuard {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.guards == nil {
		r.guards = lru.New[core.SessionKey, *steps.PrefixGuard](maxGuards, nil)
	}
	guard, ok := r.guards.Get(key)
	if !ok {
		guard = new(steps.PrefixGuard)
		r.guards.Put(key, guard, 1)
	}
	return guard
}

// End drops the prefix guards of a session.
func (r *Requests) End(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.guards == nil {
		return
	}
	for key := range r.guards.All() {
		if key.Session == session {
			r.guards.Remove(key)
		}
	}
}

// Render returns the request for the model, with the content of the record. It notes in agent
// what the model sees. isSummary reports that a summary replaces part of the history. answer
// returns the result of a call that has none in the request; it is nil if every call has one.
func (r *Requests) Render(ctx context.Context, req *core.Request, scan *state.Scan, agent *state.Agent, rec *state.Record, isSummary bool, answer func(steps.Unanswered) string) (core.View, error) {
	text := r.Stores.Texts(ctx, req.Key)
	st := steps.State{
		Mode: r.Mode, Rule: r.Rule, Delivers: r.Delivers,
		Summary: req.Summary || isSummary, Space: req.Space, Answer: answer,
	}
	var err error
	if prefix := cmp.Or(rec.Prefix, rec.Overview); prefix != "" {
		if st.Overview, err = text(prefix); err != nil {
			return core.View{}, err
		}
	}
	if last := agent.LastResponse(); r.Mode == loadmode.Once && last.Observed() {
		st.Response = last.Calls()
	}
	if r.Runs && len(req.Files) > 0 {
		st.Attached = steps.AttachedLines(req.Files)
	}
	if r.Tracing != nil {
		st.Places = new([]steps.Place)
	}
	render := func() (messages []core.Message, displaced steps.Displaced, err error) {
		if st.Record = rec; st.Places != nil {
			*st.Places = (*st.Places)[:0]
		}
		if st.Content, err = agent.Content(rec, text); err == nil {
			messages, displaced = steps.Render(r.Chain, req.Messages, st)
		}
		return messages, displaced, err
	}
	messages, displaced, err := render()
	if err != nil {
		return core.View{}, err
	}
	if len(displaced.Fallback) > 0 {
		short, err := r.Shortener.ShortenNow(ctx, rec, displaced)
		if err != nil {
			return core.View{}, err
		}
		if short != rec {
			if r.Report.Hook != nil {
				r.Report.EmitAll(ctx, req.Key, rec.ClearedEvents(short, state.Clearing{Cause: state.ClearedByBudget}))
			}
			rec = short
			if messages, displaced, err = render(); err != nil {
				return core.View{}, err
			}
		}
	}
	agent.SetHidden(displaced.Hidden)
	if r.Once {
		agent.NoteResults(scan)
	}
	if r.Report.Hook != nil {
		r.Report.EmitAll(ctx, req.Key, agent.ExecutingEvents(rec, displaced.Hidden))
	}
	if r.IsGuarded {
		guard := r.guardOf(req.Key)
		if agent.WasAbandoned() {
			guard.DropTurn()
		}
		if found, broken := guard.Check(messages, rec, req.Definitions...); broken {
			r.Report.ReportBreak(ctx, req.Key, found)
		}
	}
	view := core.View{Messages: messages, NoSkills: rec.NoSkills}
	if r.Tracing != nil {
		view.Trace = r.Tracing.Describe(ctx, scan, rec, st.Content, *st.Places, r.Stores.Texts(ctx, req.Key))
	}
	return view, nil
}
