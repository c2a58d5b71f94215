// Package turns takes the records of agents from one user turn to the next, and enters the
// responses of the model into them.
package turns

import (
	"context"
	"weak"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/activation"
	"github.com/satchel-go/satchel/internal/agentstate"
	"github.com/satchel-go/satchel/internal/bounds"
	"github.com/satchel-go/satchel/internal/clearing"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/events"
	"github.com/satchel-go/satchel/internal/lifetime"
	"github.com/satchel-go/satchel/internal/overview"
	"github.com/satchel-go/satchel/internal/records"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/tools/run"
)

// Turns are those of the agents of a runtime. Its fields are set before its first use and
// not changed then.
type Turns struct {
	Mode loadmode.Mode
	// Once says that commands start at most once.
	Once bool
	Set  *tools.Set
	// Runner runs commands, nil where nothing runs.
	Runner     *run.Runner
	Activation activation.Activation
	Stores     *records.Stores
	Audiences  *agentstate.Audiences
	Overviews  *overview.Overviews
	Clearing   *clearing.Clearing
	Bounds     *bounds.Bounds
	Tell       *events.Teller
	// Scope returns what operations of an agent may use.
	Scope func(core.SessionKey, *agentstate.State) *tools.Scope
}

// Advance returns the record of a request, for which rec was loaded. Where the request
// begins a user turn, it saves and returns the record with which that turn begins; the host
// has declared these loads for it.
func (t *Turns) Advance(ctx context.Context, req *core.Request, agent *agentstate.State, rec *state.Record, loads []tools.Declared) (*state.Record, error) {
	agent.Saw(rec)
	token := ""
	if turn := adapter.TurnOf(ctx); turn != nil {
		token = turn.Token
	}
	find := func(rec *state.Record) lifetime.UserTurn {
		return lifetime.FindTurn(rec, req.Messages, token, agent.IsAnswered(), agent.Mark)
	}
	entered := agent.Enter(attemptOf(ctx))
	if turn := find(rec); !turn.Begins {
		if entered && turn.IsAnew(rec) {
			again, events, err := t.Stores.BeginAgain(ctx, rec, t.Mode)
			if err != nil {
				return nil, err
			}
			rec = again
			agent.BeginAgain()
			t.Tell.EmitAll(ctx, req.Key, events)
		}
		agent.InTurn(rec.Turn)
		return t.Clearing.Within(ctx, t.Stores.Of(req.Key), rec, req.Messages)
	}
	var begun *beginning
	rec, err := t.Stores.Of(req.Key).UpdateFrom(ctx, rec, func(rec *state.Record) (*state.Record, error) {
		begun = &beginning{Turns: t, req: *req, state: agent, loads: loads}
		turn := find(rec)
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
	t.Tell.EmitAll(ctx, req.Key, begun.events)
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
	if run, _ := adapter.RunOf(ctx); run != nil {
		return weak.Make(run)
	}
	return nil
}
