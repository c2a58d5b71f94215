package conversation_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// A host that changes the messages before the content within a turn breaks the prefix. The break
// takes the texts of ended loads that do not pay to be sent again, and nothing that the turn uses.
// The next view of the request is the same, also in another process and on another replica.
func TestAHostsCutWithinATurnClears(t *testing.T) {
	noon := func(c *chattest.Chat) { c.Messages[0].Text += " It is noon." }
	for name, tt := range map[string]struct {
		prompt, call string
		change       func(c *chattest.Chat)
		want         []string
	}{
		"nothing is used":       {"Thank you.", `search x`, noon, nil},
		"no change":             {"Thank you.", `search x`, func(*chattest.Chat) {}, []string{"pdf", "xlsx"}},
		"a change behind them":  {"Thank you.", `search x`, func(c *chattest.Chat) { c.Messages[len(c.Messages)-1].Text = "found more" }, []string{"pdf", "xlsx"}},
		"a file of one is read": {"Thank you.", `skill_read {"skill":"xlsx","path":"data.csv"}`, noon, []string{"xlsx"}},
		"one is loaded":         {"Thank you.", `skill_load pdf`, noon, []string{"pdf"}},
		"the prompt is about":   {"Merge the form.", `search x`, noon, []string{"pdf"}},
		"a compaction": {"Thank you.", `search x`, func(c *chattest.Chat) {
			summary := core.Message{Role: core.User, Text: "So far: work was asked for.", Rewritten: true}
			c.Messages = append([]core.Message{c.Messages[0], summary}, c.Messages[2:]...)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			files, store := officeSkills(), session.NewMemory()
			files["xlsx/data.csv"] = &fstest.MapFile{Data: []byte("a,b")}
			var cleared []string
			opts := []satchel.Option{satchel.WithLoading(satchel.Loading{Prices: free}), satchel.WithStore(store),
				satchel.WithEvents(func(_ context.Context, e core.Event) {
					if e.Kind == core.TextCleared {
						cleared = append(cleared, e.Skill+" "+e.Cause)
					}
				})}
			c := chattest.NewChat(t, chattest.Open(t, files, opts...)).Say(core.System, "You help.").Say(core.User, "Work.")
			c.Calls("skill_load pdf", "skill_load xlsx")
			c.Answer("done")
			c.Say(core.User, tt.prompt).Calls(tt.call)
			tt.change(c)
			view := c.View()
			chattest.Same(t, "in view", inView(view), tt.want...)
			var want []string
			for _, skill := range []string{"pdf", "xlsx"} {
				if !slices.Contains(tt.want, skill) {
					want = append(want, skill+" break")
				}
			}
			chattest.Same(t, "cleared", cleared, want...)
			version := chattest.RecordOf(t, store, c.Key).Version
			if !reflect.DeepEqual(c.View(), view) {
				t.Error("a retry has another view")
			}
			for range 2 {
				c.Runtime = chattest.Open(t, files, opts...)
				if again := c.View(); !reflect.DeepEqual(again, view) {
					t.Errorf("another process has the view\n%s\nfirst\n%s", chattest.Shown(again), chattest.Shown(view))
				}
			}
			if now := chattest.RecordOf(t, store, c.Key).Version; now != version {
				t.Errorf("%d saves for retries", now-version)
			}
		})
	}
}

// A turn that a host begins again, with its messages as they were before the cut, has its first
// view again.
func TestATurnBeginsAgainAsBeforeTheCut(t *testing.T) {
	c := chattest.NewChat(t, chattest.Open(t, officeSkills(), satchel.WithLoading(satchel.Loading{Prices: loadmode.Prices{Write: 1}}))).
		Say(core.System, "You help.").Say(core.User, "Work.")
	c.Context = satchel.BeginTurn(t.Context(), "one")
	c.Calls("skill_load pdf")
	c.Answer("done")
	c.Say(core.User, "Thank you.")
	c.Context = satchel.BeginTurn(t.Context(), "two")
	first, messages := c.View(), slices.Clone(c.Messages)
	c.Messages[0].Text += " It is noon."
	chattest.Same(t, "in view after the cut", inView(c.View()))
	c.Messages, c.Context = messages, satchel.BeginTurn(t.Context(), "two")
	if again := c.View(); !reflect.DeepEqual(again, first) || len(inView(again)) != 1 {
		t.Errorf("the turn begins again with\n%s\nfirst with\n%s", chattest.Shown(again), chattest.Shown(first))
	}
}
