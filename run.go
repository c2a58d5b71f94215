package satchel

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/hook"
	"github.com/satchel-go/satchel/internal/answers"
	"github.com/satchel-go/satchel/internal/offering"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// CallTool opens, judges, runs and closes a call of one of [Runtime.Tools], for a
// host with a loop of its own; the reason is the answer to a call that is denied.
// [Call.Run] says what the answer and the error are. Executing a call of the last
// response once more, after an interrupt or a restart, gives the same answer and
// changes nothing.
func (r *Runtime) CallTool(ctx context.Context, key core.SessionKey, call core.ToolCall) (string, error) {
	c, err := r.Agent(key).Open(ctx, call)
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.Run(ctx)
}

// Run answers a call of one of [Runtime.Tools]. It judges the call first if
// [Call.Gate] has not, and the reason is the answer to a denied one. Whatever the
// model can act on is in the text; an error means that the run itself must stop,
// because its context ended, the store failed, or the approver returned it.
func (c *Call) Run(ctx context.Context) (string, error) {
	started := time.Now()
	answer, err := c.run(hook.WithKey(ctx, c.key))
	if err != nil {
		return "", err
	}
	c.runtime.bounds.Saw(ctx, c.saving.Record())
	c.runtime.tell.Emit(ctx, core.Event{Kind: core.ToolCalled, Key: c.key, Call: c.call, Detail: answer, Duration: time.Since(started)})
	return answer, nil
}

func (c *Call) run(ctx context.Context) (string, error) {
	o := c.operation
	if o == nil {
		return c.runtime.unknownTool(c.call.Name), nil
	}
	c.place.Begin()
	d, err := c.Gate(ctx)
	if err != nil {
		return "", err
	}
	if d.Denied {
		return d.Reason, nil
	}
	changes := o.IsChange(c.args)
	if changes || o.Awaits || o.Ordered {
		if _, err := c.saving.Wait(ctx, c.place.Wait); err != nil {
			return "", err
		}
	}
	if changes {
		return c.change(ctx)
	}
	s, err := c.scope(ctx)
	if err != nil {
		return "", err
	}
	var once *answers.Once
	if c.runtime.once && o.Once {
		if once, err = c.saving.Once(ctx); err != nil {
			return "", err
		}
	}
	if once != nil {
		if once.Ended {
			return once.Answer, nil
		}
		s.Begin = once.Begin
	}
	if load := c.saving.WithLoad("{ }"); load != "{ }" { // it stands in the answer too
		s.Limits = s.Limits.OrDefaults()
		s.Limits.Answer -= min(len(load), s.Limits.Answer/2)
	}
	answer, err := o.Answer(ctx, s, c.args)
	if err != nil {
		return "", err
	}
	return once.End(ctx, c.saving.WithLoad(answer))
}

// scope returns what the operation may use of the runtime.
func (c *Call) scope(ctx context.Context) (s *tools.Scope, err error) {
	s = c.runtime.scope(c.key, c.state)
	s.Record, s.Update = c.saving.Load, c.saving.Update
	emit := s.Emit
	s.Emit = func(ctx context.Context, e core.Event) {
		e.Call = c.call
		emit(ctx, e)
	}
	if run := c.runtime.offer.Command; run != nil {
		s.Run = func(ctx context.Context, arguments string) (string, error) {
			return run.Call(ctx, s, run.Decode(arguments))
		}
	}
	if c.operation.Awaits {
		s.Record = func(ctx context.Context) (*session.Record, error) {
			rec, err := c.saving.Load(ctx)
			if err != nil {
				return nil, err
			}
			return c.place.Sees(rec), nil
		}
	}
	s.Approval = c.approval
	s.Narrow, s.Interpreted, err = c.narrowed(ctx)
	return s, err
}

// change answers a call that changes what is loaded. Its answer is saved together with
// the change.
func (c *Call) change(ctx context.Context) (string, error) {
	return c.saving.Numbered(ctx, true, func(rec *session.Record, n *answers.Number) (string, error) {
		if n.Was.Done {
			return n.Was.Answer, nil
		}
		if n.IsKnown() {
			c.place.Found(rec)
		}
		s, err := c.scope(ctx)
		if err != nil {
			return "", err
		}
		n.Scope(s)
		answer, err := c.operation.Answer(ctx, s, c.args)
		if err != nil {
			return "", err
		}
		return n.End(ctx, answer)
	})
}

// unknownTool returns the answer to a call of a tool that does not exist. It names
// Satchel's tools where there are skills.
func (r *Runtime) unknownTool(name string) string {
	if r.overviews.Of(r.catalog).Empty {
		return offering.UnknownTool(name, nil)
	}
	return offering.UnknownTool(name, r.Tools())
}
