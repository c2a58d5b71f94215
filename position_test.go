package satchel_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// Calls that run at once wait for the loads before them and not for those after.
func TestGateWaitsForLoads(t *testing.T) {
	for range 20 {
		c := listedChat(t)
		calls := c.respond("search {}", loadEcho, "search {}", "read_file {}")
		want := []bool{false, false, true, false}
		got := make([]bool, len(calls))
		var running sync.WaitGroup
		for i := range slices.Backward(calls) {
			running.Go(func() {
				defer c.runtime.Finished(c.key, calls[i])
				d, err := c.runtime.Gate(c.ctx, c.key, calls[i])
				if got[i] = d.Denied; err != nil {
					t.Error(err)
				}
				if c.runtime.Owns(calls[i].Name) {
					if _, err := c.runtime.CallTool(c.ctx, c.key, calls[i]); err != nil {
						t.Error(err)
					}
				}
			})
		}
		running.Wait()
		if !slices.Equal(got, want) {
			t.Fatalf("denied are %v, want %v", got, want)
		}
	}
}

// A load before a call may bring a list, however long it takes to begin.
func TestGateAfterALateLoad(t *testing.T) {
	again := "Make this call again"
	for name, tt := range map[string]struct {
		late func(c *chat, load core.ToolCall)
		says string
	}{
		"the gate knows of it": {func(c *chat, load core.ToolCall) {
			c.decide(load)
			time.Sleep(2500 * time.Millisecond) // longer than what nobody knows of is waited for
			c.execute(load)
			c.runtime.Finished(c.key, load)
		}, "Allowed: Bash(echo:*)"},
		"nobody knows of it":     {func(*chat, core.ToolCall) {}, again},
		"another response comes": {func(c *chat, _ core.ToolCall) { c.observe([]core.ToolCall{{ID: "x", Name: "read_file"}}) }, again},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := make(chan struct{})
			c := listedChat(t, satchel.WithGate(func(_ context.Context, _ core.SessionKey, call core.ToolCall) core.Decision {
				if call.Name == "search" {
					close(began)
				}
				return core.Decision{}
			}))
			calls := c.respond(loadEcho, "search {}")
			denied := make(chan core.Decision)
			go func() {
				d, err := c.runtime.Gate(c.ctx, c.key, calls[1])
				if err != nil {
					t.Error(err)
				}
				denied <- d
			}()
			<-began
			tt.late(c, calls[0])
			if d := <-denied; !d.Denied || !strings.Contains(d.Reason, tt.says) {
				t.Errorf("%+v", d)
			}
		})
	}
}

// Two calls without ids that look the same have a place each.
func TestGateTellsTwinsApart(t *testing.T) {
	c := listedChat(t)
	c.view()
	calls := []core.ToolCall{{Name: "search"}, {Name: "skill_load", Arguments: `{"skill":"echo"}`}, {Name: "search"}}
	c.observe(calls)
	var denied []bool
	for _, call := range calls {
		denied = append(denied, c.decide(call).Denied)
		if c.runtime.Owns(call.Name) {
			c.execute(call)
		}
	}
	if !slices.Equal(denied, []bool{false, false, true}) {
		t.Errorf("denied are %v", denied)
	}
	if !c.decide(calls[0]).Denied {
		t.Error("asked once more, a call that cannot be told from a later one is allowed")
	}
}

// The place of a call counts in another process too, and none is taken from a
// response before the last.
func TestGateKnowsPlacesAfterARestart(t *testing.T) {
	store := session.NewMemory()
	start := func() *chat {
		return newChat(t, open(t, listedSkills(), satchel.WithStore(store))).say(core.User, "hi")
	}
	c := start()
	calls := c.respond("search {}", loadEcho, "search {}")
	c.decide(calls[1])
	c.execute(calls[1])
	fresh := start()
	for i, want := range []bool{false, false, true} {
		if d := fresh.decide(calls[i]); d.Denied != want {
			t.Errorf("after a restart, call %d: %+v", i, d)
		}
	}
	// Providers repeat ids.
	c.observe([]core.ToolCall{calls[0]})
	if fresh := start(); !fresh.decide(calls[0]).Denied {
		t.Error("a call passes for one of an earlier response")
	}
	// A load that another process has not begun is waited for.
	again := start()
	if d := again.decide(core.ToolCall{Name: "search"}); !d.Denied {
		t.Error("a call that no response made is not restricted")
	}
}

// A record that is lost is made again with the lists of this turn.
func TestListsAreRebuilt(t *testing.T) {
	c := listedChat(t)
	c.calls(loadEcho, `skill_load {"skill":"free"}`)
	c.calls(`skill_unload {"skills":["echo"]}`)
	restarted := func(files fstest.MapFS, mode loadmode.Mode) *chat {
		fresh := newChat(t, open(t, files, satchel.WithLoadMode(mode)))
		fresh.messages, fresh.ids = slices.Clone(c.messages), 100
		return fresh
	}
	same(t, "unloaded in this turn", restarted(listedSkills(), loadmode.Turn).gate("search {}", "read_file {}"), "!search", "read_file")
	gone := listedSkills()
	delete(gone, "echo/SKILL.md")
	same(t, "gone from the catalog", restarted(gone, loadmode.Turn).gate("search {}", "read_file {}"), "!search", "!read_file")
	c.turn("next")
	same(t, "unloaded in an earlier turn", restarted(listedSkills(), loadmode.Session).gate("search {}"), "search")
	c.calls(loadEcho)
	c.turn("next")
	same(t, "loaded in an earlier turn", restarted(listedSkills(), loadmode.Session).gate("search {}"), "!search")
	same(t, "loaded in an earlier turn of mode turn", restarted(listedSkills(), loadmode.Turn).gate("search {}"), "search")
}
