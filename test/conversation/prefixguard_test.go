package conversation_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// chatWithBreaks makes a chat whose breaks are noted as "message cause".
func chatWithBreaks(t *testing.T, opts ...satchel.Option) (c *chattest.Chat, breaks *[]string) {
	breaks = new([]string)
	note := func(b processors.PrefixBreak) { *breaks = append(*breaks, fmt.Sprint(b.Message, " ", b.Cause)) }
	c = chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(3).Files, append(opts, satchel.WithPrefixGuard(note))...))
	return c.Say(core.System, "You help.").Say(core.User, "one"), breaks
}

func TestPrefixGuardNamesTheCause(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts []satchel.Option
		do   func(c *chattest.Chat)
		want []string
	}{
		{"a turn of loads and selections", nil, func(c *chattest.Chat) {
			c.Calls(`skill_load {"skill":"s0","docs":["d0.md"]}`, "skill_load s1")
			c.Calls(`skill_select_docs {"skill":"s0","docs":["d1.md"],"mode":"add"}`)
			c.Calls("skill_load s0")
			c.View()
		}, nil},
		{"the next turn", []satchel.Option{satchel.WithLoading(satchel.Loading{Mode: loadmode.Turn})}, func(c *chattest.Chat) {
			c.Calls("skill_load s0")
			c.Answer("done")
			c.Say(core.User, "two").View()
		}, []string{"3 turn"}},
		{"session mode", []satchel.Option{satchel.WithLoading(satchel.Loading{Mode: loadmode.Session})}, func(c *chattest.Chat) {
			c.Calls("skill_load s0")
			c.Answer("done")
			c.Say(core.User, "two").View()
		}, nil},
		{"unload", nil, func(c *chattest.Chat) {
			c.Calls("skill_load s0")
			c.Calls("skill_unload s0")
			c.View()
		}, []string{"3 unload"}},
		{"eviction", []satchel.Option{satchel.WithLoading(satchel.Loading{Max: 1})}, func(c *chattest.Chat) {
			c.Calls("skill_load s0")
			c.Calls("skill_load s1")
			c.View()
		}, nil}, // the evicted text stays in view
		{"once", []satchel.Option{satchel.WithLoading(satchel.Loading{Mode: loadmode.Once})}, func(c *chattest.Chat) {
			c.Calls("skill_load s0")
			c.Calls("skill_list_docs s0")
			c.View()
		}, []string{"3 unload"}},
		{"content in the system message", []satchel.Option{satchel.WithLoading(satchel.Loading{Placement: processors.InSystem})}, func(c *chattest.Chat) {
			c.Calls("skill_load s0")
			c.View()
		}, []string{"0 system"}},
		{"history cut by the host", nil, func(c *chattest.Chat) {
			c.Calls("skill_load s0")
			c.View()
			c.Messages = append(c.Messages[:2:2], core.Message{Role: core.Assistant, Text: "short"})
			c.View()
		}, []string{"1 fallback"}},
		{"the host's prompt removed", nil, func(c *chattest.Chat) {
			c.Calls("skill_load s0")
			c.View()
			c.Messages = c.Messages[1:]
			c.View()
		}, []string{"0 host"}},
		{"a prompt of the host where none was", nil, func(c *chattest.Chat) {
			c.Messages = c.Messages[1:]
			c.View()
			c.Messages = append([]core.Message{{Role: core.System, Text: "You help."}}, c.Messages...)
			c.View()
		}, []string{"0 host"}},
		{"a clock in the host's prompt", nil, func(c *chattest.Chat) {
			c.View()
			c.Messages[0].Text = "You help. It is 10:01."
			c.View()
		}, []string{"0 host"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, breaks := chatWithBreaks(t, tt.opts...)
			tt.do(c)
			chattest.Same(t, "breaks", *breaks, tt.want...)
		})
	}
}

func TestPrefixGuardReports(t *testing.T) {
	var log bytes.Buffer
	var events []string
	failed := &failures{}
	c := chattest.NewChat(t, chattest.OpenLogged(t, slog.New(slog.NewTextHandler(&log, nil)), chattest.NewWorld(1).Files,
		satchel.WithEvents(func(_ context.Context, e core.Event) {
			if e.Kind == core.PrefixBroken {
				events = append(events, e.Key.Session+": "+e.Detail)
			}
		}),
		satchel.WithPrefixGuard(processors.FailTest(failed), nil),
		satchel.WithOverview(satchel.Overview{NoGuidance: true, Render: func([]core.Skill) string { return "s0" }}),
	)).Say(core.System, strings.Repeat("You help. ", 40)).Say(core.User, "one")
	c.View()
	c.Messages[0].Text = "It is noon."
	c.View()
	chattest.Same(t, "failures", failed.list, "prefix breaks at message 0 (system), cause host: about 2 tokens are sent again")
	chattest.Same(t, "events", events, "chat: "+failed.list[0])
	if got := log.String(); !strings.Contains(got, "level=WARN") || !strings.Contains(got, `cause=host block="message 0 (system)" tokens=2`) {
		t.Errorf("log is %q", got)
	}
}

type failures struct{ list []string }

func (f *failures) Helper() {}
func (f *failures) Errorf(format string, args ...any) {
	f.list = append(f.list, fmt.Sprintf(format, args...))
}

// Tools are compared where the host gives them.
func TestPrefixGuardSeesTools(t *testing.T) {
	c, breaks := chatWithBreaks(t)
	prepare := func(tools ...core.Definition) {
		t.Helper()
		if _, err := c.Runtime.Prepare(c.Context, core.Request{Key: c.Key, Messages: c.Messages, Definitions: tools}); err != nil {
			t.Fatal(err)
		}
	}
	one, two := core.Definition{Name: "one"}, core.Definition{Name: "two"}
	prepare(one)
	prepare(one)
	prepare(one, two)
	c.Messages[0].Text = "You help. It is 10:01."
	prepare(one, two)
	prepare(two, one)
	chattest.Same(t, "breaks", *breaks, "-1 tools", "0 host", "-1 tools")
}

// BenchmarkPrepareGuarded is BenchmarkPrepare with the guard on: without and with
// tools, and with a break in each request.
func BenchmarkPrepareGuarded(b *testing.B) {
	var definitions []core.Definition
	for i := range 12 {
		definitions = append(definitions, core.Definition{Name: fmt.Sprint("tool ", i), Description: "Does it.", Schema: &struct{}{}})
	}
	on := satchel.WithPrefixGuard()
	for _, bench := range []struct {
		name  string
		opts  []satchel.Option
		tools []core.Definition
		clock bool
	}{
		{"off", nil, nil, false},
		{"on", []satchel.Option{on}, nil, false},
		{"on, tools", []satchel.Option{on}, definitions, false},
		{"a tracer", []satchel.Option{satchel.WithTrace(noTracer{})}, nil, false},
		{"off, host's break", nil, nil, true},
		{"on, host's break", []satchel.Option{on}, nil, true},
	} {
		b.Run(bench.name, func(b *testing.B) {
			c := load{12, 60, 3, 0}.long(b, bench.opts...)
			req := core.Request{Key: c.Key, Messages: c.Messages, Definitions: bench.tools}
			times := []string{"You help. It is 10:01.", "You help. It is 10:02."}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if bench.clock {
					req.Messages[0].Text = times[i%2]
				}
				if _, err := c.Runtime.Prepare(c.Context, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A turn that failed or was cancelled leaves no messages behind, and that is no break. What
// stood before it still has to stay.
func TestPrefixGuardAfterATurnThatWasLeft(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(c *chattest.Chat, before int)
		want []string
	}{
		{"another message", func(c *chattest.Chat, before int) { c.Messages = c.Messages[:before]; c.Say(core.User, "three").View() }, nil},
		{"the same turn again", func(c *chattest.Chat, before int) {
			c.Messages = c.Messages[:before+1]
			c.Context = satchel.BeginTurn(t.Context(), "t")
			c.View()
		}, nil},
		{"twice", func(c *chattest.Chat, before int) {
			for _, text := range []string{"three", "four"} {
				c.Messages = c.Messages[:before]
				c.Say(core.User, text).Calls("skill_load s1")
				c.View()
			}
			c.Messages = c.Messages[:before]
			c.Say(core.User, "five").View()
		}, nil},
		{"an earlier message is gone too", func(c *chattest.Chat, before int) {
			c.Messages = append(c.Messages[:before-1:before-1], core.Message{Role: core.User, Text: "three"})
			c.View()
		}, []string{"3 turn"}},
		{"a turn that was answered", func(c *chattest.Chat, before int) {
			c.Answer("done")
			c.Messages = c.Messages[:before]
			c.Say(core.User, "three").View()
		}, []string{"5 host"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, breaks := chatWithBreaks(t)
			c.Calls("skill_load s0")
			c.Answer("one")
			before := len(c.Messages)
			c.Context = satchel.BeginTurn(t.Context(), "t")
			c.Say(core.User, "two").Calls("skill_load s1")
			c.Calls("skill_load s2")
			c.View()
			if *breaks = nil; tt.want == nil {
				tt.want = []string{}
			}
			c.Context = t.Context()
			if tt.do(c, before); fmt.Sprint(*breaks) != fmt.Sprint(tt.want) {
				t.Errorf("breaks %q, want %q", *breaks, tt.want)
			}
		})
	}
}
