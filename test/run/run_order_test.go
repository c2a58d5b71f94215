package run_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
)

// A skill may run until its turn ends in every load mode: in once mode too,
// whose text is out of view by then.
func TestRunInEveryLoadMode(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Once, loadmode.Session} {
		t.Run(mode.String(), func(t *testing.T) {
			b := newBench(t, satchel.Runner{}, satchel.WithLoading(satchel.Loading{Mode: mode}))
			ctx := context.Background()
			run := []core.ToolCall{{ID: "r", Name: "skill_run", Arguments: `{"skill":"demo","command":"echo ran"}`}}
			if err := b.rt.Hooks().Observe(ctx, b.key, run); err != nil {
				t.Fatal(err)
			}
			if got, err := b.rt.CallTool(ctx, b.key, run[0]); err != nil || !strings.Contains(got, `"stdout":"ran\n"`) {
				t.Errorf("in the same turn: %s, %v", got, err)
			}
			next := core.Request{Key: b.key, Messages: []core.Message{{Role: core.User, Text: "hi"}, {Role: core.User, Text: "and now?"}}}
			if _, err := b.rt.Prepare(ctx, next); err != nil {
				t.Fatal(err)
			}
			got := b.call("skill_run", run[0].Arguments)
			if ran := strings.Contains(got, `"stdout":"ran\n"`); ran != (mode == loadmode.Session) {
				t.Errorf("in the next turn: %s", got)
			}
		})
	}
}

// What a call of higher position unloads or evicts is there for a run below it,
// also where the framework executes that call first.
func TestRunBelowAnUnload(t *testing.T) {
	for name, taken := range map[string]core.ToolCall{
		"unload": {ID: "2", Name: "skill_unload", Arguments: `{"all":true}`},
		"evict":  {ID: "2", Name: "skill_load", Arguments: `{"skill":"demo"}`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, satchel.Runner{}, satchel.WithLoading(satchel.Loading{Max: 1}))
			ctx := context.Background()
			calls := []core.ToolCall{
				{ID: "0", Name: "skill_load", Arguments: `{"skill":"plain"}`},
				{ID: "1", Name: "skill_run", Arguments: `{"skill":"plain","command":"echo ran"}`},
				taken,
				{ID: "3", Name: "skill_run", Arguments: `{"skill":"plain","command":"echo ran"}`},
			}
			if err := b.rt.Hooks().Observe(ctx, b.key, calls); err != nil {
				t.Fatal(err)
			}
			answers := map[int]string{}
			for _, i := range []int{0, 2, 1, 3} {
				var err error
				if answers[i], err = b.rt.CallTool(ctx, b.key, calls[i]); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.Contains(answers[1], `"stdout":"ran\n"`) {
				t.Errorf("below: %s", answers[1])
			}
			if !strings.Contains(answers[3], "not loaded") {
				t.Errorf("above: %s", answers[3])
			}
		})
	}
}

// A run waits for the load before it in the same response, whichever of the two
// the framework starts first, and for no load after it.
func TestRunBesideItsLoad(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	ctx := context.Background()
	calls := []core.ToolCall{
		{ID: "0", Name: "skill_run", Arguments: `{"skill":"plain","command":"true"}`},
		{ID: "1", Name: "skill_load", Arguments: `{"skill":"plain"}`},
		{ID: "2", Name: "skill_run", Arguments: `{"skill":"plain","command":"echo ran"}`},
	}
	if err := b.rt.Hooks().Observe(ctx, b.key, calls); err != nil {
		t.Fatal(err)
	}
	answers := make([]string, len(calls))
	answer := func(i int) {
		var err error
		if answers[i], err = b.rt.CallTool(ctx, b.key, calls[i]); err != nil {
			t.Error(err)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { answer(2) })
	wg.Go(func() { answer(1) })
	wg.Wait()
	answer(0) // the first call of the response runs last
	if !strings.Contains(answers[0], "not loaded") {
		t.Errorf("before the load: %s", answers[0])
	}
	if !strings.Contains(answers[2], `"stdout":"ran\n"`) {
		t.Errorf("after the load: %s", answers[2])
	}
}
