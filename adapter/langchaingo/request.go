package langchaingo

import (
	"context"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// defaultSystem is the system message of OpenAIFunctionsAgent if the host sets none.
const defaultSystem = "You are a helpful AI assistant."

// request holds the messages of one prepared model call.
type request struct {
	messages  []llms.MessageContent
	responses int // how many assistant messages there were before shape split them
	noSkills  bool
	trace     *core.ModelRequest // nil without a tracer
}

// newRequest makes the view of one call.
func (m *viewModel) newRequest(ctx context.Context, key core.SessionKey, r *run, messages []llms.MessageContent, callOptions *llms.CallOptions) (request, error) {
	s := scratches.Get().(*scratch)
	defer s.release()
	msgs := s.conversation(m.adapter, messages, r)
	refs := s.coreMessages(msgs)
	view, err := m.adapter.runtime.Prepare(adapter.WithHostTools(ctx, m.adapter.hostNames()), core.Request{
		Key: key, Messages: refs, Files: attachedFiles(msgs, refs), Tools: m.adapter.names, Definitions: m.adapter.definitions(callOptions), Space: s.space,
	})
	if err != nil {
		return request{}, err
	}
	m.adapter.noteOpening(key, msgs, view.Messages)
	s.space = view.Messages
	req := request{
		messages:  s.layOut(m.adapter, msgs, view.Messages),
		responses: countResponses(msgs),
		noSkills:  view.NoSkills,
	}
	if m.adapter.hooks.Traces() {
		req.trace = m.traceRequest(req.messages, callOptions, &view)
	}
	return req, nil
}

// layOut returns the messages of the view in the form that the client needs, in memory of their
// own.
func (s *scratch) layOut(a *Adapter, msgs []llms.MessageContent, view []core.Message) []llms.MessageContent {
	c := &a.config
	if !c.client.alwaysCopies() {
		out := applyView(msgs, view)
		a.makeSendable(out)
		return c.client.shape(c.addCacheMarks(out, view))
	}
	s.view = appendView(s.view[:0], msgs, view)
	a.makeSendable(s.view)
	return c.client.shape(c.addCacheMarks(s.view, view))
}

// makeSendable replaces names of unknown tools and arguments that are no JSON object by forms
// that services accept. Otherwise services would refuse this request and every later one. It
// changes no part in place.
func (a *Adapter) makeSendable(msgs []llms.MessageContent) {
	for i := range msgs {
		for j, part := range msgs[i].Parts {
			var sendable llms.ContentPart
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
				sendable = p
			case llms.ToolCallResponse:
				if p.Name == "" || a.sendableName(p.Name) == p.Name {
					continue
				}
				p.Name = a.sendableName(p.Name)
				sendable = p
			default:
				continue
			}
			msgs[i].Parts = slices.Clone(msgs[i].Parts)
			msgs[i].Parts[j] = sendable
		}
	}
}

// sendableName returns the name of one of the adapter's tools unchanged, and any other in a
// form that services accept.
func (a *Adapter) sendableName(name string) string {
	if safe := (core.ToolCall{Name: name}).SendableName(); safe == name || a.byName[strings.ToUpper(name)] == nil {
		return safe
	}
	return name
}

// conversation returns the messages to make the view of: the host's system text, the earlier
// turns, and the present Call with its calls and results repaired. The messages, and perhaps
// the slice, are shared and must not be changed.
func (s *scratch) conversation(a *Adapter, messages []llms.MessageContent, r *run) []llms.MessageContent {
	var earlier, current []llms.MessageContent
	if r != nil {
		transcript, steps := a.runs.transcript(r)
		messages, current = splitScratchpad(messages, transcript, steps)
		earlier = r.earlierTurns
	}
	messages = s.repair(messages)
	if a.config.system == "" && len(earlier)+len(current) == 0 {
		return messages
	}
	out := s.messages[:0]
	if a.config.system != "" {
		out = append(out, llms.TextParts(llms.ChatMessageTypeSystem, a.config.system))
		messages = dropDefaultSystem(messages)
	}
	lead := leadingSystem(messages)
	out = append(append(out, messages[:lead]...), earlier...)
	s.messages = append(append(out, messages[lead:]...), current...)
	return s.messages
}

// dropDefaultSystem removes an empty system message, or the framework's default one, from the
// beginning of msgs.
func dropDefaultSystem(msgs []llms.MessageContent) []llms.MessageContent {
	if len(msgs) > 0 && msgs[0].Role == llms.ChatMessageTypeSystem {
		if text := joinText(msgs[0].Parts); text == "" || text == defaultSystem {
			return msgs[1:]
		}
	}
	return msgs
}

// leadingSystem returns the number of system messages at the beginning.
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
