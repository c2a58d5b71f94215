package langchaingo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// skillTool is one of [Adapter.Tools]: a tool of the host behind the gate, or one of
// Satchel's.
type skillTool struct {
	adapter     *Adapter
	inner       tools.Tool // nil: Satchel's
	name        string
	description string
}

var _ tools.Tool = (*skillTool)(nil)

func (a *Adapter) wrap(t tools.Tool) *skillTool {
	if w, ok := t.(*skillTool); ok && w.adapter == a {
		return w
	}
	return &skillTool{adapter: a, inner: t, name: t.Name(), description: t.Description()}
}

// Name returns the name under which the model is offered the tool.
func (t *skillTool) Name() string { return t.name }

// Description returns the description that the model receives.
func (t *skillTool) Description() string { return t.description }

// Call asks the gate and then runs the tool. A denial and an error of a host's tool become text
// for the model, because executors end the whole Call on an error. Call returns an error only
// if the context has ended, if the session's state is unusable, or if one of Satchel's tools is
// called without a session (satchel.ErrNoSession). It does not recover a panic of a host's
// tool.
//
// Satchel's tools take JSON, {"__arg1": "<JSON or text>"} or bare text.
func (t *skillTool) Call(ctx context.Context, input string) (string, error) {
	r, call, ok := t.adapter.runs.takeCall(ctx, t.name, input)
	if !ok {
		call = core.ToolCall{Name: t.name, Arguments: input}
	}
	answer, err := t.answer(ctx, r, call, input)
	if err != nil && r != nil {
		return "", withCleanup(err, t.adapter.runs.leave(ctx, r)) // executors stop here
	}
	return answer, err
}

// answer opens a call, asks the gate, and runs the tool.
func (t *skillTool) answer(ctx context.Context, r *run, call core.ToolCall, input string) (string, error) {
	call.Name = t.name
	key, end, err := t.session(ctx, r)
	if err != nil {
		return "", err
	}
	defer end()
	ctx = t.adapter.withForkParent(adapter.Enter(ctx, t.adapter, key))
	gateContext, gateCall := ctx, call
	if _, hasSchema := t.inner.(Schemer); hasSchema {
		gateCall.Arguments = input // which the tool gets instead of the model's arguments
	} else if t.inner != nil {
		gateContext = adapter.WithInput(ctx, input)
	}
	opened, err := t.adapter.runtime.Agent(key).Open(ctx, gateCall)
	if err != nil {
		return "", fmt.Errorf("call tool %q: %w", t.name, err)
	}
	defer opened.Close()
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("call tool %q: %w", t.name, err)
	}
	d, err := opened.Gate(gateContext)
	if err != nil {
		return "", fmt.Errorf("call tool %q: %w", t.name, err)
	}
	if d.Denied {
		return cmp.Or(d.Reason, "denied"), nil
	}
	if t.inner == nil {
		return opened.Run(ctx)
	}
	if ctx, err = opened.Within(ctx); err != nil {
		return "", fmt.Errorf("call tool %q: %w", t.name, err)
	}
	start := time.Now()
	answer, err := t.runHostTool(ctx, input)
	if err != nil {
		return "", err
	}
	t.adapter.hooks.Emit(ctx, core.Event{Kind: core.ToolCalled, Key: key, Call: call, Detail: answer, Duration: time.Since(start)})
	return answer, nil
}

// session returns the key that a tool call belongs to. A host's tool that is called without a
// session still passes the gate, with nothing loaded.
func (t *skillTool) session(ctx context.Context, r *run) (core.SessionKey, func(), error) {
	if r != nil {
		return r.key, func() {}, nil
	}
	if _, ok := satchel.SessionID(ctx); !ok && t.inner == nil {
		return core.SessionKey{}, nil, fmt.Errorf("call tool %q: %w", t.name, satchel.ErrNoSession)
	}
	key, end := t.adapter.session(ctx)
	return key, end, nil
}

// runHostTool runs a host's tool. It returns an error of the tool as text, unless ctx has
// ended.
func (t *skillTool) runHostTool(ctx context.Context, input string) (string, error) {
	answer, err := t.inner.Call(ctx, input)
	if err == nil {
		return answer, nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("call tool %q: %w", t.name, err)
	}
	if answer != "" {
		return answer + "\nerror: " + err.Error(), nil
	}
	return "error: " + err.Error(), nil
}

// Call answers one call of a response, for a host that has no executor. It returns the result
// to add to the conversation after the assistant's message. ctx must name the session of the
// model call. The answer to an unknown tool is text; an error means that the run itself must
// stop.
func (a *Adapter) Call(ctx context.Context, call llms.ToolCall) (llms.ToolCallResponse, error) {
	c := coreCall(call)
	result := llms.ToolCallResponse{ToolCallID: call.ID, Name: c.Name}
	t := a.byName[strings.ToUpper(c.Name)]
	if t == nil {
		if key, end, err := (&skillTool{adapter: a, name: c.Name}).session(ctx, nil); err == nil {
			defer end()
			if err := a.runs.closeCalls(ctx, key, []core.ToolCall{c}); err != nil {
				return llms.ToolCallResponse{}, err
			}
		}
		result.Content = a.unknownTool(c.Name)
		return result, nil
	}
	answer, err := t.answer(ctx, a.runIn(ctx), c, t.unwrapInput(c.Arguments))
	if err != nil {
		return llms.ToolCallResponse{}, err
	}
	result.Content = answer
	return result, nil
}

// unknownTool returns the answer to a call of a tool that the adapter does not have.
func (a *Adapter) unknownTool(name string) string {
	return a.hooks.UnknownTool(name, a.hostNames()...)
}

// hostNames returns the names of the host's tools.
func (a *Adapter) hostNames() []string { return a.names[:len(a.names)-len(a.offer.ownTools)] }

// answerUnknown replaces the observation of an executor that a tool is not valid by the answer
// that [Adapter.Call] gives. It changes a copy of the steps.
func (a *Adapter) answerUnknown(steps []schema.AgentStep) []schema.AgentStep {
	out := steps
	for i := range steps {
		if tool := steps[i].Action.Tool; steps[i].Observation == tool+" is not a valid tool, try another one" {
			if &out[0] == &steps[0] {
				out = slices.Clone(steps)
			}
			out[i].Observation = a.unknownTool(tool)
		}
	}
	return out
}

// unwrapInput returns the input that an executor would pass to the tool: the string in __arg1
// if there is one.
func (t *skillTool) unwrapInput(arguments string) string {
	var wrapped map[string]any
	if json.Unmarshal([]byte(arguments), &wrapped) == nil {
		if text, ok := wrapped[argument].(string); ok {
			return text
		}
	}
	return arguments
}
