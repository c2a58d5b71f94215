package eino

import (
	"errors"

	"github.com/cloudwego/eino/schema"
)

// Option configures an [Adapter].
type Option func(*config) error

type config struct {
	agent       string
	isRewritten func(*schema.Message) bool // nil: isEinoRewrite
	noFiles     bool
	mark        func(*schema.Message) *schema.Message
}

func newConfig(opts []Option) (s config, err error) {
	for _, opt := range opts {
		if err := opt(&s); err != nil {
			return config{}, err
		}
	}
	return s, nil
}

// WithAgentName sets the agent's name in the key of its state. By default it is the Name of an
// adk configuration, the GraphName of a react configuration (or "react"), and empty for [New].
// Agents of one session need different names. If an agent is a tool of another one with the
// same name, its name is lengthened, as in react/react.
func WithAgentName(name string) Option {
	return func(s *config) error {
		s.agent = name
		return nil
	}
}

// WithRewritten sets the function that recognises user messages which no user wrote. A host
// with its own adk.HistoryRewriter needs it, so that a rewritten message never begins a user
// turn. The default recognises the text of Eino's own rewriter ("For context: [agent] said:
// ….") in runs with more than one agent. Messages that adk's own middlewares insert, such as
// summaries, are recognised in any case.
func WithRewritten(rewritten func(*schema.Message) bool) Option {
	return func(s *config) error {
		if rewritten == nil {
			return errors.New("WithRewritten: the function is nil")
		}
		s.isRewritten = rewritten
		return nil
	}
}

// WithoutFileParts removes the file parts of user messages from requests, for clients that
// refuse them, such as Eino's OpenAI client. Commands still find the files in the workspace,
// and the messages say where. Pictures, audio and video stay. Without the option, if a client
// names the type of the part in its error, the adapter repeats the request without file parts.
// It then removes them from later requests too.
func WithoutFileParts() Option {
	return func(s *config) error {
		s.noFiles = true
		return nil
	}
}
