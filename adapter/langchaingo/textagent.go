package langchaingo

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

	"github.com/satchel-go/satchel/core"
)

// isText reports an agent whose model is sent one prompt and answers in text, calls
// included.
func isText(inner agents.Agent) bool {
	switch inner.(type) {
	case *agents.OneShotZeroAgent, *agents.ConversationalAgent:
		return true
	}
	return false
}

// textView is what a Plan of an agent that works in text adds to its prompt.
type textView struct {
	front string
	// history are the earlier turns, which the prompt has where it asks for them and
	// which stand in front of it otherwise.
	history string
}

// viewText returns the steps with the texts of skills behind their results, and the
// inputs with the earlier turns; it notes what stands in front of the prompt. What the
// executor has is not changed.
func (a *decoratedAgent) viewText(ctx context.Context, r *run, steps []schema.AgentStep, inputs map[string]string) ([]schema.AgentStep, map[string]string, error) {
	question := inputs["input"]
	a.adapter.runs.asks(r, question)
	var messages []core.Message
	if inputs["history"] == "" { // else the host tells of them itself, and not of their texts
		messages = slices.Clone(new(scratch).refer(r.earlier))
	}
	now := len(messages) // where the turn begins
	messages = append(messages, core.Message{Role: core.User, Text: question})
	for i, step := range steps {
		call := core.ToolCall{ID: r.textCallID(i, step.Action), Name: step.Action.Tool, Arguments: step.Action.ToolInput}
		messages = append(messages, core.Message{Role: core.Assistant, Text: step.Action.Log, Calls: []core.ToolCall{call}},
			core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: step.Observation})
	}
	for i := range messages {
		messages[i].Origin = i
	}
	view, err := a.adapter.runtime.Agent(r.key).Prepare(ctx, core.Request{Messages: messages, Tools: a.adapter.names})
	if err != nil {
		return nil, nil, fmt.Errorf("prepare model call: %w", err)
	}
	shown := slices.Clone(steps)
	var front []string
	var earlier strings.Builder
	for _, m := range view.Messages {
		switch {
		case m.Origin >= 0 && m.Origin < now:
			tellEarlier(&earlier, &m)
		case m.Role == core.ToolResult:
			shown[(m.Origin-now-1)/2].Observation = guarded(m.Text)
		case m.Added == "":
		default:
			front = append(front, guarded(strings.TrimSpace(m.Added)))
		}
	}
	r.text = &textView{front: strings.Join(front, "\n\n")}
	if earlier.Len() > 0 {
		r.text.history = strings.TrimSuffix(earlier.String(), "\n")
		inputs = maps.Clone(inputs)
		inputs["history"] = r.text.history
	}
	return shown, inputs, nil
}

// tellEarlier writes a message of an earlier turn as the agents write conversations. What
// the model wrote keeps the words that are its own.
func tellEarlier(b *strings.Builder, m *core.Message) {
	text := guarded(m.Text)
	switch {
	case m.Role == core.User:
		b.WriteString("Human: ")
	case m.Role == core.ToolResult:
		b.WriteString("Observation: ")
	case m.Role == core.System:
		b.WriteString("System: ")
	case len(m.Calls) == 0:
		b.WriteString("AI: ")
		text = strings.TrimSpace(text)
	case m.Text == "": // of an agent that does not work in text
		for _, c := range m.Calls {
			fmt.Fprintf(b, "Action: %s\nAction Input: %s\n", oneLine(c.Name), guarded(c.Arguments))
		}
		return
	default:
		text = guard(othersMarker, m.Text[:len(m.Text)-len(m.Added)]) + guarded(m.Added)
	}
	b.WriteString(text + "\n")
}

// oneLine returns a name without line ends.
func oneLine(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return ' '
		}
		return r
	}, name)
}

// textTurn is a turn of an agent that works in text, as a [TurnHistory] keeps it.
func (s *runs) textTurn(r *run, question, answer string) []llms.ChatMessage {
	s.mu.Lock()
	steps := r.steps
	s.mu.Unlock()
	messages := []llms.ChatMessage{llms.HumanChatMessage{Content: question}}
	for i, step := range steps {
		if step.Action.Tool == "" {
			continue // an answer that could not be read
		}
		id := r.textCallID(i, step.Action)
		call := llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: step.Action.Tool, Arguments: step.Action.ToolInput}}
		messages = append(messages, llms.AIChatMessage{Content: step.Action.Log, ToolCalls: []llms.ToolCall{call}},
			llms.ToolChatMessage{ID: id, Content: step.Observation})
	}
	return append(messages, llms.AIChatMessage{Content: answer})
}

// textCallID is the id of the call of a step. A text has none, so it is the place of the
// response in the conversation.
func (r *run) textCallID(step int, action schema.AgentAction) string {
	if action.ToolID != "" {
		return action.ToolID
	}
	return fmt.Sprintf("call_%d", countResponses(r.earlier)+step)
}

// observeText reports what the model did, with an id for each call.
func (a *decoratedAgent) observeText(ctx context.Context, r *run, steps int, actions []schema.AgentAction) ([]schema.AgentAction, error) {
	actions = slices.Clone(actions)
	var calls []core.ToolCall
	for i := range actions {
		actions[i].ToolID = r.textCallID(steps+i, actions[i])
		calls = append(calls, core.ToolCall{ID: actions[i].ToolID, Name: actions[i].Tool, Arguments: actions[i].ToolInput})
	}
	return actions, a.adapter.hooks.Observe(ctx, r.key, calls)
}

// ownWords begin lines that an agent which works in text writes itself, and othersWords
// those that its prompts and conversations have beside them.
var (
	ownWords    = []string{"Question", "Thought", "Action", "Action Input", "Final Answer", "AI", "Assistant"}
	othersWords = []string{"Observation", "Human", "User", "System", "Tool", "New input", "User's input", "Previous conversation history"}

	anyMarker    = marker(slices.Concat(ownWords, othersWords))
	othersMarker = marker(othersWords)
)

// marker returns a pattern for words at the beginning of a line, followed by a colon of any
// kind. Case, width, invisible characters and markup do not matter, nor the kind of line end
// before.
func marker(words []string) *regexp.Regexp {
	const unseen, blank = `[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\p{Cf}\p{Mn}]*`, `[\t\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\p{Zs}\p{Cf}\p{Mn}*_#\x60"'-]*`
	var any []string
	for _, word := range words {
		var letters strings.Builder
		for _, r := range word {
			switch r {
			case ' ':
				letters.WriteString(blank)
			case '\'':
				letters.WriteString("['’]?")
			default:
				fmt.Fprintf(&letters, "[%c%c]%s", r, r+0xfee0, unseen) // and in full width
			}
		}
		any = append(any, letters.String())
	}
	return regexp.MustCompile(`(?i)(^|[\n\r\v\f\x1c-\x1e\x{85}\x{2028}\x{2029}])(` + blank + `(?:` + strings.Join(any, "|") + `)` + blank + `[:：﹕︓∶꞉ː])`)
}

// guarded quotes those lines of a text of others that would mean something to the agent,
// as mail does.
func guarded(text string) string { return guard(anyMarker, text) }

// guard puts "> " before the lines that a marker finds.
func guard(marker *regexp.Regexp, text string) string {
	return marker.ReplaceAllString(text, "$1> $2")
}

// prompt sends the single prompt of an agent that works in text, behind what its view adds.
func (m *viewModel) prompt(ctx context.Context, r *run, messages []llms.MessageContent, options []llms.CallOption) (*llms.ContentResponse, error) {
	messages = slices.Clone(messages)
	if len(messages) > 0 {
		messages[0].Parts = r.text.before(messages[0].Parts)
	}
	resp, err := m.call(ctx, r.key, messages, options)
	if err == nil && isNothing(resp) {
		return nil, errNoResponse
	}
	return resp, err
}

// before puts what a view adds in front of the first text.
func (v *textView) before(parts []llms.ContentPart) []llms.ContentPart {
	for i, part := range parts {
		text, ok := part.(llms.TextContent)
		if !ok {
			continue
		}
		front := v.front
		if v.history != "" && !strings.Contains(text.Text, v.history) {
			front = strings.TrimPrefix(front+"\n\nThe conversation so far:\n"+v.history, "\n\n")
		}
		if front != "" {
			parts = slices.Clone(parts)
			parts[i] = llms.TextContent{Text: front + "\n\n" + text.Text}
		}
		return parts
	}
	return parts
}
