package otel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	v1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/observe/otel"
)

// exported returns an observer that exports to a collector over HTTP. flush exports all telemetry
// so far.
func exported(t *testing.T) (_ *otel.Observer, c *collector, flush func()) {
	t.Helper()
	c, ctx := newCollector(t), t.Context()
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(c.address(t)), otlptracehttp.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpoint(c.address(t)), otlpmetrichttp.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	tracers := trace.NewTracerProvider(trace.WithBatcher(spans))
	meters := metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(numbers)))
	t.Cleanup(func() {
		if err := errors.Join(tracers.Shutdown(context.Background()), meters.Shutdown(context.Background())); err != nil {
			t.Error(err)
		}
	})
	o, err := otel.New(otel.WithTracerProvider(tracers), otel.WithMeterProvider(meters), otel.WithModel("gpt-x"))
	if err != nil {
		t.Fatal(err)
	}
	return o, c, func() {
		if err := errors.Join(tracers.ForceFlush(ctx), meters.ForceFlush(ctx)); err != nil {
			t.Fatal(err)
		}
	}
}

// A runtime loads a skill and answers a call that it does not know; a collector
// sees both, with the load inside the call.
func TestRuntimeToCollector(t *testing.T) {
	o, c, flush := exported(t)
	rt, err := satchel.New(
		satchel.WithSkillFS("skills", fstest.MapFS{"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY\n")}}),
		satchel.WithEvents(o.Event),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	key := core.SessionKey{Session: "s", Agent: "a"}
	if _, err := rt.CallTool(t.Context(), key, core.ToolCall{ID: "c1", Name: "skill_load", Arguments: `{"skill":"pdf"}`}); err != nil {
		t.Fatal(err)
	}
	o.Close()
	flush()

	call, load := c.span(t, "execute_tool skill_load"), c.span(t, "load_skill pdf")
	for key, want := range map[string]string{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "skill_load", "gen_ai.tool.call.id": "c1",
		"gen_ai.conversation.id": "s", "gen_ai.agent.name": "a",
	} {
		if got := attribute(call, key); got != want {
			t.Errorf("attribute %s of the call is %q, want %q", key, got, want)
		}
	}
	if got := attribute(load, "satchel.skill.name"); got != "pdf" {
		t.Errorf("the load is of skill %q", got)
	}
	if !bytes.Equal(load.ParentSpanId, call.SpanId) || len(call.ParentSpanId) != 0 {
		t.Errorf("the parent of the load is %x, the call is %x below %x", load.ParentSpanId, call.SpanId, call.ParentSpanId)
	}
	if call.StartTimeUnixNano > load.StartTimeUnixNano || load.EndTimeUnixNano > call.EndTimeUnixNano {
		t.Error("the load is outside the call")
	}
	if c.metrics["gen_ai.execute_tool.duration"] == nil || c.metrics["satchel.skill.changes"] == nil {
		t.Errorf("metrics: %v", c.metrics)
	}
}

func TestModelCallToCollector(t *testing.T) {
	o, c, flush := exported(t)
	end := time.Now()
	o.Event(t.Context(), core.Event{
		Kind: core.ModelCalled, Time: end, Duration: time.Second, Key: core.SessionKey{Session: "s"},
		Usage: core.Usage{Prompt: 1000, Cached: 900, Completion: 20},
	})
	flush()
	s := c.span(t, "chat")
	if s.Kind != v1.Span_SPAN_KIND_CLIENT || s.EndTimeUnixNano-s.StartTimeUnixNano != uint64(time.Second) {
		t.Errorf("kind %v, %d ns", s.Kind, s.EndTimeUnixNano-s.StartTimeUnixNano)
	}
	if model, operation := attribute(s, "gen_ai.request.model"), attribute(s, "gen_ai.operation.name"); model != "gpt-x" || operation != "chat" {
		t.Errorf("model %q, operation %q", model, operation)
	}
	got := map[string]int64{}
	for _, a := range s.Attributes {
		got[a.Key] = a.Value.GetIntValue()
	}
	if got["gen_ai.usage.input_tokens"] != 1000 || got["gen_ai.usage.output_tokens"] != 20 || got["gen_ai.usage.cache_read.input_tokens"] != 900 {
		t.Errorf("tokens: %v", got)
	}
	usage := c.metrics["gen_ai.client.token.usage"].GetHistogram()
	if len(usage.GetDataPoints()) != 2 {
		t.Errorf("token usage: %v", usage)
	}
	for _, p := range usage.GetDataPoints() {
		if !slices.ContainsFunc(p.Attributes, func(a *common.KeyValue) bool {
			return a.Key == "gen_ai.request.model" && a.Value.GetStringValue() == "gpt-x"
		}) {
			t.Errorf("attributes of token usage: %v", p.Attributes)
		}
	}
	if read := c.metrics["satchel.cache.read.tokens"].GetSum(); read.GetDataPoints()[0].GetAsInt() != 900 {
		t.Errorf("cached tokens: %v", read)
	}
}

func recordingObserver(t *testing.T) (*otel.Observer, *tracetest.SpanRecorder, *metric.ManualReader) {
	t.Helper()
	spans, numbers := tracetest.NewSpanRecorder(), metric.NewManualReader()
	o, err := otel.New(
		otel.WithTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(spans))),
		otel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(numbers))),
	)
	if err != nil {
		t.Fatal(err)
	}
	return o, spans, numbers
}

func TestSpans(t *testing.T) {
	call := core.ToolCall{ID: "1", Name: "skill_run", Arguments: "SECRET"}
	for _, c := range []struct {
		name  string
		event core.Event
		want  string
		fails bool
	}{
		{"denial", core.Event{Kind: core.ToolDenied, Call: call, Rule: "Bash(git:*)"}, "deny_tool skill_run", true},
		{"model that failed", core.Event{Kind: core.ModelFailed, Detail: "429"}, "chat", true},
		{"step", core.Event{Kind: core.WorkspaceRun, Skill: "pdf", Err: errors.New("no program SECRET")}, "workspace.run", true},
		{"long name", core.Event{Kind: core.ToolCalled, Call: core.ToolCall{Name: string(bytes.Repeat([]byte("é"), 100))}}, "execute_tool " + string(bytes.Repeat([]byte("é"), 32)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, spans, _ := recordingObserver(t)
			o.Event(t.Context(), c.event)
			ended := spans.Ended()
			if len(ended) != 1 || ended[0].Name() != c.want {
				t.Fatalf("spans: %v, want one named %q", ended, c.want)
			}
			if failed := ended[0].Status().Code.String() == "Error"; failed != c.fails {
				t.Errorf("status is %v", ended[0].Status())
			}
			if text := fmt.Sprint(ended[0].Attributes(), ended[0].Status()); bytes.Contains([]byte(text), []byte("SECRET")) {
				t.Errorf("arguments are exported: %s", text)
			}
		})
	}
}

// Spans of events during a call are children of the call's span, also beside other calls.
func TestCallsAreParents(t *testing.T) {
	o, spans, _ := recordingObserver(t)
	var calls sync.WaitGroup
	for i := range 50 {
		calls.Go(func() {
			call := core.ToolCall{ID: fmt.Sprint(i), Name: "skill_run"}
			for _, kind := range []core.EventKind{core.WorkspaceStage, core.WorkspaceRun, core.WorkspaceCollect, core.ToolCalled} {
				o.Event(t.Context(), core.Event{Kind: kind, Call: call})
			}
		})
	}
	calls.Wait()
	parents, children := map[string]int{}, 0
	for _, s := range spans.Ended() {
		if s.Name() == "execute_tool skill_run" {
			parents[s.SpanContext().SpanID().String()] = 0
		}
	}
	for _, s := range spans.Ended() {
		if s.Name() != "execute_tool skill_run" {
			parents[s.Parent().SpanID().String()]++
			children++
		}
	}
	if len(parents) != 50 || children != 150 {
		t.Fatalf("%d parents of %d spans", len(parents), children)
	}
	for id, n := range parents {
		if n != 3 {
			t.Errorf("call %s has %d children", id, n)
		}
	}
}

// Calls that never end leave nothing behind but their spans.
func TestCallsThatNeverEnd(t *testing.T) {
	const events = 3000
	o, spans, _ := recordingObserver(t)
	for i := range events {
		o.Event(t.Context(), core.Event{Kind: core.WorkspaceStage, Call: core.ToolCall{ID: fmt.Sprint(i), Name: "skill_run"}})
	}
	if before := len(spans.Ended()); before < events-2000 {
		t.Errorf("%d spans have ended: what waits is not bounded", before)
	}
	o.Close()
	if n := len(spans.Ended()); n != events {
		t.Errorf("%d spans, want %d", n, events)
	}
}

func TestMetrics(t *testing.T) {
	o, _, reader := recordingObserver(t)
	for _, kind := range []core.EventKind{core.SkillLoaded, core.SkillEvicted, core.SkillUnloaded, core.ToolDenied, core.PrefixBroken, core.WorkspaceCreate} {
		o.Event(t.Context(), core.Event{Kind: kind, Key: core.SessionKey{Session: "private"}})
		o.Event(t.Context(), core.Event{Kind: kind, Key: core.SessionKey{Agent: "main/fork:report#17"}, Fork: "report"})
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			got[m.Name] = true
			if bytes.Contains([]byte(fmt.Sprint(m.Data)), []byte("private")) {
				t.Errorf("%s names a session", m.Name)
			}
			if text := fmt.Sprint(m.Data); strings.Contains(text, "#17") || !strings.Contains(text, "main/fork:report") {
				t.Errorf("%s names one of many forks: %s", m.Name, text)
			}
		}
	}
	for _, name := range []string{"satchel.skill.changes", "satchel.tool.denials", "satchel.prefix.breaks", "satchel.workspace.step.duration"} {
		if !got[name] {
			t.Errorf("there is no %s: %v", name, got)
		}
	}
}

func TestOptions(t *testing.T) {
	for name, option := range map[string]otel.Option{"tracer": otel.WithTracerProvider(nil), "meter": otel.WithMeterProvider(nil)} {
		if _, err := otel.New(option); !errors.Is(err, otel.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
