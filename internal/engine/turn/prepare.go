// Package turn takes the records of agents from one user turn to the next, and enters the
// responses of the model into them.
package turn

import (
	"context"
	"slices"
	"weak"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/hostfiles"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

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
	scan := state.ScanMessages(req.Messages, rec.Front.Messages)
	if calls.Rules.Budget != (tools.Budget{}) {
		agent.CountReads(&scan, calls)
	}
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
		calls.Agents.Keep(agent, req.Files)
	}
	if len(req.Tools) > 0 {
		agent.Offer(req.Tools)
		calls.Bounds.WarnUnmapped(ctx, req.Key, req.Tools)
	}
	calls.Bounds.See(ctx, rec)
	agent.Request(&scan)
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

// advance returns the record of a request, for which rec was loaded. Where the request
// begins a user turn, it saves and returns the record with which that turn begins; the host
// has declared these loads for it.
func (t *Turns) advance(ctx context.Context, req *core.Request, scan *state.Scan, agent *state.Agent, rec *state.Record, loads []tools.Declared) (*state.Record, error) {
	agent.Saw(rec)
	token := ""
	if turn := adapter.TurnOf(ctx); turn != nil {
		token = turn.Token
	}
	entered := agent.Enter(attemptOf(ctx))
	if turn := lifetime.FindTurn(rec, scan, token, agent.IsAnswered(), agent.Mark); !turn.Begins {
		if entered && turn.IsAnew(rec) {
			again, events, err := t.Calls.Stores.BeginAgain(ctx, rec, t.mode())
			if err != nil {
				return nil, err
			}
			rec = again
			agent.BeginAgain()
			t.Calls.Report.EmitAll(ctx, req.Key, events)
		}
		agent.InTurn(rec.Turn)
		return t.Clearing.Within(ctx, t.Calls.Stores.Of(req.Key), rec, scan)
	}
	var begun *beginning
	start := beginning{Turns: t, req: *req, scan: *scan, state: agent, loads: loads}
	rec, err := t.Calls.Stores.Of(req.Key).UpdateFrom(ctx, rec, func(rec *state.Record) (*state.Record, error) {
		again := start
		begun = &again
		turn := lifetime.FindTurn(rec, &begun.scan, token, agent.IsAnswered(), agent.Mark)
		if !turn.Begins {
			return nil, nil // another call of this turn was faster
		}
		return begun.after(ctx, rec, turn)
	})
	if err != nil {
		return nil, err
	}
	agent.BeginTurn()
	agent.InTurn(rec.Turn)
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
