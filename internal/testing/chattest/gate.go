package chattest

import (
	"context"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// Begin opens a call. The end of the test closes it.
func (c *Chat) Begin(call core.ToolCall) *satchel.Call {
	c.T.Helper()
	opened, err := c.Runtime.Agent(c.Key).Open(c.Context, call)
	if err != nil {
		c.T.Fatal(err)
	}
	c.T.Cleanup(opened.Close)
	return opened
}

// Decide asks the gate about a call of the last response without running it.
func (c *Chat) Decide(call core.ToolCall) core.Decision {
	c.T.Helper()
	d, err := c.Judge(c.Context, c.Key, call)
	if err != nil {
		c.T.Fatal(err)
	}
	return d
}

// Judge is Decide for the call of any agent.
func (c *Chat) Judge(ctx context.Context, key core.SessionKey, call core.ToolCall) (core.Decision, error) {
	opened, err := c.Runtime.Agent(key).Open(ctx, call)
	if err != nil {
		return core.Decision{}, err
	}
	defer opened.Close()
	return opened.Gate(ctx)
}

// Gate lets the model make calls in one response, asks the gate about each, and executes the
// allowed ones. It returns "name" for each allowed call and "!name" for each denied one.
func (c *Chat) Gate(calls ...string) []string {
	c.T.Helper()
	var out []string
	for _, call := range c.Respond(calls...) {
		opened := c.Begin(call)
		d, err := opened.Gate(c.Context)
		if err != nil {
			c.T.Fatal(err)
		}
		if d.Denied {
			out = append(out, "!"+call.Name)
			opened.Close()
			c.Messages = append(c.Messages, core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: d.Reason})
			continue
		}
		out = append(out, call.Name)
		if c.Runtime.Hooks().Owns(call.Name) {
			c.Run(opened)
		} else {
			c.Messages = append(c.Messages, core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: "done"})
		}
		opened.Close()
	}
	return out
}

// Turn ends the turn and begins the next one with a message of the user.
func (c *Chat) Turn(text string) *Chat {
	c.T.Helper()
	c.Answer("done")
	return c.Say(core.User, text)
}
