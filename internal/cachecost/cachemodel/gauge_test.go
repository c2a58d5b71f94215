package cachemodel

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/cachecost/prompt/prompttest"
)

func texts(list ...string) prompt.Request {
	r := prompt.Request{Tools: []prompt.Tool{{Name: "f", Description: "d"}, {Name: "g", Description: "d"}}}
	for i, text := range list {
		r.Messages = append(r.Messages, prompt.Message{Role: []string{"system", "user", "tool"}[min(i, 2)], Content: text})
	}
	return r
}

func gauged(t *testing.T, prices []Price, requests ...prompt.Request) Totals {
	t.Helper()
	g := NewGauge(prompt.NewRenderer(prompttest.Words{}), prices)
	for i, r := range requests {
		b, broken, err := g.Send(r, 0)
		if err != nil || broken != (b != Break{}) || broken && b.Request != i {
			t.Fatalf("request %d: %+v, %v, %v", i, b, broken, err)
		}
	}
	return g.Done()
}

func TestGauge(t *testing.T) {
	requests := []prompt.Request{texts("a", "b"), texts("a", "b", "c"), texts("a", "b", "d"), texts("a", "b", "c")}
	m := gauged(t, []Price{{Name: "p", Read: 0.1, Write: 1, Model: Stepped(1, 1)}}, requests...)
	if m.Requests != 4 || len(m.Breaks) != 2 || m.Breaks[0].Request != 2 || m.Breaks[0].Block != "result" || m.Breaks[0].Lost != 1 {
		t.Errorf("%+v", m)
	}
	if c := m.At("p"); math.Abs(c.Ratio-1) > 0.02 || c.Ratio < 1 { // the end of the changed message is written again
		t.Errorf("%+v", c)
	}
}

// What stood anywhere behind the break before is sent again.
func TestSentAnew(t *testing.T) {
	long := strings.Repeat("word ", 3000)
	say := func(list ...string) (r prompt.Request) {
		for _, text := range list {
			r.Messages = append(r.Messages, prompt.Message{Role: "user", Content: text})
		}
		return r
	}
	f, g := prompt.Tool{Name: "f", Description: "one"}, prompt.Tool{Name: "g", Description: "two"}
	with := func(r prompt.Request, tools ...prompt.Tool) prompt.Request {
		r.Tools = tools
		return r
	}
	calls := func(r prompt.Request, calls ...string) prompt.Request {
		m := prompt.Message{Role: "assistant"}
		for _, c := range calls {
			m.Calls = append(m.Calls, prompt.Call{Name: c, Arguments: "{}"})
		}
		r.Messages = append(r.Messages, m)
		return r
	}
	// A short message takes five tokens: its text and four markers. Three markers
	// precede the first difference from another message of the same role.
	for name, tt := range map[string]struct {
		was, now prompt.Request
		want     int
	}{
		"a long text removed":  {say("a", long, "b"), say("a", "b"), 2},
		"inserted":             {say("a", "b", "c"), say("a", "x", "b", "c"), 10},
		"swapped":              {say("a", "b", "c"), say("b", "a", "c"), 5 - 3 + 5 + 5},
		"all new":              {say("a", "b"), say("c"), 1},
		"shorter":              {say("a", "b"), say("a"), 0},
		"once, now twice":      {say("x", "a"), say("y", "a", "a"), 1 + 5},
		"twice, now once":      {say("x", "a", "a"), say("y", "a"), 1 + 5},
		"cleared":              {say("a", "stub "+long, "b"), say("a", "stub", "b"), 1 + 5},
		"a later one cleared":  {say("x", "stub "+long, "b"), say("y", "stub", "b"), 1 + 5 + 5},
		"a clock in front":     {say("10 "+long, "b"), say("11 "+long, "b"), 3001 + 1 + 5},
		"a call changed":       {calls(say("x"), "f", "f", "g"), calls(say("x"), "f", "g", "g"), 1 + 4}, // the arguments {} and the last call are written again
		"a tool added":         {with(say("x"), f), with(say("x"), f, g), 5},
		"a tool removed":       {with(say("x"), f, g), with(say("x"), g), 5 + 10 - 4},
		"another role":         {say("x"), prompt.Request{Messages: []prompt.Message{{Role: "tool", Content: "x"}}}, 0},
		"nothing but the text": {with(say("x"), f), say("x"), 5},
	} {
		t.Run(name, func(t *testing.T) {
			m := gauged(t, nil, tt.was, tt.now)
			if len(m.Breaks) != 1 || m.Breaks[0].Lost != tt.want {
				t.Errorf("%+v of %v tokens, want %d sent again", m.Breaks, m.Sizes, tt.want)
			}
		})
	}
}

// For any requests, the tokens sent again are at most those after the break in both. If text was
// inserted at the beginning, they are all of these. Each break has an explanation.
func TestSentAnewOfAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	made := func() (request prompt.Request) {
		for range r.IntN(3) {
			request.Tools = append(request.Tools, prompt.Tool{Name: string(rune('f' + r.IntN(3)))})
		}
		for range 1 + r.IntN(6) {
			m := prompt.Message{Role: []string{"system", "user", "assistant", "tool"}[r.IntN(4)], Content: strings.Repeat("word ", r.IntN(3))}
			for range r.IntN(3) {
				m.Calls = append(m.Calls, prompt.Call{Name: "f", Arguments: strings.Repeat("x ", r.IntN(3))})
			}
			request.Messages = append(request.Messages, m)
		}
		return request
	}
	for range 2000 {
		was, now := made(), made()
		m := gauged(t, Prices(), was, now)
		if len(m.Breaks) == 0 {
			continue
		}
		if lost := m.Breaks[0].Lost; lost < 0 || lost > min(m.Sizes[0], m.Sizes[1]) {
			t.Fatalf("%d of %v tokens are sent again:\n%+v\n%+v", lost, m.Sizes, was, now)
		}
		if Explain(was, now).Place == "" {
			t.Fatalf("no explanation:\n%+v\n%+v", was, now)
		}
		in := prompt.Request{Tools: append([]prompt.Tool{{Name: "0"}}, was.Tools...), Messages: was.Messages}
		front := gauged(t, nil, was, in)
		if common := prompt.SharedTokens(rendered(t, was), rendered(t, in)); front.Breaks[0].Lost > front.Sizes[0] || front.Breaks[0].Lost < front.Sizes[0]-common {
			t.Fatalf("%+v of %v tokens after a tool in front of\n%+v", front.Breaks, front.Sizes, was)
		}
	}
}

func rendered(t *testing.T, request prompt.Request) *prompt.Prompt {
	t.Helper()
	p, err := prompt.NewRenderer(prompttest.Words{}).Render(request)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestExplain(t *testing.T) {
	base := texts("You help.", "one", "two")
	change := func(f func(*prompt.Request)) prompt.Request {
		r := texts("You help.", "one", "two")
		f(&r)
		return r
	}
	long := strings.Repeat("é", 200)
	for name, tt := range map[string]struct {
		before, after        prompt.Request
		place, was, is, hint string
	}{
		"the same":      {base, base, "", "", "", ""},
		"grown":         {base, change(func(r *prompt.Request) { r.Messages = append(r.Messages, prompt.Message{Role: "user"}) }), "", "", "", ""},
		"tool gone":     {base, change(func(r *prompt.Request) { r.Tools = r.Tools[:1] }), "tool g", `{"description":"d","name":"g"}`, "", "a tool was removed"},
		"tool new":      {base, change(func(r *prompt.Request) { r.Tools = append(r.Tools, prompt.Tool{Name: "h"}) }), "tool h", "", `{"description":"","name":"h"}`, "a tool was added"},
		"tools moved":   {base, change(func(r *prompt.Request) { r.Tools[0], r.Tools[1] = r.Tools[1], r.Tools[0] }), "tool f", `iption":"d","name":"f"}`, `iption":"d","name":"g"}`, "another tool"},
		"tool edited":   {base, change(func(r *prompt.Request) { r.Tools[1].Description = "e" }), "tool g", `{"description":"d","name":"g"}`, `{"description":"e","name":"g"}`, ""},
		"shorter":       {base, change(func(r *prompt.Request) { r.Messages = r.Messages[:2] }), "message 2 (tool)", "two", "", "the history became shorter"},
		"another":       {base, change(func(r *prompt.Request) { r.Messages[1].Role = "assistant" }), "message 1 (user)", "one", "assistant: one", "another message"},
		"added":         {base, change(func(r *prompt.Request) { r.Messages[2].Content = "two and a half" }), "message 2 (tool)", "two", "two and a half", "text was added"},
		"taken":         {base, change(func(r *prompt.Request) { r.Messages[2].Content = "t" }), "message 2 (tool)", "two", "t", "text was taken"},
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

// No cache charges less than the bound, whatever is sent and however often.
func TestBoundIsABound(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		tools := []prompt.Tool{{Name: "fetch", Description: "d"}, {Name: "fetch_all", Description: "d"}, {Name: "find"}}
		var requests []prompt.Request
		now := prompt.Request{Messages: []prompt.Message{{Role: "system", Content: strings.Repeat("s ", r.IntN(1500))}}}
		for range 1 + r.IntN(12) {
			r.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
			now.Tools = append([]prompt.Tool{}, tools[:r.IntN(len(tools)+1)]...)
			switch at := r.IntN(len(now.Messages)); r.IntN(6) {
			case 0:
				now.Messages = append([]prompt.Message{}, now.Messages...)
				now.Messages[at].Content += strings.Repeat("x ", r.IntN(300))
			case 1:
				now.Messages = append([]prompt.Message{}, now.Messages[:at+1]...)
			default:
				now.Messages = append(now.Messages[:len(now.Messages):len(now.Messages)],
					prompt.Message{Role: []string{"user", "assistant", "tool"}[r.IntN(3)], Content: strings.Repeat("w ", r.IntN(600))})
			}
			requests = append(requests, now)
		}
		for _, c := range gauged(t, Prices(), requests...).Costs {
			if c.Ratio < 1-1e-9 {
				t.Errorf("seed %d: %s charges %.1f, the bound is %.1f", seed, c.Price, c.ITE, c.Bound)
			}
		}
	}
}
