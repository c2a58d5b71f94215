package gate_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// Calls that run at once wait for the loads before them and not for those after.
func TestGateWaitsForLoads(t *testing.T) {
	for range 20 {
		c := listedChat(t)
		calls := c.Respond("search {}", loadEcho, "search {}", "read_file {}")
		want := []bool{false, false, true, false}
		got := make([]bool, len(calls))
		var running sync.WaitGroup
		for i := range slices.Backward(calls) {
			running.Go(func() {
				opened, err := c.Runtime.Agent(c.Key).Open(c.Context, calls[i])
				if err != nil {
					t.Error(err)
					return
				}
				defer opened.Close()
				d, err := opened.Gate(c.Context)
				if got[i] = d.Denied; err != nil {
					t.Error(err)
				}
				if c.Runtime.Hooks().Owns(calls[i].Name) {
					if _, err := opened.Run(c.Context); err != nil {
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
		late func(c *chattest.Chat, load core.ToolCall)
		says string
	}{
		"the gate knows of it": {func(c *chattest.Chat, load core.ToolCall) {
			opened := c.Begin(load)
			time.Sleep(time.Minute) // longer than the gate waits for an unknown call
			c.Run(opened)
			opened.Close()
		}, "Allowed: Bash(echo:*)"},
		"nobody knows of it":     {func(*chattest.Chat, core.ToolCall) {}, again},
		"another response comes": {func(c *chattest.Chat, _ core.ToolCall) { c.Observe([]core.ToolCall{{ID: "x", Name: "read_file"}}) }, again},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := make(chan struct{})
				c := listedChat(t, satchel.WithGate(func(_ context.Context, _ core.SessionKey, call core.ToolCall) core.Decision {
					if call.Name == "search" {
						close(began)
					}
					return core.Decision{}
				}))
				calls := c.Respond(loadEcho, "search {}")
				denied := make(chan core.Decision)
				go func() {
					opened, err := c.Runtime.Agent(c.Key).Open(c.Context, calls[1])
					if err != nil {
						t.Error(err)
						return
					}
					defer opened.Close()
					d, err := opened.Gate(c.Context)
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
		})
	}
}

// Two calls without ids that look the same have a place each.
func TestGateTellsTwinsApart(t *testing.T) {
	c := listedChat(t)
	c.View()
	calls := []core.ToolCall{{Name: "search"}, {Name: "skill_load", Arguments: `{"skill":"echo"}`}, {Name: "search"}}
	c.Observe(calls)
	var denied []bool
	for _, call := range calls {
		denied = append(denied, c.Decide(call).Denied)
		if c.Runtime.Hooks().Owns(call.Name) {
			c.Execute(call)
		}
	}
	if !slices.Equal(denied, []bool{false, false, true}) {
		t.Errorf("denied are %v", denied)
	}
	if !c.Decide(calls[0]).Denied {
		t.Error("asked once more, a call that cannot be told from a later one is allowed")
	}
}

// The place of a call counts in another process too, and none is taken from a
// response before the last.
func TestGateKnowsPlacesAfterARestart(t *testing.T) {
	store := session.NewMemory()
	start := func() *chattest.Chat {
		return chattest.NewChat(t, chattest.Open(t, listedSkills(), satchel.WithStore(store))).Say(core.User, "hi")
	}
	c := start()
	calls := c.Respond("search {}", loadEcho, "search {}")

	c.Execute(calls[1])
	fresh := start()
	for i, want := range []bool{false, false, true} {
		if d := fresh.Decide(calls[i]); d.Denied != want {
			t.Errorf("after a restart, call %d: %+v", i, d)
		}
	}
	// Providers may use an id again in a later response.
	c.Observe([]core.ToolCall{calls[0]})
	if fresh := start(); !fresh.Decide(calls[0]).Denied {
		t.Error("a call passes for one of an earlier response")
	}
	// The gate waits for a load that another process has not begun.
	again := start()
	if d := again.Decide(core.ToolCall{Name: "search"}); !d.Denied {
		t.Error("a call that no response made is not restricted")
	}
}

// A record that is lost is made again with the lists of this turn.
func TestListsAreRebuilt(t *testing.T) {
	c := listedChat(t)
	c.Calls(loadEcho, `skill_load {"skill":"free"}`)
	c.Calls(`skill_unload {"skills":["echo"]}`)
	restarted := func(files fs.FS, mode loadmode.Mode) *chattest.Chat {
		fresh := chattest.NewChat(t, chattest.Open(t, files, satchel.WithLoading(satchel.Loading{Mode: mode})))
		fresh.Messages, fresh.IDs = slices.Clone(c.Messages), 100
		return fresh
	}
	chattest.Same(t, "unloaded in this turn", restarted(listedSkills(), loadmode.Turn).Gate("search {}", "read_file {}"), "!search", "read_file")
	gone := listedSkills()
	delete(gone, "echo/SKILL.md")
	chattest.Same(t, "gone from the catalog", restarted(gone, loadmode.Turn).Gate("search {}", "read_file {}"), "!search", "!read_file")
	c.Turn("next")
	chattest.Same(t, "unloaded in an earlier turn", restarted(listedSkills(), loadmode.Session).Gate("search {}"), "search")
	c.Calls(loadEcho)
	c.Turn("next")
	chattest.Same(t, "loaded in an earlier turn", restarted(listedSkills(), loadmode.Session).Gate("search {}"), "!search")
	chattest.Same(t, "loaded in an earlier turn of mode turn", restarted(listedSkills(), loadmode.Turn).Gate("search {}"), "search")
}
