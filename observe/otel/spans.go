package otel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/satchel-go/satchel/core"
)

// trace makes the span of an event. An event is reported when it is over. So what happened
// during a tool call is reported before the call, and waits to become a child of its span.
func (o *Observer) trace(ctx context.Context, name string, e core.Event) {
	call := callID{e.Key, e.Call}
	switch {
	case e.Kind == core.ToolCalled:
		inside, span := o.start(ctx, name, &e)
		for _, t := range o.waiting.take(call) {
			o.tell(inside, t.name, &t.event)
		}
		finish(span, &e)
	case e.Call.Name != "" && e.Kind != core.ToolDenied: // a call that is denied may never be made
		for _, t := range o.waiting.put(call, told{ctx, name, e}) {
			o.tell(t.ctx, t.name, &t.event)
		}
	default:
		o.tell(ctx, name, &e)
	}
}

// tell makes a span of its own.
func (o *Observer) tell(ctx context.Context, name string, e *core.Event) {
	_, span := o.start(ctx, name, e)
	finish(span, e)
}

func (o *Observer) start(ctx context.Context, name string, e *core.Event) (context.Context, trace.Span) {
	kind := trace.SpanKindInternal
	if e.Kind == core.ModelCalled || e.Kind == core.ModelFailed {
		kind = trace.SpanKindClient
	}
	return o.tracer.Start(ctx, name, trace.WithSpanKind(kind),
		trace.WithTimestamp(ended(e).Add(-e.Duration)), trace.WithAttributes(attributes(e, o.model)...))
}

func finish(span trace.Span, e *core.Event) {
	if kind, text := status(e); kind != "" {
		span.SetAttributes(errorType.String(kind))
		span.SetStatus(codes.Error, text)
	}
	span.End(trace.WithTimestamp(ended(e)))
}

func ended(e *core.Event) time.Time {
	if e.Time.IsZero() {
		return time.Now()
	}
	return e.Time
}

// status returns the error type of what did not succeed, "" for what did, and the text of its
// status. The text for calls and commands is fixed, because their errors hold arguments.
func status(e *core.Event) (kind, text string) {
	switch {
	case e.Err != nil && e.Kind == core.WorkspaceRun:
		return typeOf(e.Err), "the command could not be run"
	case e.Err != nil:
		return typeOf(e.Err), e.Err.Error()
	case e.Kind == core.ModelFailed:
		return typeOf(errors.New("")), e.Detail
	case e.Kind == core.ToolDenied:
		return "denied", "the call was denied"
	case e.Refused:
		return "refused", "the call was refused"
	case e.ExitCode != nil && *e.ExitCode != 0:
		return "exit", fmt.Sprintf("exit code %d", *e.ExitCode)
	}
	return "", ""
}

// typeOf names an error with few values: of errors that the standard library
// names, that name, else the Go type of the innermost.
func typeOf(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return fmt.Sprintf("%T", err)
		}
		err = inner
	}
}

// callID is what tells one tool call from others that are under way.
type callID struct {
	key  core.SessionKey
	call core.ToolCall
}

// told is an event whose tool call is not over.
type told struct {
	ctx   context.Context
	name  string
	event core.Event
}

// waiting holds events until the tool call is over during which they happened.
type waiting struct {
	mu    sync.Mutex
	calls map[callID][]told
	order []callID
}

func newWaiting() *waiting { return &waiting{calls: make(map[callID][]told)} }

// put keeps an event, and returns those that had to leave for it.
func (w *waiting) put(id callID, t told) []told {
	w.mu.Lock()
	defer w.mu.Unlock()
	list, known := w.calls[id]
	if len(list) >= maxTold {
		return []told{t}
	}
	w.calls[id] = append(list, t)
	if known {
		return nil
	}
	w.order = append(w.order, id)
	if len(w.order) <= maxCalls {
		return nil
	}
	oldest := w.order[0]
	w.order = w.order[1:]
	left := w.calls[oldest]
	delete(w.calls, oldest)
	return left
}

// take returns the events of a call and forgets them.
func (w *waiting) take(id callID) []told {
	w.mu.Lock()
	defer w.mu.Unlock()
	list, known := w.calls[id]
	if known {
		delete(w.calls, id)
		w.order = slices.DeleteFunc(w.order, func(o callID) bool { return o == id })
	}
	return list
}

// all empties it.
func (w *waiting) all() []told {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []told
	for _, id := range w.order {
		all = append(all, w.calls[id]...)
	}
	w.calls, w.order = make(map[callID][]told), nil
	return all
}
