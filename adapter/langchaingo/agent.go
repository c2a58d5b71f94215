package langchaingo

import (
	"context"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel/adapter"
)

// decoratedAgent is a host's agent with skills, from [Adapter.Agent]. Executors see the
// actions, steps and results of the inner agent.
type decoratedAgent struct {
	adapter *Adapter
	inner   agents.Agent
}

var _ agents.Agent = (*decoratedAgent)(nil)

// Plan calls Plan of the inner agent. The first Plan of an executor's Call begins a user turn,
// unless the host began one with satchel.BeginTurn. A second Plan with the same steps changes
// nothing. When the agent finishes or fails, the Call ends, and an anonymous session with it.
// Output that the agent cannot parse is not a failure, because executors can continue after it.
func (a *decoratedAgent) Plan(
	ctx context.Context,
	steps []schema.AgentStep,
	inputs map[string]string,
	options ...chains.ChainCallOption,
) ([]schema.AgentAction, *schema.AgentFinish, error) {
	runs := a.adapter.runs
	steps = a.adapter.answerUnknown(steps)
	r, isNew := runs.enter(ctx, inputs)
	outer := ctx
	ctx = adapter.WithTurn(adapter.WithKey(ctx, r.key), r.turn)
	ctx = context.WithValue(ctx, runKey{a.adapter}, r)
	if isNew {
		var err error
		if r.earlierTurns, err = a.adapter.readHistory(ctx); err != nil {
			return nil, nil, withCleanup(err, runs.leave(outer, r))
		}
	}
	if err := runs.beginPlan(ctx, r, steps); err != nil {
		return nil, nil, withCleanup(err, runs.leave(outer, r))
	}

	viewSteps, viewInputs := steps, inputs
	if isText(a.inner) {
		var err error
		if viewSteps, viewInputs, err = a.prepareText(ctx, r, steps, inputs); err != nil {
			return nil, nil, withCleanup(err, runs.leave(outer, r))
		}
	}
	actions, finish, err := a.plan(ctx, r, viewSteps, viewInputs, options)
	switch {
	case errors.Is(err, agents.ErrUnableToParseOutput):
		return actions, finish, err
	case err != nil:
		return actions, finish, withCleanup(err, runs.leave(outer, r))
	case finish != nil:
		return actions, finish, a.finish(ctx, r, finish)
	case len(actions) == 0:
		return actions, finish, runs.leave(outer, r)
	}
	return runs.handOut(r, actions), nil, nil
}

// plan calls Plan of the inner agent, and reports the calls of one that works in text.
func (a *decoratedAgent) plan(ctx context.Context, r *run, steps []schema.AgentStep, inputs map[string]string, options []chains.ChainCallOption) ([]schema.AgentAction, *schema.AgentFinish, error) {
	if r.text == nil {
		return a.inner.Plan(ctx, steps, inputs, options...)
	}
	defer r.text.noteAnswer(nil) // if the agent could not parse it
	actions, finish, err := a.inner.Plan(ctx, steps, inputs, options...)
	if err == nil {
		actions, err = a.observeText(ctx, r, len(steps), actions)
	}
	return actions, finish, err
}

// finish ends a Call that has its answer. It ignores the error of an anonymous session that
// cannot be ended. It returns that of a history that cannot be written, because the next turn
// would lack this one.
func (a *decoratedAgent) finish(ctx context.Context, r *run, finish *schema.AgentFinish) error {
	err := a.adapter.saveTurn(ctx, r, a.answerText(finish))
	_ = a.adapter.runs.leave(ctx, r)
	return err
}

func (a *decoratedAgent) answerText(finish *schema.AgentFinish) string {
	for _, key := range a.inner.GetOutputKeys() {
		if text, ok := finish.ReturnValues[key].(string); ok {
			return text
		}
	}
	return finish.Log
}

func withCleanup(err, cleanup error) error {
	if cleanup == nil {
		return err
	}
	return errors.Join(err, fmt.Errorf("end session: %w", cleanup))
}

// GetInputKeys returns the decorated agent's input keys.
func (a *decoratedAgent) GetInputKeys() []string { return a.inner.GetInputKeys() }

// GetOutputKeys returns the decorated agent's output keys.
func (a *decoratedAgent) GetOutputKeys() []string { return a.inner.GetOutputKeys() }

// GetTools returns the inner agent's tools. It wraps tools that are not from [Adapter.Tools]
// and adds those of Satchel's that are missing, so that an executor calls every tool through
// the gate.
func (a *decoratedAgent) GetTools() []tools.Tool {
	own := a.inner.GetTools()
	out := make([]tools.Tool, 0, len(own)+len(a.adapter.offer.ownTools))
	isPresent := map[string]bool{}
	for _, t := range own {
		w := a.adapter.wrap(t)
		if w.inner == nil {
			isPresent[w.name] = true
		}
		out = append(out, w)
	}
	for _, t := range a.adapter.tools {
		if w, ok := t.(*skillTool); ok && w.inner == nil && !isPresent[w.name] {
			out = append(out, w)
		}
	}
	return out
}

// runKey is the context key of the run of one adapter. An agent that is a tool of another one
// has an adapter and a run of its own.
type runKey struct{ adapter *Adapter }

// runIn returns the run of this adapter's agent in ctx, or nil.
func (a *Adapter) runIn(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{a}).(*run)
	return r
}
