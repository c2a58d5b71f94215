package satchel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// chat is a host with one agent for tests that say each step.
type chat struct {
	t        testing.TB
	runtime  *satchel.Runtime
	key      core.SessionKey
	ctx      context.Context
	messages []core.Message
	ids      int
}

// open makes a runtime over a world.
func open(t testing.TB, files fstest.MapFS, opts ...satchel.Option) *satchel.Runtime {
	t.Helper()
	r, err := satchel.New(append([]satchel.Option{satchel.WithSkillFS("world", files)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func newChat(t testing.TB, r *satchel.Runtime) *chat {
	return &chat{t: t, runtime: r, key: core.SessionKey{Session: "chat", Agent: "main"}, ctx: t.Context()}
}

func (c *chat) say(role core.Role, text string) *chat {
	c.messages = append(c.messages, core.Message{Role: role, Text: text})
	return c
}

// view prepares the request as it is now.
func (c *chat) view() []core.Message {
	c.t.Helper()
	v, err := c.runtime.Prepare(c.ctx, core.Request{Key: c.key, Messages: c.messages})
	if err != nil {
		c.t.Fatal(err)
	}
	return v.Messages
}

// calls lets the model make calls ("tool arguments") in one response, executes
// them in order, and returns their answers.
func (c *chat) calls(calls ...string) []string {
	c.t.Helper()
	made := c.respond(calls...)
	var answers []string
	for _, call := range made {
		answers = append(answers, c.execute(call))
	}
	return answers
}

// respond stores a response with calls.
func (c *chat) respond(calls ...string) []core.ToolCall {
	c.t.Helper()
	c.view()
	var made []core.ToolCall
	for _, call := range calls {
		name, arguments, _ := strings.Cut(call, " ")
		c.ids++
		made = append(made, core.ToolCall{ID: fmt.Sprintf("id-%d", c.ids), Name: name, Arguments: arguments})
	}
	c.observe(made)
	return made
}

func (c *chat) observe(made []core.ToolCall) {
	c.t.Helper()
	if err := c.runtime.Observe(c.ctx, c.key, made); err != nil {
		c.t.Fatal(err)
	}
	c.messages = append(c.messages, core.Message{Role: core.Assistant, Calls: made})
}

// execute answers a call and stores the result.
func (c *chat) execute(call core.ToolCall) string {
	c.t.Helper()
	answer, err := c.runtime.CallTool(c.ctx, c.key, call)
	if err != nil {
		c.t.Fatal(err)
	}
	c.messages = append(c.messages, core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: answer})
	return answer
}

// answer ends the turn.
func (c *chat) answer(text string) {
	c.t.Helper()
	c.view()
	if err := c.runtime.Observe(c.ctx, c.key, nil); err != nil {
		c.t.Fatal(err)
	}
	c.say(core.Assistant, text)
}

// where lists what a view shows as "message: marks", host messages by index.
func where(view []core.Message) []string {
	var out []string
	n := 0
	for _, m := range view {
		name := "inserted"
		if m.Origin != core.Inserted || m.Role != core.System {
			name = fmt.Sprint(n)
			n++
		}
		if found := marks.FindAllString(m.Added, -1); found != nil {
			out = append(out, name+": "+strings.Join(found, " "))
		}
	}
	return out
}

// loadedNames lists what is loaded as "skill[docs]".
func (c *chat) loadedNames() []string {
	c.t.Helper()
	all, err := c.runtime.Loaded(satchel.WithKey(c.ctx, c.key))
	if err != nil {
		c.t.Fatal(err)
	}
	var names []string
	for _, l := range all {
		names = append(names, fmt.Sprint(l.Skill, l.Docs))
	}
	return names
}

// same compares lists of texts.
func same(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
