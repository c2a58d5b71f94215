package langchaingo

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
)

// Option configures [Install].
type Option func(*config) error

type config struct {
	agent   string
	system  string
	stream  func(ctx context.Context, chunk []byte) error
	history func(ctx context.Context) (schema.ChatMessageHistory, error)
	client  client
	mark    *llms.CacheControl
}

func newConfig(llm llms.Model, opts []Option) (config, error) {
	c := config{agent: "agent", client: clientOf(llm)}
	for _, opt := range opts {
		if err := opt(&c); err != nil {
			return config{}, err
		}
	}
	return c, nil
}

// WithAgentName names the agent inside a session; the default is "agent". What
// one agent loads, the others of the same session do not see. An agent that is a
// tool of another with its name gets a longer one: agent/agent.
func WithAgentName(name string) Option {
	return func(c *config) error {
		if name == "" {
			return fmt.Errorf("%w: agent name %q", errArgument, name)
		}
		c.agent = name
		return nil
	}
}

// WithSystem sends text, verbatim, as the first system message of every
// request. Use it in place of the agent's own system message, which is a Go
// template and fails on braces. It replaces the default system message of
// OpenAIFunctionsAgent, which no option of the framework leaves out; any other
// system message stays and follows.
func WithSystem(text string) Option {
	return func(c *config) error {
		if text == "" {
			return fmt.Errorf("%w: system text %q", errArgument, text)
		}
		c.system = text
		return nil
	}
}

// WithStreaming streams every model call to fn: the text of the assistant and
// nothing else, without the fragments of tool calls that some clients mix in.
// An error of fn ends the model call. The agents and chains of langchaingo drop
// the streaming function of their own callback handler; this one survives. A
// streaming function given for one call (chains.WithStreamingFunc,
// llms.WithStreamingFunc) replaces it for that call.
func WithStreaming(fn func(ctx context.Context, chunk []byte) error) Option {
	return func(c *config) error {
		if fn == nil {
			return fmt.Errorf("%w: streaming function is nil", errArgument)
		}
		c.stream = fn
		return nil
	}
}

// WithHistory carries the earlier turns of a conversation. The decorated agent
// opens the history when a Call begins and puts its messages between the leading
// system messages and the Call's own. When the agent finishes, it adds the user's and
// the assistant's text, or the whole turn to a [TurnHistory]. An agent that works in text
// has the earlier turns as its input "history", unless the Call brings one, and in front of
// its prompt where that asks for none. Inside open,
// satchel.KeyFrom(ctx) tells the session and the agent. A nil history carries nothing.
// An error of open or of the history fails the Call. [Conversations] keeps histories
// in memory.
func WithHistory(open func(ctx context.Context) (schema.ChatMessageHistory, error)) Option {
	return func(c *config) error {
		if open == nil {
			return fmt.Errorf("%w: history function is nil", errArgument)
		}
		c.history = open
		return nil
	}
}

// WithClient sets the client of langchaingo that the model of [Install] wraps, for a host with
// a model type of its own. Clients read requests in different ways, and Install recognises
// only a client itself. The client is not called.
func WithClient(client llms.Model) Option {
	return func(c *config) error {
		if client == nil {
			return fmt.Errorf("%w: client is nil", errArgument)
		}
		c.client = clientOf(client)
		return nil
	}
}
