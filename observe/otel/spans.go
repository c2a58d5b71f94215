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

// trace writes the span of an event. Events are reported when they are over. So events during a
// tool call come before the event of the call, and wait in the buffer to become children of its
// span.
func (o *Observer) trace(ctx context.Context, name string, e core.Event) {
	call := callID{e.Key, e.Call}
	switch {
	case e.Kind == core.ToolCalled:
		inside, span := o.start(ctx, name, &e)
		for _, t := range o.buffer.take(call) {
			o.writeSpan(inside, t.name, &t.event)
		}
		finish(span, &e)
	case e.Call.Name != "" && e.Kind != core.ToolDenied: // a call that is denied may never be made
		for _, t := range o.buffer.put(call, bufferedEvent{ctx, name, e}) {
			o.writeSpan(t.ctx, t.name, &t.event)
		}
	default:
		o.writeSpan(ctx, name, &e)
	}
}

// writeSpan writes a span that has no children.
func (o *Observer) writeSpan(ctx context.Context, name string, e *core.Event) {
	_, span := o.start(ctx, name, e)
	finish(span, e)
}

func (o *Observer) start(ctx context.Context, name string, e *core.Event) (context.Context, trace.Span) {
	kind := trace.SpanKindInternal
	if e.Kind == core.ModelCalled || e.Kind == core.ModelFailed {
		kind = trace.SpanKindClient
	}
	return o.tracer.Start(ctx, name, trace.WithSpanKind(kind),
		trace.WithTimestamp(endTime(e).Add(-e.Duration)), trace.WithAttributes(attributes(e, o.model)...))
}

func finish(span trace.Span, e *core.Event) {
	if kind, text := status(e); kind != "" {
		span.SetAttributes(errorType.String(kind))
		span.SetStatus(codes.Error, text)
	}
	span.End(trace.WithTimestamp(endTime(e)))
}

func endTime(e *core.Event) time.Time {
	if e.Time.IsZero() {
		return time.Now()
	}
	return e.Time
}

// status returns the error type of an event that reports a failure, "" for success, and the text
// of its status. For calls and commands the text is fixed, because their errors contain
// arguments.
func status(e *core.Event) (kind, text string) {
	switch {
	case e.Err != nil && e.Kind == core.WorkspaceRun:
		return errorTypeOf(e.Err), "the command could not be run"
	case e.Err != nil:
		return errorTypeOf(e.Err), e.Err.Error()
	case e.Kind == core.ModelFailed:
		return errorTypeOf(errors.New("")), e.Detail
	case e.Kind == core.ToolDenied:
		return "denied", "the call was denied"
	case e.Refused:
		return "refused", "the call was refused"
	case e.ExitCode != nil && *e.ExitCode != 0:
		return "exit", fmt.Sprintf("exit code %d", *e.ExitCode)
	}
	return "", ""
}

// errorTypeOf returns a name with few possible values for an error: "canceled", "timeout", or the
// Go type of the innermost error.
func errorTypeOf(err error) string {
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

// callID identifies one of the open tool calls.
type callID struct {
	key  core.SessionKey
	call core.ToolCall
}

// bufferedEvent is an event that waits for the end of its tool call.
type bufferedEvent struct {
	ctx   context.Context
	name  string
	event core.Event
}

// eventBuffer holds the events of tool calls that have not ended.
type eventBuffer struct {
	mu    sync.Mutex
	calls map[callID][]bufferedEvent
	order []callID
}

func newEventBuffer() *eventBuffer { return &eventBuffer{calls: make(map[callID][]bufferedEvent)} }

// put adds an event, and returns the events that it has dropped to make room.
func (w *eventBuffer) put(id callID, t bufferedEvent) []bufferedEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	list, known := w.calls[id]
	if len(list) >= maxEvents {
		return []bufferedEvent{t}
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

// take removes and returns the events of a call.
func (w *eventBuffer) take(id callID) []bufferedEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	list, known := w.calls[id]
	if known {
		delete(w.calls, id)
		w.order = slices.DeleteFunc(w.order, func(o callID) bool { return o == id })
	}
	return list
}

// all removes and returns all events.
func (w *eventBuffer) all() []bufferedEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []bufferedEvent
	for _, id := range w.order {
		all = append(all, w.calls[id]...)
	}
	w.calls, w.order = make(map[callID][]bufferedEvent), nil
	return all
}
