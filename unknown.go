package satchel

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
)

// lostResult is the result of a call of a tool that exists, which a history lacks.
const lostResult = "error: the result of this call was not kept; make the call again if you need it"

// unknownTool returns the answer to a call of a tool that does not exist. It follows from
// the name and from tools that never change: those of the runtime, unless the session sees
// no skill, and those of the host that ctx names.
func (r *Runtime) unknownTool(ctx context.Context, rec *state.Record, name string) string {
	set := r.offer.Set
	if rec.Turn > 0 && rec.NoSkills || rec.Turn == 0 && r.overviews.Of(r.catalog).Empty {
		set = nil
	}
	return call.UnknownTool(name, set, adapter.HostTools(ctx))
}

// missing returns a function that finds the result of a call which has none in the request.
// It is nil where each call has one.
func (r *Runtime) missing(ctx context.Context, req *core.Request, rec *state.Record) func(steps.Unanswered) string {
	if steps.AllAnswered(req.Messages) {
		return nil
	}
	return r.lost(ctx, req.Key, slices.Concat(req.Tools, adapter.HostTools(ctx)), rec)
}

// lost is missing for a request of an agent that has these tools beside Satchel's.
func (r *Runtime) lost(ctx context.Context, key core.SessionKey, has []string, rec *state.Record) func(steps.Unanswered) string {
	return func(u steps.Unanswered) string {
		name := u.Call.Name
		kept := rec.FindUnknown(state.UnknownCall{Turn: rec.Turn - u.Back, Response: u.Response, Position: u.Position}.Of(u.Call))
		if kept != nil && kept.Text != "" {
			if text, err := r.stores.Of(key).Pinned(ctx, key.Session, kept.Text); err == nil {
				return text
			}
		}
		if kept == nil && (r.offer.Set.Has(name) || slices.Contains(has, name)) {
			return lostResult
		}
		return r.unknownTool(ctx, rec, name)
	}
}
