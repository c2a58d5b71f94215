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

// decoratedAgent is a host's agent with skills, from [Adapter.decoratedAgent]. Executors see the
// actions, steps and results of the agent that it decorates.
type decoratedAgent struct {
	adapter *Adapter
	inner   agents.Agent
}

var _ agents.Agent = (*decoratedAgent)(nil)

// Plan asks the decorated agent. The first Plan of an executor's Call begins a user turn,
// unless the host began one with satchel.BeginTurn. Planning again from the same steps changes
// nothing. When the agent finishes or fails, the Call is over and an anonymous session ends.
// Output that the agent cannot parse is not a failure, because executors can continue after it.
func (a *decoratedAgent) Plan(
	ctx context.Context,
	steps []schema.AgentStep,
	inputs map[string]string,
	options ...chains.ChainCallOption,
) ([]schema.AgentAction, *schema.AgentFinish, error) {
	runs := a.adapter.runs
	steps = a.adapter.told(steps)
	r, begun := runs.enter(ctx, inputs)
	host := ctx
	ctx = adapter.WithTurn(adapter.WithKey(ctx, r.key), r.turn)
	ctx = context.WithValue(ctx, runKey{a.adapter}, r)
	if begun {
		var err error
		if r.earlier, err = a.adapter.earlier(ctx); err != nil {
			return nil, nil, withCleanup(err, runs.leave(host, r))
		}
	}
	if err := runs.plan(ctx, r, steps); err != nil {
		return nil, nil, withCleanup(err, runs.leave(host, r))
	}

	shown, told := steps, inputs
	if isText(a.inner) {
		var err error
		if shown, told, err = a.viewText(ctx, r, steps, inputs); err != nil {
			return nil, nil, withCleanup(err, runs.leave(host, r))
		}
	}
	actions, finish, err := a.inner.Plan(ctx, shown, told, options...)
	if r.text != nil && err == nil {
		actions, err = a.observeText(ctx, r, len(steps), actions)
	}
	switch {
	case errors.Is(err, agents.ErrUnableToParseOutput):
		return actions, finish, err
	case err != nil:
		return actions, finish, withCleanup(err, runs.leave(host, r))
	case finish != nil:
		return actions, finish, a.finish(ctx, r, finish)
	case len(actions) == 0:
		return actions, finish, runs.leave(host, r)
	}
	return runs.expect(r, actions), nil, nil
}

// finish ends a Call that has its answer. An anonymous session that cannot be ended does not
// take the answer away. A history that could not be written does, because the next turn would
// be answered without this one.
func (a *decoratedAgent) finish(ctx context.Context, r *run, finish *schema.AgentFinish) error {
	err := a.adapter.remember(ctx, r, a.answer(finish))
	_ = a.adapter.runs.leave(ctx, r)
	return err
}

func (a *decoratedAgent) answer(finish *schema.AgentFinish) string {
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

// GetTools returns the decorated agent's tools. Tools that did not come from
// [Adapter.Tools] are wrapped, and Satchel's that are missing are added, so that
// an executor calls no tool past the gate.
func (a *decoratedAgent) GetTools() []tools.Tool {
	own := a.inner.GetTools()
	out := make([]tools.Tool, 0, len(own)+len(a.adapter.offer.ours))
	present := map[string]bool{}
	for _, t := range own {
		w := a.adapter.wrap(t)
		if w.inner == nil {
			present[w.name] = true
		}
		out = append(out, w)
	}
	for _, t := range a.adapter.tools {
		if w, ok := t.(*skillTool); ok && w.inner == nil && !present[w.name] {
			out = append(out, w)
		}
	}
	return out
}

// runKey finds, in a context, the run of one adapter: an agent that is a tool of
// another one has a adapter and a run of its own.
type runKey struct{ adapter *Adapter }

func (a *Adapter) runIn(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{a}).(*run)
	return r
}
