package eino

import (
	"errors"

	"github.com/cloudwego/eino/schema"
)

// Option configures an [Adapter].
type Option func(*settings) error

type settings struct {
	agent     string
	rewritten func(*schema.Message) bool // nil: as Eino's rewriter does
	noFiles   bool
	mark      func(*schema.Message) *schema.Message
}

func newSettings(opts []Option) (s settings, err error) {
	for _, opt := range opts {
		if err := opt(&s); err != nil {
			return settings{}, err
		}
	}
	return s, nil
}

// WithAgentName sets the agent's name in the key of its state. By default it is
// the Name of an adk configuration, the GraphName of a react configuration (or
// "react"), and empty for [New]. Agents of one session need different names; one
// that is a tool of another with its name gets a longer one, such as react/react.
func WithAgentName(name string) Option {
	return func(s *settings) error {
		s.agent = name
		return nil
	}
}

// WithRewritten sets how to recognise a user message that no user wrote. A host
// with its own adk.HistoryRewriter needs it, so that a rewritten message never
// begins a user turn. The default recognises the text of Eino's own rewriter
// ("For context: [agent] said: ….") in runs that more than one agent has a part in.
// Messages that adk's own middlewares insert, such as summaries, are recognised
// in any case.
func WithRewritten(rewritten func(*schema.Message) bool) Option {
	return func(s *settings) error {
		if rewritten == nil {
			return errors.New("WithRewritten: the function is nil")
		}
		s.rewritten = rewritten
		return nil
	}
}

// WithoutFileParts leaves the file parts of user messages out of what the model is
// sent, for clients that refuse them, such as Eino's OpenAI client. The files are
// staged for commands all the same, and their messages say where. Pictures, audio and
// video stay. Without the option, a client that names the type of the part in its error
// is asked once more without file parts, which later requests leave out too.
func WithoutFileParts() Option {
	return func(s *settings) error {
		s.noFiles = true
		return nil
	}
}
