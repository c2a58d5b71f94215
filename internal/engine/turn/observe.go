package turn

import (
	"context"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// Observe enters a complete response of the model into the record.
func (t *Turns) Observe(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error {
	agent := t.Calls.Agents.Of(key)
	made, changes := t.made(agent, calls)
	again := t.Requests.Once && !agent.WereAnswered(calls)
	clean := true
	if changes || t.mode() == loadmode.Once || !agent.IsClean() {
		var events []core.Event
		rec, err := t.Calls.Stores.Of(key).Update(ctx, key, func(rec *state.Record) (*state.Record, error) {
			next := rec.Clone()
			events = nil
			changed := lifetime.Spend(next, t.mode())
			if changed {
				events = state.AnsweredEvents(rec, next)
			}
			if !state.CanWait(rec, made) {
				changed = state.Enter(next, made, again) || changed
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
		t.Calls.Report.EmitAll(ctx, key, events)
		clean = len(rec.Unnumbered) == 0
	}
	agent.Respond(state.NewResponse(made, time.After), len(calls), clean)
	return nil
}

// made says of each call of a response what it may do, and whether one of them may change
// the record.
func (t *Turns) made(agent *state.Agent, calls []core.ToolCall) (made []state.Made, changes bool) {
	made = make([]state.Made, 0, len(calls))
	own := 0
	for _, call := range calls {
		m := state.Made{Call: call}
		o := t.Calls.Offer.Set.Operation(call.Name)
		if o != nil {
			own++
			m.Excess = own > maxCalls
		}
		if o != nil && !m.Excess {
			m.Changes, m.Ordered = o.Kind == tools.Changes && (o.ChangesWith == nil || o.IsChange(o.Decode(call.Arguments))) || t.mayLoadAgain(agent, o, call), o.IsOrdered()
			m.Once = t.Requests.Once && o.StartsCommand()
		}
		changes = changes || m.Changes || m.Once
		made = append(made, m)
	}
	return made, changes
}

// mayLoadAgain reports whether a call of a new response may load its skill again. In mode
// Adaptive that is a command of a skill whose load has ended and whose text the last
// request showed. Such a call is numbered like a load.
func (t *Turns) mayLoadAgain(agent *state.Agent, o *tools.Operation, call core.ToolCall) bool {
	rec := agent.LastRecord()
	if t.mode() != loadmode.Adaptive || !o.LoadsAgain() || rec == nil || !slices.ContainsFunc(rec.Deliveries, hasEnded) {
		return false
	}
	name := o.Decode(call.Arguments).Text("skill")
	if skill, err := skilltools.Known(t.Calls.Audiences.SeenBy(agent).Snapshot(), rec, name); err == nil {
		if name = skill.Name; rec.Find(name) != nil {
			return false
		}
	}
	return slices.ContainsFunc(rec.Deliveries, func(d state.Delivery) bool {
		return hasEnded(d) && state.BaseName(d.Skill) == state.BaseName(name)
	})
}

func hasEnded(d state.Delivery) bool { return d.Ended }
