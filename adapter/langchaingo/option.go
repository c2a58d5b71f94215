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

// WithAgentName sets the name of the agent inside a session; the default is "agent". Agents of
// one session have separate loads. If an agent is a tool of another one with the same name, its
// name is lengthened to agent/agent.
func WithAgentName(name string) Option {
	return func(c *config) error {
		if name == "" {
			return fmt.Errorf("%w: agent name %q", errArgument, name)
		}
		c.agent = name
		return nil
	}
}

// WithSystem sends text, verbatim, as the first system message of every request. A host uses it
// instead of the agent's own system message, which is a Go template and fails on braces. It
// replaces the default system message of OpenAIFunctionsAgent, which no option of the framework
// turns off. Any other system message stays and follows the text.
func WithSystem(text string) Option {
	return func(c *config) error {
		if text == "" {
			return fmt.Errorf("%w: system text %q", errArgument, text)
		}
		c.system = text
		return nil
	}
}

// WithStreaming streams the assistant's text of every model call to fn, without the fragments
// of tool calls that some clients mix in. An error of fn ends the model call. The agents and
// chains of langchaingo drop the streaming function of their own callback handler, but not this
// one. A streaming function in the options of one call (chains.WithStreamingFunc,
// llms.WithStreamingFunc) replaces fn for that call.
func WithStreaming(fn func(ctx context.Context, chunk []byte) error) Option {
	return func(c *config) error {
		if fn == nil {
			return fmt.Errorf("%w: streaming function is nil", errArgument)
		}
		c.stream = fn
		return nil
	}
}

// WithHistory adds the earlier turns of a conversation to requests. The decorated agent calls
// open when a Call of its executor begins, and puts the messages between the leading system
// messages and the Call's own. When the agent finishes, it adds the texts of the user and the
// assistant, or the whole turn if the history is a [TurnHistory].
//
// An agent that works in text gets the earlier turns as its input "history", unless the Call
// has that input. If its prompt does not contain them, they precede the prompt. In open,
// satchel.KeyFrom(ctx) returns the session and the agent. A nil history adds nothing. An error
// of open or of the history fails the Call. [Conversations] stores histories in memory.
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
// a model type of its own. Clients read requests in different ways, and Install recognises only
// a client itself. Install does not call the client.
func WithClient(client llms.Model) Option {
	return func(c *config) error {
		if client == nil {
			return fmt.Errorf("%w: client is nil", errArgument)
		}
		c.client = clientOf(client)
		return nil
	}
}
