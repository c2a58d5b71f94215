package otel_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// skillCounts returns the counters of skills as "METRIC SKILL", "METRIC SKILL BY" or "METRIC SKILL USE".
func skillCounts(t *testing.T, reader *metric.ManualReader) map[string]int {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			sum, ok := m.Data.(metricdata.Sum[int64])
			if !ok || len(m.Name) < 14 || m.Name[:14] != "satchel.skill." {
				continue
			}
			for _, p := range sum.DataPoints {
				name, _ := p.Attributes.Value("satchel.skill.name")
				key := m.Name[14:] + " " + name.AsString()
				if by, ok := p.Attributes.Value("satchel.skill.loaded_by"); ok {
					key += " " + by.AsString()
				}
				if use, ok := p.Attributes.Value("satchel.skill.use"); ok && use.AsString() != "" {
					key += " " + use.AsString()
				}
				got[key] += int(p.Value)
			}
		}
	}
	return got
}

func checkCounts(t *testing.T, got, want map[string]int) {
	t.Helper()
	for key, n := range want {
		if got[key] != n {
			t.Errorf("%s is %d, want %d", key, got[key], n)
		}
	}
}

// An offer counts once a turn while it lasts.
func TestSkillCounters(t *testing.T) {
	o, _, reader := recordingObserver(t)
	key := core.SessionKey{Session: "s"}
	for _, e := range []core.Event{
		{Kind: core.SkillsOffered, Turn: 1, Skills: []string{"pdf", "xlsx"}, Named: []string{"docx"}},
		{Kind: core.SkillsSuggested, Turn: 1, Skills: []string{"pdf"}},
		{Kind: core.ModelCalled, Turn: 1},
		{Kind: core.SkillLoaded, Turn: 1, Skill: "pdf", By: "model", Load: 1, Tokens: 70},
		{Kind: core.SkillUsed, Turn: 1, Skill: "pdf", Detail: "run"},
		{Kind: core.ModelCalled, Turn: 1},
		{Kind: core.ModelFailed, Turn: 2},
		{Kind: core.ModelCalled, Turn: 2},
		{Kind: core.SkillsOffered, Turn: 2, Skills: []string{"pdf", "pptx"}},
		{Kind: core.TextCleared, Turn: 2, Skill: "pdf", Load: 1, Docs: []string{"a.md"}},
		{Kind: core.ModelCalled, Turn: 2},
		{Kind: core.TextCleared, Turn: 2, Skill: "pdf", Load: 1, Digest: "d"},
		{Kind: core.SkillLoaded, Turn: 2, Skill: "pdf", By: "user", Load: 2, Tokens: 30},
		{Kind: core.DocsSelected, Turn: 2, Skill: "pdf", Load: 3, Tokens: 5},
		{Kind: core.SkillLoaded, Turn: 2, Skill: "xlsx"},
		{Kind: core.ModelCalled, Turn: 3},
	} {
		e.Key = key
		o.Event(t.Context(), e)
	}
	o.Event(t.Context(), core.Event{Kind: core.ModelCalled, Key: core.SessionKey{Session: "another"}, Turn: 1})
	checkCounts(t, skillCounts(t, reader), map[string]int{
		"offered pdf": 3, "offered xlsx": 2, "offered docx": 2, "offered pptx": 2, "suggested pdf": 1, "suggested xlsx": 0,
		"loaded pdf model": 1, "loaded pdf user": 1, "loaded xlsx host": 1, "used pdf run": 1, "tokens pdf": 4*70 + 35, "tokens xlsx": 0,
	})
}

func TestSkillCountersHaveABoundedNumberOfNames(t *testing.T) {
	o, _, reader := recordingObserver(t)
	for range 2 {
		for i := range 230 {
			o.Event(t.Context(), core.Event{Kind: core.SkillUsed, Skill: fmt.Sprint("skill-", i)})
		}
	}
	got := skillCounts(t, reader)
	checkCounts(t, got, map[string]int{"used skill-0": 2, "used skill-199": 2, "used skill-200": 0, "used other": 60})
	if len(got) != 201 {
		t.Errorf("%d names, want 201", len(got))
	}
}

// A runtime's events have what the counters need.
func TestSkillCountersOfARuntime(t *testing.T) {
	o, _, reader := recordingObserver(t)
	rt, err := satchel.New(
		satchel.WithSkillFS("skills", fstest.MapFS{"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY\n")}}),
		satchel.WithEvents(o.Event),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	key := core.SessionKey{Session: "s"}
	ctx := satchel.WithSession(t.Context(), key.Session)
	if _, err := rt.Prepare(ctx, core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := rt.CallTool(t.Context(), key, core.ToolCall{ID: "c1", Name: "skill_load", Arguments: `{"skill":"pdf"}`}); err != nil {
		t.Fatal(err)
	}
	rt.Hooks().Emit(ctx, core.Event{Kind: core.ModelCalled, Key: key})
	checkCounts(t, skillCounts(t, reader), map[string]int{"offered pdf": 1, "loaded pdf model": 1, "tokens pdf": 1})
}
