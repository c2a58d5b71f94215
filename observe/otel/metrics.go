package otel

import (
	"context"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/satchel-go/satchel/core"
)

// instruments are the metrics. No attribute names a session, because there are too many sessions.
type instruments struct {
	operation metric.Float64Histogram // gen_ai.client.operation.duration
	tokens    metric.Int64Histogram   // gen_ai.client.token.usage
	tools     metric.Float64Histogram // gen_ai.execute_tool.duration
	cached    metric.Int64Counter
	denials   metric.Int64Counter
	changes   metric.Int64Counter
	skills    *skillCounters
	steps     metric.Float64Histogram
	breaks    metric.Int64Counter
	model     string // the name that the host has set
}

func newInstruments(m metric.Meter, model string) (*instruments, error) {
	b := builder{meter: m}
	i := &instruments{
		model:     model,
		operation: b.seconds("gen_ai.client.operation.duration", "How long model calls took, to the last chunk of a stream."),
		tokens:    b.sizes("gen_ai.client.token.usage", "Tokens of a model call as the provider counted them."),
		tools:     b.seconds("gen_ai.execute_tool.duration", "How long tool calls took."),
		cached:    b.count("satchel.cache.read.tokens", "{token}", "Prompt tokens that the provider served from its cache."),
		denials:   b.count("satchel.tool.denials", "{call}", "Tool calls that were denied."),
		changes:   b.count("satchel.skill.changes", "{skill}", "Skills that were loaded, unloaded or evicted."),
		steps:     b.seconds("satchel.workspace.step.duration", "How long the steps of a run took."),
		breaks:    b.count("satchel.prefix.breaks", "{request}", "Requests that did not begin with the one before."),
	}
	i.skills = newSkillCounters(&b)
	return i, b.err
}

// builder creates instruments and keeps the first error.
type builder struct {
	meter metric.Meter
	err   error
}

func (b *builder) keep(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *builder) seconds(name, text string) metric.Float64Histogram {
	h, err := b.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(text),
		metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92))
	b.keep(err)
	return h
}

func (b *builder) sizes(name, text string) metric.Int64Histogram {
	h, err := b.meter.Int64Histogram(name, metric.WithUnit("{token}"), metric.WithDescription(text),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304))
	b.keep(err)
	return h
}

func (b *builder) count(name, unit, text string) metric.Int64Counter {
	c, err := b.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(text))
	b.keep(err)
	return c
}

func (i *instruments) record(ctx context.Context, e *core.Event) {
	name := e.Key.Agent
	if at := strings.LastIndexByte(name, '#'); at >= 0 && e.Fork != "" {
		name = name[:at] // the number of a fork, of which there is no end
	}
	agent := agentName.String(name)
	with := func(more ...attribute.KeyValue) metric.MeasurementOption {
		if kind, _ := status(e); kind != "" {
			more = append(more, errorType.String(kind))
		}
		return metric.WithAttributes(append(more, agent)...)
	}
	i.skills.record(ctx, e, agent)
	switch e.Kind {
	case core.ModelCalled, core.ModelFailed:
		chat := []attribute.KeyValue{operationName.String("chat")}
		if i.model != "" {
			chat = append(chat, requestModel.String(i.model))
		}
		i.operation.Record(ctx, e.Duration.Seconds(), with(slices.Clip(chat)...))
		if e.Usage != (core.Usage{}) {
			i.tokens.Record(ctx, int64(e.Usage.Prompt), with(append(slices.Clip(chat), tokenType.String("input"))...))
			i.tokens.Record(ctx, int64(e.Usage.Completion), with(append(slices.Clip(chat), tokenType.String("output"))...))
			i.cached.Add(ctx, int64(e.Usage.Cached), with())
		}
	case core.ToolCalled:
		i.tools.Record(ctx, e.Duration.Seconds(), with(toolName.String(shortName(e.Call.Name))))
	case core.ToolDenied:
		i.denials.Add(ctx, 1, with(toolName.String(shortName(e.Call.Name))))
	case core.SkillLoaded, core.SkillUnloaded, core.SkillEvicted:
		if e.Detail == "changed" { // it stays loaded, with a new text
			return
		}
		i.changes.Add(ctx, 1, with(skillName.String(i.skills.name(e.Skill)), change.String(string(e.Kind))))
	case core.WorkspaceCreate, core.WorkspaceStage, core.WorkspaceRun, core.WorkspaceCollect, core.WorkspaceInline, core.WorkspaceCleanup:
		i.steps.Record(ctx, e.Duration.Seconds(), with(step.String(string(e.Kind))))
	case core.PrefixBroken:
		i.breaks.Add(ctx, 1, with())
	}
}
