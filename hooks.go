package satchel

import (
	"context"
	"strconv"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/hook"
	"github.com/satchel-go/satchel/internal/bounds"
	"github.com/satchel-go/satchel/internal/records"
	"github.com/satchel-go/satchel/internal/response"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// Hooks returns what an adapter needs of the runtime beside its public methods.
// A host needs it only for a loop of its own; see package hook.
func (r *Runtime) Hooks() hook.Runtime { return hooks{r} }

// hooks implements hook.Runtime.
type hooks struct{ runtime *Runtime }

var _ bounds.Holder = hooks{}

func (h hooks) Anonymous(agent string) core.SessionKey {
	id := anonymousPrefix + strconv.FormatInt(h.runtime.runs.Add(1), 10)
	return core.SessionKey{Session: id, Agent: agent, Anonymous: true}
}

func (h hooks) EndAnonymous(ctx context.Context, key core.SessionKey) error {
	return h.runtime.endSession(ctx, key)
}

func (h hooks) Owns(name string) bool { return h.runtime.offer.Set.Has(name) }

func (h hooks) UnknownTool(name string) string { return h.runtime.unknownTool(name) }

func (h hooks) Emit(ctx context.Context, e core.Event) { h.runtime.tell.Emit(ctx, e) }

// Bounds is for the runtimes that have agents in one run with agents of this one.
func (h hooks) Bounds() *bounds.Bounds { return h.runtime.bounds }

func (h hooks) WatchesPrefix() bool { return h.runtime.guarded }

// maxCalls bounds the calls of the runtime's own tools in one response: each of them
// may be an entry of the record, which each of them reads.
const maxCalls = 256

// Observe enters a complete response of the model into the record.
func (h hooks) Observe(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error {
	r := h.runtime
	if err := admit(key); err != nil {
		return err
	}
	state := r.states.Of(key)
	made := make([]response.Made, 0, len(calls))
	changes, own := false, 0
	for _, call := range calls {
		m := response.Made{Call: call}
		o := r.offer.Set.Operation(call.Name)
		if o != nil {
			own++
			m.Excess = own > maxCalls
		}
		if o != nil && !m.Excess {
			m.Changes, m.Ordered = o.Changes && (o.ChangesWith == nil || o.IsChange(o.Decode(call.Arguments))) || r.mayLoadAgain(state, o, call), o.Ordered
			m.Once = r.once && o.Once
		}
		changes = changes || m.Changes || m.Once
		made = append(made, m)
	}
	again := r.once && !state.WereAnswered(calls)
	clean := true
	if changes || r.mode == loadmode.Once || !state.IsClean() {
		var events []core.Event
		rec, err := session.Update(ctx, r.stores.Of(key), key, func(rec *session.Record) (*session.Record, error) {
			next := rec.Clone()
			events = nil
			changed := loadmode.Spend(next, r.mode)
			if changed {
				events = records.Answered(rec, next)
			}
			if !response.CanWait(rec, made) {
				changed = response.Enter(next, made, again) || changed
			}
			if !changed {
				return nil, nil
			}
			next.KeepBeginning(rec)
			return next, nil
		})
		if err != nil {
			return err
		}
		for _, e := range events {
			r.tell.Emit(ctx, e)
		}
		clean = len(rec.Unnumbered) == 0
	}
	state.Respond(response.New(made, time.After), len(calls), clean)
	return nil
}
