// Package turn takes the records of agents from one user turn to the next, and enters the
// responses of the model into them.
package turn

import (
	"context"
	"slices"
	"time"
	"weak"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/hostfiles"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// Turns are those of the agents of a runtime. Its fields are set before its first use and
// not changed then.
type Turns struct {
	Activation Activation
	Calls      *call.Calls
	Clearing   *view.Clearing
	Requests   *view.Requests
}

// mode returns the load mode.
func (t *Turns) mode() loadmode.Mode { return t.Calls.Rules.Mode }

// Prepare returns the request as the model should get it, and saves what changes of the
// record with it. The host has declared loads for a turn that begins with the request.
// isSummary reports that a summary stands for part of the history.
func (t *Turns) Prepare(ctx context.Context, req core.Request, loads []tools.Declared, isSummary bool) (core.View, error) {
	calls := t.Calls
	if calls.Opened.Stopped() {
		return core.View{}, call.ErrShutdown
	}
	agent := calls.Agents.Of(req.Key)
	rec, err := calls.Stores.Load(ctx, req.Key)
	if err != nil {
		return core.View{}, err
	}
	var reads state.ReadCalls
	if calls.Rules.Budget != (tools.Budget{}) {
		reads = calls
	}
	scan := agent.Scan(req.Messages, rec.Front.Messages, reads)
	if rec, err = t.advance(ctx, &req, &scan, agent, rec, loads); err != nil {
		return core.View{}, err
	}
	if err := calls.Audiences.Know(ctx, req.Key, agent); err != nil {
		return core.View{}, err
	}
	if calls.Offer.Runner != nil {
		if len(req.Files) > 0 {
			req.Files = hostfiles.Named(req.Files, &scan, rec)
		}
		calls.Agents.SetFiles(agent, req.Files)
	}
	if len(req.Tools) > 0 {
		agent.SetTools(req.Tools)
		calls.Bounds.WarnUnmapped(ctx, req.Key, req.Tools)
	}
	calls.Bounds.See(ctx, rec)
	agent.NoteRequest(&scan)
	answer := calls.Missing(ctx, &req, rec)
	if rec.NoSkills && len(rec.Deliveries) == 0 {
		messages := req.Messages
		if answer != nil {
			messages = steps.AnswerAll(slices.Clone(messages), answer)
		}
		return core.View{Messages: messages, NoSkills: true}, nil
	}
	return t.Requests.Render(ctx, &req, &scan, agent, rec, isSummary, answer)
}

// advance returns the record of a request, for which rec was loaded. Where the request
// begins a user turn, it saves and returns the record with which that turn begins; the host
// has declared these loads for it.
func (t *Turns) advance(ctx context.Context, req *core.Request, scan *state.Scan, agent *state.Agent, rec *state.Record, loads []tools.Declared) (*state.Record, error) {
	agent.NoteRecord(rec)
	token := ""
	if turn := adapter.TurnOf(ctx); turn != nil {
		token = turn.Token
	}
	entered := agent.NoteRun(attemptOf(ctx))
	if turn := lifetime.FindTurn(rec, scan, token, agent.IsAnswered(), agent.MarkText); !turn.Begins {
		if entered && turn.IsAnew(rec) {
			again, events, err := t.Calls.Stores.BeginAgain(ctx, rec, t.mode())
			if err != nil {
				return nil, err
			}
			rec = again
			agent.BeginAgain()
			t.Calls.Report.EmitAll(ctx, req.Key, events)
		}
		agent.SetTurn(rec.Turn)
		return t.Clearing.Within(ctx, t.Calls.Stores.Of(req.Key), rec, scan)
	}
	var begun *beginning
	start := beginning{Turns: t, req: *req, scan: *scan, state: agent, loads: loads}
	rec, err := t.Calls.Stores.Of(req.Key).UpdateFrom(ctx, rec, func(rec *state.Record) (*state.Record, error) {
		again := start
		begun = &again
		turn := lifetime.FindTurn(rec, &begun.scan, token, agent.IsAnswered(), agent.MarkText)
		if !turn.Begins {
			return nil, nil // another call of this turn was faster
		}
		return begun.after(ctx, rec, turn)
	})
	if err != nil {
		return nil, err
	}
	agent.BeginTurn()
	agent.SetTurn(rec.Turn)
	t.Calls.Bounds.Begin(ctx, req.Key.Agent)
	t.Calls.Report.EmitAll(ctx, req.Key, begun.events)
	return rec, nil
}

// attemptOf identifies the attempt to answer a turn that ctx belongs to, nil where nothing
// says so: that of satchel.BeginTurn, or else the run of the framework.
func attemptOf(ctx context.Context) any {
	if t := adapter.TurnOf(ctx); t != nil {
		if t.Continues {
			return nil
		}
		return weak.Make(t)
	}
	return callctx.AttemptOf(ctx)
}

// Observe enters a complete response of the model into the record.
func (t *Turns) Observe(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error {
	agent := t.Calls.Agents.Of(key)
	made, changes := t.made(agent, calls)
	again := t.Requests.Once && !agent.HasResult(calls)
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
			if !state.CanRecordLater(rec, made) {
				changed = state.RecordCalls(next, made, again) || changed
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
	agent.SetResponse(state.NewResponse(made, time.After), len(calls), clean)
	return nil
}

// made says of each call of a response what it may do, and whether one of them may change
// the record.
func (t *Turns) made(agent *state.Agent, calls []core.ToolCall) (made []state.ModelCall, changes bool) {
	made = make([]state.ModelCall, 0, len(calls))
	own := 0
	for _, call := range calls {
		m := state.ModelCall{Call: call}
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
