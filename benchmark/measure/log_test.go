package measure

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/benchmark/cachemodel"
	"github.com/satchel-go/satchel/benchmark/capture"
	"github.com/satchel-go/satchel/benchmark/prompt"
)

func texts(list ...string) capture.Request {
	r := capture.Request{Tools: []capture.Tool{{Name: "f", Description: "d"}, {Name: "g", Description: "d"}}}
	for i, text := range list {
		r.Messages = append(r.Messages, capture.Message{Role: []string{"system", "user", "tool"}[min(i, 2)], Content: text})
	}
	return r
}

func TestRequests(t *testing.T) {
	renderer, err := prompt.NewRenderer()
	if err != nil {
		t.Fatal(err)
	}
	requests := []capture.Request{texts("a", "b"), texts("a", "b", "c"), texts("a", "b", "d"), texts("a", "b", "c")}
	m, err := Requests(requests, make([]time.Duration, 4), renderer, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Requests != 4 || len(m.Breaks) != 2 || m.Breaks[0].Request != 2 || m.Breaks[0].Block != "result" || m.Breaks[0].Lost != 2 {
		t.Errorf("%+v", m)
	}
	p := exact(0.1, 1)
	if m, err = Requests(requests, make([]time.Duration, 4), renderer, []cachemodel.Price{p}); err != nil {
		t.Fatal(err)
	}
	if c := m.At("p"); math.Abs(c.Ratio-1) > 0.02 || c.Ratio < 1 { // the end of the changed message is written twice
		t.Errorf("%+v", c)
	}
}

func TestExplain(t *testing.T) {
	base := texts("You help.", "one", "two")
	change := func(f func(*capture.Request)) capture.Request {
		r := texts("You help.", "one", "two")
		f(&r)
		return r
	}
	long := strings.Repeat("é", 200)
	for name, tt := range map[string]struct {
		before, after        capture.Request
		place, was, is, hint string
	}{
		"the same":      {base, base, "", "", "", ""},
		"grown":         {base, change(func(r *capture.Request) { r.Messages = append(r.Messages, capture.Message{Role: "user"}) }), "", "", "", ""},
		"tool gone":     {base, change(func(r *capture.Request) { r.Tools = r.Tools[:1] }), "tool g", `{"description":"d","name":"g"}`, "", "a tool was removed"},
		"tool new":      {base, change(func(r *capture.Request) { r.Tools = append(r.Tools, capture.Tool{Name: "h"}) }), "tool h", "", `{"description":"","name":"h"}`, "a tool was added"},
		"tools moved":   {base, change(func(r *capture.Request) { r.Tools[0], r.Tools[1] = r.Tools[1], r.Tools[0] }), "tool f", `iption":"d","name":"f"}`, `iption":"d","name":"g"}`, "another tool"},
		"tool edited":   {base, change(func(r *capture.Request) { r.Tools[1].Description = "e" }), "tool g", `{"description":"d","name":"g"}`, `{"description":"e","name":"g"}`, ""},
		"shorter":       {base, change(func(r *capture.Request) { r.Messages = r.Messages[:2] }), "message 2 (tool)", "two", "", "the history became shorter"},
		"another":       {base, change(func(r *capture.Request) { r.Messages[1].Role = "assistant" }), "message 1 (user)", "one", "assistant: one", "another message"},
		"added":         {base, change(func(r *capture.Request) { r.Messages[2].Content = "two and a half" }), "message 2 (tool)", "two", "two and a half", "text was added"},
		"taken":         {base, change(func(r *capture.Request) { r.Messages[2].Content = "t" }), "message 2 (tool)", "two", "t", "text was taken"},
		"a time":        {texts("It is 2026-10-01."), texts("It is 2026-10-02."), "message 0 (system)", "It is 2026-10-01.", "It is 2026-10-02.", "a date or a time"},
		"the same time": {texts("At 10:00 x."), texts("At 10:00 y."), "message 0 (system)", "At 10:00 x.", "At 10:00 y.", ""},
		"an id":         {texts("run 123e4567-e89b-12d3-a456-426614174000"), texts("run 223e4567-e89b-12d3-a456-426614174000"), "message 0 (system)", "run 123e4567-e89b-12d3-a456-426614174000", "run 223e4567-e89b-12d3-a456-426614174000", "a random id"},
		"long":          {texts(long + "a" + long), texts(long + "b"), "message 0 (system)", strings.Repeat("é", 10) + "a" + strings.Repeat("é", 29) + "…", strings.Repeat("é", 10) + "b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := Explain(tt.before, tt.after)
			if d.Place != tt.place || d.Before != tt.was || d.After != tt.is || !strings.Contains(d.Hint, tt.hint) || tt.hint == "" && d.Hint != "" {
				t.Errorf("%+v", d)
			}
		})
	}
}
