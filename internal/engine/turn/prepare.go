package turn

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/hostfiles"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/tools"
)

// Prepare returns the request as the model should get it, and saves what changes of the
// record with it. The host has declared loads for a turn that begins with the request.
// isSummary reports that a summary stands for part of the history.
func (t *Turns) Prepare(ctx context.Context, req core.Request, loads []tools.Declared, isSummary bool) (core.View, error) {
	calls := t.Calls
	if calls.Opened.Stopped() {
		return core.View{}, state.ErrShutdown
	}
	agent := calls.States.Of(req.Key)
	rec, err := calls.Stores.Load(ctx, req.Key)
	if err != nil {
		return core.View{}, err
	}
	scan := state.ScanMessages(req.Messages, rec.Front.Messages)
	if calls.Rules.Budget != (tools.Budget{}) {
		agent.CountReads(&scan, calls.Offer)
	}
	if rec, err = t.advance(ctx, &req, &scan, agent, rec, loads); err != nil {
		return core.View{}, err
	}
	if err := calls.Audiences.Know(ctx, req.Key, agent); err != nil {
		return core.View{}, err
	}
	if calls.Offer.Runner != nil {
		req.Files = hostfiles.Named(req.Files, &scan, rec)
		calls.States.Keep(agent, req.Files)
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
