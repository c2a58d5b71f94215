package langchaingo

import (
	"context"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// defaultSystem is what OpenAIFunctionsAgent sends when the host gives it no
// system message.
const defaultSystem = "You are a helpful AI assistant."

// request is what one call sends.
type request struct {
	messages  []llms.MessageContent
	responses int // of the assistant, before the client's shape splits them
	noSkills  bool
}

// request makes the view of one call.
func (m *viewModel) request(ctx context.Context, key core.SessionKey, r *run, messages []llms.MessageContent, asked *llms.CallOptions) (request, error) {
	s := scratches.Get().(*scratch)
	defer s.release()
	msgs := s.outgoing(m.adapter, messages, r)
	refs := s.refer(msgs)
	view, err := m.adapter.runtime.Prepare(adapter.WithHostTools(ctx, m.adapter.hostNames()), core.Request{
		Key: key, Messages: refs, Files: attached(msgs, refs), Tools: m.adapter.names, Definitions: m.adapter.definitions(asked), Space: s.space,
	})
	if err != nil {
		return request{}, err
	}
	s.space = view.Messages
	return request{
		messages:  s.laidOut(m.adapter, msgs, view.Messages),
		responses: countResponses(msgs),
		noSkills:  view.NoSkills,
	}, nil
}

// laidOut is the request that the view describes, in memory of its own.
func (s *scratch) laidOut(k *Adapter, msgs []llms.MessageContent, view []core.Message) []llms.MessageContent {
	c := &k.config
	if !c.client.copies() {
		out := apply(msgs, view)
		k.sendable(out)
		return c.client.shape(c.marked(out, view))
	}
	s.viewed = appendView(s.viewed[:0], msgs, view)
	k.sendable(s.viewed)
	return c.client.shape(c.marked(s.viewed, view))
}

// sendable writes names of tools that do not exist, and arguments that are no JSON object, in
// a form that services accept. Otherwise they would refuse this request and every later one.
// No part is changed in place.
func (a *Adapter) sendable(msgs []llms.MessageContent) {
	for i := range msgs {
		for j, part := range msgs[i].Parts {
			var safe llms.ContentPart
			switch p := part.(type) {
			case llms.ToolCall:
				if p.FunctionCall == nil {
					continue
				}
				call := llms.FunctionCall{Name: a.sendableName(p.FunctionCall.Name), Arguments: objectArguments(p.FunctionCall.Arguments)}
				if call == *p.FunctionCall {
					continue
				}
				p.FunctionCall = &call
				safe = p
			case llms.ToolCallResponse:
				if p.Name == "" || a.sendableName(p.Name) == p.Name {
					continue
				}
				p.Name = a.sendableName(p.Name)
				safe = p
			default:
				continue
			}
			msgs[i].Parts = slices.Clone(msgs[i].Parts)
			msgs[i].Parts[j] = safe
		}
	}
}

// sendableName returns the name of a tool of the adapter, and any other as services accept it.
func (a *Adapter) sendableName(name string) string {
	if safe := (core.ToolCall{Name: name}).SendableName(); safe == name || a.byName[strings.ToUpper(name)] == nil {
		return safe
	}
	return name
}

// outgoing is the conversation as it happened: the host's system text, the
// earlier turns, and the present Call with its calls and results repaired. Its
// messages, and perhaps the slice itself, are shared and must not be changed.
func (s *scratch) outgoing(k *Adapter, messages []llms.MessageContent, r *run) []llms.MessageContent {
	var earlier, happened []llms.MessageContent
	if r != nil {
		account, steps := k.runs.account(r)
		messages, happened = scratchpad(messages, account, steps)
		earlier = r.earlier
	}
	messages = s.repair(messages)
	if k.config.system == "" && len(earlier)+len(happened) == 0 {
		return messages
	}
	out := s.messages[:0]
	if k.config.system != "" {
		out = append(out, llms.TextParts(llms.ChatMessageTypeSystem, k.config.system))
		messages = withoutDefault(messages)
	}
	lead := leadingSystem(messages)
	out = append(append(out, messages[:lead]...), earlier...)
	s.messages = append(append(out, messages[lead:]...), happened...)
	return s.messages
}

// withoutDefault is msgs without the system message that the framework sends by
// itself.
func withoutDefault(msgs []llms.MessageContent) []llms.MessageContent {
	if len(msgs) > 0 && msgs[0].Role == llms.ChatMessageTypeSystem {
		if was := joinedText(msgs[0].Parts); was == "" || was == defaultSystem {
			return msgs[1:]
		}
	}
	return msgs
}

// leadingSystem counts the system messages at the front.
func leadingSystem(msgs []llms.MessageContent) int {
	n := 0
	for n < len(msgs) && msgs[n].Role == llms.ChatMessageTypeSystem {
		n++
	}
	return n
}

func countResponses(msgs []llms.MessageContent) int {
	n := 0
	for i := range msgs {
		if msgs[i].Role == llms.ChatMessageTypeAI {
			n++
		}
	}
	return n
}
