package conversation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// free are prices at which carrying costs nothing and a break does.
var free = loadmode.Prices{Write: 1}

func TestPricesDecideWhatStays(t *testing.T) {
	for name, tt := range map[string]struct {
		opts  []satchel.Option
		stays bool
	}{
		"free to carry": {[]satchel.Option{satchel.WithLoading(satchel.Loading{Prices: free})}, true},
		"by its mode":   {[]satchel.Option{satchel.WithLoading(satchel.Loading{Prices: free, Mode: loadmode.Adaptive})}, true},
		"the default":   {nil, true},
		"mode turn":     {[]satchel.Option{satchel.WithLoading(satchel.Loading{Mode: loadmode.Turn, Prices: free})}, false},
		"a policy":      {[]satchel.Option{satchel.WithLoading(satchel.Loading{Clearing: goes})}, false},
		"in system":     {[]satchel.Option{satchel.WithLoading(satchel.Loading{Prices: free, Placement: processors.InSystem})}, false},
		"mode once":     {[]satchel.Option{satchel.WithLoading(satchel.Loading{Prices: free, Mode: loadmode.Once})}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(2)
			c := secondTurn(t, w, tt.opts...)
			if got := len(chattest.Where(c.View())); (got > 0) != tt.stays {
				t.Errorf("%d texts are in view, want any: %v", got, tt.stays)
			}
			chattest.Same(t, "loaded skills", c.LoadedNames())
		})
	}
}

// What carrying costs as much as writing is cleared when it has paid its rent, and
// what comes back each turn is then kept.
func TestWhatComesBackIsLearnt(t *testing.T) {
	w, store := chattest.NewWorld(1), session.NewMemory()
	c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithLoading(satchel.Loading{Prices: loadmode.DefaultPrices()}), satchel.WithStore(store))).Say(core.System, "You help.")
	body := chattest.BodyMark("s0", w.Skills["s0"].Body)
	loads := 0
	for turn := range 12 {
		c.Say(core.User, fmt.Sprint("turn ", turn))
		if got := chattest.Where(c.View()); len(got) == 0 {
			c.Calls("skill_load s0")
			loads++
		}
		c.Calls("search x")
		c.Answer("done")
	}
	rec := chattest.RecordOf(t, store, c.Key)
	if loads > 6 {
		t.Errorf("loaded %d times in 12 turns that all need %s: %+v", loads, body, rec.Returns)
	}
	data, err := json.Marshal(rec.Returns)
	if err != nil || len(rec.Returns.Skills) != 1 || len(data) > 200 {
		t.Errorf("the record keeps %s, %v", data, err)
	}
}

// The decision is in the record and the request: another process decides the same,
// also whether the cache is cold.
func TestPricesDecideTheSameElsewhere(t *testing.T) {
	for pause, want := range map[time.Duration]bool{time.Minute: true, time.Hour: false} {
		t.Run(pause.String(), func(t *testing.T) {
			var views [2][]core.Message
			for i := range views {
				synctest.Test(t, func(t *testing.T) {
					w, store := chattest.NewWorld(1), session.NewMemory()
					opts := []satchel.Option{satchel.WithLoading(satchel.Loading{Prices: loadmode.Prices{Write: 1, TTL: 5 * time.Minute}}), satchel.WithStore(store)}
					c := chattest.NewChat(t, chattest.Open(t, w.Files, opts...)).Say(core.User, "one")
					c.Calls("skill_load s0")
					c.Answer("done")
					time.Sleep(pause)
					if i == 1 {
						c.Runtime = chattest.Open(t, w.Files, opts...)
					}
					views[i] = c.Say(core.User, "two").View()
				})
			}
			if !reflect.DeepEqual(views[0], views[1]) {
				t.Errorf("after a restart the view is\n%s\nwas\n%s", chattest.Shown(views[1]), chattest.Shown(views[0]))
			}
			if got := len(chattest.Where(views[0])) > 0; got != want {
				t.Errorf("in view after %v: %v, want %v", pause, got, want)
			}
		})
	}
}

func TestBadPrices(t *testing.T) {
	_, err := satchel.New(satchel.WithLoading(satchel.Loading{Prices: loadmode.Prices{Read: 2, Write: 1}}))
	if !errors.Is(err, satchel.ErrOption) || !strings.Contains(err.Error(), "invalid prices") {
		t.Errorf("error %v", err)
	}
}

// Whatever prices decide, the view keeps its invariants.
func TestPricesKeepTheInvariants(t *testing.T) {
	t.Parallel()
	seeds := uint64(40)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 8))
		read := r.Float64() / 4
		keepInvariants(t, r, seed, satchel.Loading{Prices: loadmode.Prices{Read: read, Write: read + r.Float64()}, Max: 2})
	}
}

// Where the host has changed what stands before the content, the cache holds nothing of
// it any more, and clearing is free; after a change behind it, it is not.
func TestAHostsBreakClearsForFree(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(c *chattest.Chat)
		stays  bool
	}{
		"no change":        {func(*chattest.Chat) {}, true},
		"system text":      {func(c *chattest.Chat) { c.Messages[0].Text = "You help. It is noon." }, false},
		"what a user said": {func(c *chattest.Chat) { c.Messages[1].Text = "uno" }, false},
		"a compaction": {func(c *chattest.Chat) {
			summary := core.Message{Role: core.User, Text: "So far: one was asked.", Rewritten: true}
			c.Messages = append([]core.Message{c.Messages[0], summary}, c.Messages[2:]...)
		}, false},
		"behind it": {func(c *chattest.Chat) { c.Messages[len(c.Messages)-2].Text = "well done" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := secondTurn(t, chattest.NewWorld(1), satchel.WithLoading(satchel.Loading{Prices: free}))
			tt.change(c)
			if got := len(chattest.Where(c.View())) > 0; got != tt.stays {
				t.Errorf("in view: %v, want %v", got, tt.stays)
			}
			if !tt.stays {
				return
			}
			// Repeat the step, now that clearing kept the content.
			c.Answer("done")
			c.Say(core.User, "three")
			tt.change(c)
			if got := len(chattest.Where(c.View())) > 0; !got {
				t.Error("nothing is in view in the third turn")
			}
			c.Answer("done")
			c.Messages[0].Text = "You are another."
			if got := chattest.Where(c.Say(core.User, "four").View()); len(got) > 0 {
				t.Errorf("in view after a break in the third turn: %q", got)
			}
		})
	}
}

// The time of a request is saved once in a quarter of the TTL, and only while there is
// content that could be cleared.
func TestTheTimeOfARequestIsSavedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := chattest.NewWorld(1), session.NewMemory()
		opts := []satchel.Option{satchel.WithLoading(satchel.Loading{Prices: loadmode.Prices{Write: 1, TTL: 8 * time.Minute}}), satchel.WithStore(store)}
		c := chattest.NewChat(t, chattest.Open(t, w.Files, opts...)).Say(core.User, "one")
		version := func() int64 {
			c.View()
			rec := chattest.RecordOf(t, store, c.Key)
			return rec.Version
		}
		at := version()
		time.Sleep(7 * time.Minute)
		if got := version(); got != at {
			t.Errorf("%d saves without content", got-at)
		}
		c.Calls("skill_load s0")
		at = version()
		for range 5 { // views save the record once in two minutes
			time.Sleep(time.Minute)
			c.View()
		}
		if got := version(); got != at+2 {
			t.Errorf("%d saves in 5 minutes, want 2", got-at)
		}
		c.Answer("done")
		time.Sleep(7 * time.Minute)
		c.Runtime = chattest.Open(t, w.Files, opts...)
		if got := chattest.Where(c.Say(core.User, "two").View()); len(got) == 0 {
			t.Error("another process takes the cache for cold")
		}
	})
}

// A cut, or a change, within a turn makes a prefix that the cache holds when the next
// turn begins: then clearing is not free. A host that changes it with each request has it
// saved a few times a turn.
func TestACutWithinATurnIsCachedAfterIt(t *testing.T) {
	cut := func(c *chattest.Chat) {
		summary := core.Message{Role: core.User, Text: "So far: one was asked.", Rewritten: true}
		c.Messages = append([]core.Message{c.Messages[0], summary}, c.Messages[2:]...)
	}
	system := func(c *chattest.Chat) { c.Messages[0].Text += " It is noon." }
	for name, tt := range map[string]struct {
		change         func(c *chattest.Chat)
		again, restart bool // again: the change is repeated before the next turn; restart: another process continues
	}{
		"a compaction":            {change: cut},
		"a compaction, a restart": {change: cut, restart: true},
		"system text":             {change: system},
		"changes again":           {change: system, again: true},
	} {
		t.Run(name, func(t *testing.T) {
			w, store := chattest.NewWorld(1), session.NewMemory()
			opts := []satchel.Option{satchel.WithLoading(satchel.Loading{Prices: free}), satchel.WithStore(store)}
			c := secondTurn(t, w, opts...)
			c.Calls("skill_load s0") // what the turn uses stays at the change
			tt.change(c)
			if got := chattest.Where(c.View()); len(got) == 0 {
				t.Fatal("nothing is in view after the change")
			}
			if tt.restart {
				c.Runtime = chattest.Open(t, w.Files, opts...)
			}
			c.Answer("done")
			c.Say(core.User, "three")
			if tt.again {
				tt.change(c)
			}
			if got := len(chattest.Where(c.View())) > 0; got == tt.again {
				t.Errorf("in view where the next turn begins: %v", got)
			}
		})
	}
	t.Run("with each request", func(t *testing.T) {
		store := session.NewMemory()
		c := secondTurn(t, chattest.NewWorld(1), satchel.WithLoading(satchel.Loading{Prices: free}), satchel.WithStore(store))
		c.View()
		version := func() int64 {
			rec := chattest.RecordOf(t, store, c.Key)
			return rec.Version
		}
		before := version()
		for range 20 {
			system(c)
			c.View()
		}
		if got := version() - before; got != 4 {
			t.Errorf("%d saves for 20 changes, want 4", got)
		}
	})
}

// A superseded text also stays where a turn begins, while nothing before it is cleared: the
// prefix does not break for it. It goes with what supersedes it, and where the cache is cold.
func TestSupersededTextBreaksNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(c *chattest.Chat)
		stays  bool
	}{
		"kept":          {func(*chattest.Chat) {}, true},
		"a dead prefix": {func(c *chattest.Chat) { c.Messages[0].Text = "You are another." }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(2)
			c := secondTurn(t, w, satchel.WithLoading(satchel.Loading{Prices: free}))
			old := chattest.BodyMark("s0", w.Skills["s0"].Body)
			w.EditBody("s0")
			c.Calls("skill_load s0")
			w.EditDoc("s0", "d0.md")
			c.Calls(`skill_select_docs {"skill":"s0","docs":["d0.md"]}`)
			c.Answer("done")
			before := c.View()
			if !strings.Contains(chattest.Shown(before), old) {
				t.Fatalf("the superseded text is not in view:\n%s", chattest.Shown(before))
			}
			for turn := range 3 {
				c.Say(core.User, fmt.Sprint("turn ", turn))
				tt.change(c)
				after := c.View()
				if is := strings.Contains(chattest.Shown(after), old); is != tt.stays {
					t.Errorf("turn %d: the superseded text is in view: %v, want %v\n%s", turn, is, tt.stays, chattest.Shown(after))
				}
				if tt.stays && !reflect.DeepEqual(after[:len(before)], before) {
					t.Errorf("turn %d: the prefix breaks\n%s", turn, chattest.Shown(after))
				}
				c.Answer("done")
			}
		})
	}
}
