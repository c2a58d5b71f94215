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

// Name returns the name as the model is offered it.
func (t *skillTool) Name() string { return t.name }

// Description returns the description as the model is offered it.
func (t *skillTool) Description() string { return t.description }

// Call asks the gate and then the tool. A denial and an error of a host's tool
// are text for the model, since executors would give up the whole Call. An
// error is returned only when the context has ended, when the session's state
// is unusable, or, as satchel.ErrNoSession, when one of Satchel's tools is called
// outside of any session. A panic of a host's tool stays a panic.
//
// Satchel's tools take JSON, {"__arg1": "<JSON or text>"} or bare text.
func (t *skillTool) Call(ctx context.Context, input string) (string, error) {
	r, call, ok := t.adapter.runs.take(ctx, t.name, input)
	if !ok {
		call = core.ToolCall{Name: t.name, Arguments: input}
	}
	answer, err := t.answer(ctx, r, call, input)
	if err != nil && r != nil {
		return "", withCleanup(err, t.adapter.runs.leave(ctx, r)) // executors stop here
	}
	return answer, err
}

func (t *skillTool) answer(ctx context.Context, r *run, call core.ToolCall, input string) (string, error) {
	call.Name = t.name
	key, end, err := t.session(ctx, r)
	if err != nil {
		return "", err
	}
	defer end()
	ctx = adapter.Enter(ctx, t.adapter, key)
	asking, asked := ctx, call
	if _, schemed := t.inner.(Schemer); schemed {
		asked.Arguments = input // of what the model sent, this is what the tool gets
	} else if t.inner != nil {
		asking = adapter.WithInput(ctx, input)
	}
	opened, err := t.adapter.runtime.Agent(key).Open(ctx, asked)
	if err != nil {
		return "", fmt.Errorf("call tool %q: %w", t.name, err)
	}
	defer opened.Close()
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("call tool %q: %w", t.name, err)
	}
	d, err := opened.Gate(asking)
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
	answer, err := t.observation(ctx, input)
	if err != nil {
		return "", err
	}
	t.adapter.hooks.Emit(ctx, core.Event{Kind: core.ToolCalled, Key: key, Call: call, Detail: answer, Duration: time.Since(start)})
	return answer, nil
}

// session returns the key that a tool call belongs to. A host's tool that is
// called outside of any session still meets the gate, with nothing loaded.
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

// observation runs a host's tool. Its error is what it observed, unless the
// whole run was cancelled.
func (t *skillTool) observation(ctx context.Context, input string) (string, error) {
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

// Call answers one call of a response, for a host that has no executor: the
// result to put into the conversation, after the assistant's message. The
// context must name the session that the model was called in. An unknown tool
// is answered in text; an error means that the run itself must stop.
func (a *Adapter) Call(ctx context.Context, call llms.ToolCall) (llms.ToolCallResponse, error) {
	c := coreCall(call)
	result := llms.ToolCallResponse{ToolCallID: call.ID, Name: c.Name}
	t := a.byName[strings.ToUpper(c.Name)]
	if t == nil {
		if key, end, err := (&skillTool{adapter: a, name: c.Name}).session(ctx, nil); err == nil {
			defer end()
			if err := a.runs.drop(ctx, key, []core.ToolCall{c}); err != nil {
				return llms.ToolCallResponse{}, err
			}
		}
		result.Content = a.unknownTool(c.Name)
		return result, nil
	}
	answer, err := t.answer(ctx, a.runIn(ctx), c, t.input(c.Arguments))
	if err != nil {
		return llms.ToolCallResponse{}, err
	}
	result.Content = answer
	return result, nil
}

// unknownTool is the answer to a call of a tool that the adapter does not have.
func (a *Adapter) unknownTool(name string) string {
	return a.hooks.UnknownTool(name, a.hostNames()...)
}

// hostNames are the names of the host's tools.
func (a *Adapter) hostNames() []string { return a.names[:len(a.names)-len(a.offer.ours)] }

// told returns the steps of an executor. Where it only says that a tool is not valid, the
// observation is the answer that [Adapter.Call] gives.
func (a *Adapter) told(steps []schema.AgentStep) []schema.AgentStep {
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

// input is what executors would pass to the tool: the string inside __arg1
// where there is one.
func (t *skillTool) input(arguments string) string {
	var wrapped map[string]any
	if json.Unmarshal([]byte(arguments), &wrapped) == nil {
		if text, ok := wrapped[argument].(string); ok {
			return text
		}
	}
	return arguments
}
