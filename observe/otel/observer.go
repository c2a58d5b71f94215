// Package otel reports to OpenTelemetry what Satchel does: a span for each model call, tool
// call, load, denial and step of a run, and the metrics that go with them. Names are those of
// OpenTelemetry's conventions for generative AI where they have one, and begin with "satchel."
// where they have none.
//
// An [Observer] turns the runtime's events into telemetry. It never blocks on the network: that
// is the exporter's work, which the host configures.
package otel

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/satchel-go/satchel/core"
)

// scope is the name of the instrumentation in exported telemetry.
const scope = "github.com/satchel-go/satchel/observe/otel"

// errOption reports an invalid option.
var errOption = errors.New("invalid option")

// Observer turns events into spans and metrics. It is safe for concurrent use.
type Observer struct {
	tracer trace.Tracer
	meters *instruments
	buffer *eventBuffer
	model  string
}

// Option configures an [Observer].
type Option func(*config) error

type config struct {
	tracers trace.TracerProvider
	meters  metric.MeterProvider
	model   string
}

// WithModel sets the model that the agents call, for gen_ai.request.model. Frameworks only know
// it if a call names another model than the client's.
func WithModel(name string) Option {
	return func(c *config) error {
		if name == "" {
			return fmt.Errorf("%w: WithModel: an empty name", errOption)
		}
		c.model = name
		return nil
	}
}

// WithTracerProvider sends spans to p. The default is the global provider.
func WithTracerProvider(p trace.TracerProvider) Option {
	return func(c *config) error {
		if p == nil {
			return fmt.Errorf("%w: WithTracerProvider(nil)", errOption)
		}
		c.tracers = p
		return nil
	}
}

// WithMeterProvider sends metrics to p. The default is the global provider.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(c *config) error {
		if p == nil {
			return fmt.Errorf("%w: WithMeterProvider(nil)", errOption)
		}
		c.meters = p
		return nil
	}
}

// New returns an observer. It returns an error if an option is invalid or a metric cannot be
// created.
func New(opts ...Option) (*Observer, error) {
	c := config{tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o(&c); err != nil {
			return nil, err
		}
	}
	meters, err := newInstruments(c.meters.Meter(scope), c.model)
	if err != nil {
		return nil, fmt.Errorf("create metrics: %w", err)
	}
	return &Observer{tracer: c.tracers.Tracer(scope), meters: meters, buffer: newEventBuffer(), model: c.model}, nil
}

// Event records one event. Hosts pass it to satchel.WithEvents. The parent of a span is the span
// in ctx. Spans of what happened during a tool call are below the span of that call.
func (o *Observer) Event(ctx context.Context, e core.Event) {
	o.meters.record(ctx, &e)
	if name := spanName(&e); name != "" {
		o.trace(ctx, name, e)
	}
}

// Close writes the spans that still wait for the end of a tool call, such as calls that a crash
// has interrupted. Hosts call it before they shut down the providers. The observer can be used
// again.
func (o *Observer) Close() {
	for _, t := range o.buffer.all() {
		o.writeSpan(t.ctx, t.name, &t.event)
	}
}
