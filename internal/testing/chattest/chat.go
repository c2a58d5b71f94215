package chattest

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// Chat is a host with one agent, for tests that make each step of a conversation themselves. A
// failed step ends the test.
type Chat struct {
	T        testing.TB
	Runtime  *satchel.Runtime
	Key      core.SessionKey
	Context  context.Context
	Messages []core.Message // the history that the host stores
	IDs      int            // number in the id of the last call
}

// Open opens a runtime over skill files. The end of the test closes it.
func Open(t testing.TB, files fs.FS, opts ...satchel.Option) *satchel.Runtime {
	t.Helper()
	return OpenLogged(t, slog.New(slog.DiscardHandler), files, opts...)
}

// OpenLogged is Open with a logger.
func OpenLogged(t testing.TB, logger *slog.Logger, files fs.FS, opts ...satchel.Option) *satchel.Runtime {
	t.Helper()
	r, err := satchel.New(append([]satchel.Option{satchel.WithSkillFS("world", files), satchel.WithLogger(logger)}, opts...)...)
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

// NewChat returns a conversation without messages.
func NewChat(t testing.TB, r *satchel.Runtime) *Chat {
	return &Chat{T: t, Runtime: r, Key: core.SessionKey{Session: "chat", Agent: "main"}, Context: t.Context()}
}

// Say stores a message.
func (c *Chat) Say(role core.Role, text string) *Chat {
	c.Messages = append(c.Messages, core.Message{Role: role, Text: text})
	return c
}

// View prepares a request with the whole history and returns its messages.
func (c *Chat) View() []core.Message {
	c.T.Helper()
	v, err := c.Runtime.Prepare(c.Context, core.Request{Key: c.Key, Messages: c.Messages})
	if err != nil {
		c.T.Fatal(err)
	}
	return v.Messages
}

// Calls lets the model make calls ("tool arguments") in one response, executes
// them in order, and returns their answers.
func (c *Chat) Calls(calls ...string) []string {
	c.T.Helper()
	var answers []string
	for _, call := range c.Respond(calls...) {
		answers = append(answers, c.Execute(call))
	}
	return answers
}

// Respond stores a response of the model with calls ("tool arguments"). It executes none of them.
func (c *Chat) Respond(calls ...string) []core.ToolCall {
	c.T.Helper()
	c.View()
	var made []core.ToolCall
	for _, call := range calls {
		name, arguments, _ := strings.Cut(call, " ")
		c.IDs++
		made = append(made, core.ToolCall{ID: fmt.Sprintf("id-%d", c.IDs), Name: name, Arguments: arguments})
	}
	c.Observe(made)
	return made
}

// Observe reports a response with calls to the runtime and stores it.
func (c *Chat) Observe(made []core.ToolCall) {
	c.T.Helper()
	if err := c.Runtime.Hooks().Observe(c.Context, c.Key, made); err != nil {
		c.T.Fatal(err)
	}
	c.Messages = append(c.Messages, core.Message{Role: core.Assistant, Calls: made})
}

// Execute runs a call without asking the gate and stores the result.
func (c *Chat) Execute(call core.ToolCall) string {
	c.T.Helper()
	opened, err := c.Runtime.Agent(c.Key).Open(c.Context, call)
	if err != nil {
		c.T.Fatal(err)
	}
	defer opened.Close()
	return c.Run(opened)
}

// Run runs an open call and stores the result.
func (c *Chat) Run(opened *satchel.Call) string {
	c.T.Helper()
	call := opened.ToolCall()
	answer, err := opened.Run(c.Context)
	if err != nil {
		c.T.Fatal(err)
	}
	c.Messages = append(c.Messages, core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: answer})
	return answer
}

// Answer ends the turn with a final answer.
func (c *Chat) Answer(text string) {
	c.T.Helper()
	c.View()
	if err := c.Runtime.Hooks().Observe(c.Context, c.Key, nil); err != nil {
		c.T.Fatal(err)
	}
	c.Say(core.Assistant, text)
}

// Where lists the marks of a [World] in a view, as "message: marks". A message of the host is
// named by its index.
func Where(view []core.Message) []string {
	var out []string
	n := 0
	for _, m := range view {
		name := "inserted"
		if m.Origin != core.Inserted || m.Role != core.System {
			name = fmt.Sprint(n)
			n++
		}
		if found := Marks.FindAllString(m.Added, -1); found != nil {
			out = append(out, name+": "+strings.Join(found, " "))
		}
	}
	return out
}

// LoadedNames lists the loaded skills as "skill[docs]".
func (c *Chat) LoadedNames() []string {
	c.T.Helper()
	all, err := c.Runtime.Loaded(adapter.WithKey(c.Context, c.Key))
	if err != nil {
		c.T.Fatal(err)
	}
	var names []string
	for _, l := range all {
		names = append(names, fmt.Sprint(l.Skill, l.Docs))
	}
	return names
}

// Same fails the test if two lists of texts differ.
func Same(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Shown returns the messages of a view as text, for failures.
func Shown(view []core.Message) string {
	var b strings.Builder
	for _, m := range view {
		fmt.Fprintf(&b, "--- %v %d\n%s\n", m.Role, m.Origin, m.Text)
	}
	return b.String()
}
