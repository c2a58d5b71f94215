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

// isText reports whether an agent works in text: its model gets one prompt and answers in text,
// calls included.
func isText(inner agents.Agent) bool {
	switch inner.(type) {
	case *agents.OneShotZeroAgent, *agents.ConversationalAgent:
		return true
	}
	return false
}

// textView holds the texts that a view adds to the prompt of an agent that works in text.
type textView struct {
	// prefix precedes the prompt.
	prefix string
	// history contains the earlier turns. They precede the prompt, unless the prompt contains
	// them.
	history string
	// trace is the view, and messages are those that it describes. It is nil without a tracer.
	trace    *core.ViewTrace
	messages []core.Message
	// sent is the request whose answer is reported when its calls are known.
	sent     sentRequest
	response *llms.ContentResponse
}

// prepareText prepares a Plan of an agent that works in text. It returns copies of the steps
// with the texts of skills after their observations, and of the inputs with the earlier turns.
// It sets r.text to the texts that [viewModel.sendPrompt] adds to the prompt.
func (a *decoratedAgent) prepareText(ctx context.Context, r *run, steps []schema.AgentStep, inputs map[string]string) ([]schema.AgentStep, map[string]string, error) {
	question := inputs["input"]
	a.adapter.runs.setQuestion(r, question)
	var messages []core.Message
	if inputs["history"] == "" { // else the host passes the earlier turns itself
		messages = slices.Clone(new(scratch).coreMessages(r.earlierTurns))
	}
	turnStart := len(messages) // where the turn begins
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
	viewSteps := slices.Clone(steps)
	var prefix []string
	var earlier strings.Builder
	for _, m := range view.Messages {
		switch {
		case m.Origin >= 0 && m.Origin < turnStart:
			writeEarlier(&earlier, &m)
		case m.Role == core.ToolResult:
			viewSteps[(m.Origin-turnStart-1)/2].Observation = quoteMarkers(m.Text)
		case m.Added == "":
		default:
			prefix = append(prefix, quoteMarkers(strings.TrimSpace(m.Added)))
		}
	}
	r.text = &textView{prefix: strings.Join(prefix, "\n\n"), trace: view.Trace, messages: view.Messages}
	if earlier.Len() > 0 {
		r.text.history = strings.TrimSuffix(earlier.String(), "\n")
		inputs = maps.Clone(inputs)
		inputs["history"] = r.text.history
	}
	return viewSteps, inputs, nil
}

// writeEarlier writes a message of an earlier turn in the form in which the agents write
// conversations. It does not quote the markers that the model itself wrote.
func writeEarlier(b *strings.Builder, m *core.Message) {
	text := quoteMarkers(m.Text)
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
	case m.Text == "": // the agent of that turn did not work in text
		for _, c := range m.Calls {
			fmt.Fprintf(b, "Action: %s\nAction Input: %s\n", oneLine(c.Name), quoteMarkers(c.Arguments))
		}
		return
	default:
		text = quoteLines(othersMarker, m.Text[:len(m.Text)-len(m.Added)]) + quoteMarkers(m.Added)
	}
	b.WriteString(text + "\n")
}

// oneLine replaces line ends and other control characters of a name by spaces.
func oneLine(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return ' '
		}
		return r
	}, name)
}

// textTurn returns a turn of an agent that works in text, as the messages for a [TurnHistory].
func (s *runs) textTurn(r *run, question, answer string) []llms.ChatMessage {
	s.mu.Lock()
	steps := r.steps
	s.mu.Unlock()
	messages := []llms.ChatMessage{llms.HumanChatMessage{Content: question}}
	for i, step := range steps {
		if step.Action.Tool == "" {
			continue // the agent could not parse the response
		}
		id := r.textCallID(i, step.Action)
		call := llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: step.Action.Tool, Arguments: step.Action.ToolInput}}
		messages = append(messages, llms.AIChatMessage{Content: step.Action.Log, ToolCalls: []llms.ToolCall{call}},
			llms.ToolChatMessage{ID: id, Content: step.Observation})
	}
	return append(messages, llms.AIChatMessage{Content: answer})
}

// textCallID returns the id of the call of a step. If the action has none, it is made from the
// place of the response in the conversation.
func (r *run) textCallID(step int, action schema.AgentAction) string {
	if action.ToolID != "" {
		return action.ToolID
	}
	return fmt.Sprintf("call_%d", countResponses(r.earlierTurns)+step)
}

// observeText gives each action an id, and reports the calls to the runtime.
func (a *decoratedAgent) observeText(ctx context.Context, r *run, steps int, actions []schema.AgentAction) ([]schema.AgentAction, error) {
	actions = slices.Clone(actions)
	var calls []core.ToolCall
	for i := range actions {
		actions[i].ToolID = r.textCallID(steps+i, actions[i])
		calls = append(calls, core.ToolCall{ID: actions[i].ToolID, Name: actions[i].Tool, Arguments: actions[i].ToolInput})
	}
	r.text.noteAnswer(calls)
	return actions, a.adapter.hooks.Observe(ctx, r.key, calls)
}

// ownWords are the markers that an agent which works in text writes itself at the beginning of
// a line. othersWords are the other markers of its prompts and conversations.
var (
	ownWords    = []string{"Question", "Thought", "Action", "Action Input", "Final Answer", "AI", "Assistant"}
	othersWords = []string{"Observation", "Human", "User", "System", "Tool", "New input", "User's input", "Previous conversation history"}

	anyMarker    = marker(slices.Concat(ownWords, othersWords))
	othersMarker = marker(othersWords)
)

// marker returns a pattern for one of words at the beginning of a line, followed by a colon. It
// ignores case, width, invisible characters and markup, and accepts every kind of colon and
// line end.
func marker(words []string) *regexp.Regexp {
	const invisible, blank = `[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\p{Cf}\p{Mn}]*`, `[\t\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\p{Zs}\p{Cf}\p{Mn}*_#\x60"'-]*`
	var alternatives []string
	for _, word := range words {
		var letters strings.Builder
		for _, r := range word {
			switch r {
			case ' ':
				letters.WriteString(blank)
			case '\'':
				letters.WriteString("['’]?")
			default:
				fmt.Fprintf(&letters, "[%c%c]%s", r, r+0xfee0, invisible) // and in full width
			}
		}
		alternatives = append(alternatives, letters.String())
	}
	return regexp.MustCompile(`(?i)(^|[\n\r\v\f\x1c-\x1e\x{85}\x{2028}\x{2029}])(` + blank + `(?:` + strings.Join(alternatives, "|") + `)` + blank + `[:：﹕︓∶꞉ː])`)
}

// quoteMarkers puts "> " before lines of a foreign text that begin with a marker, so that the
// agent does not take them for its own.
func quoteMarkers(text string) string { return quoteLines(anyMarker, text) }

// quoteLines puts "> " before the lines that a marker matches.
func quoteLines(marker *regexp.Regexp, text string) string {
	return marker.ReplaceAllString(text, "$1> $2")
}

// sendPrompt sends the single prompt of an agent that works in text, with the additions of its
// view.
func (m *viewModel) sendPrompt(ctx context.Context, r *run, messages []llms.MessageContent, options []llms.CallOption) (*llms.ContentResponse, error) {
	messages = slices.Clone(messages)
	if len(messages) > 0 {
		messages[0].Parts = r.text.prepend(messages[0].Parts)
	}
	v := r.text
	v.noteAnswer(nil) // of a request before this one
	v.sent = m.adapter.noteRequest(ctx, r.key, m.tracePrompt(v, messages, options))
	resp, err := m.callModel(ctx, &v.sent, messages, options)
	if err != nil {
		return nil, err
	}
	if isEmpty(resp) {
		return nil, v.sent.noteFailure(errNoResponse)
	}
	v.response = resp
	return resp, nil
}

// prepend puts the additions of the view before the first text.
func (v *textView) prepend(parts []llms.ContentPart) []llms.ContentPart {
	for i, part := range parts {
		text, ok := part.(llms.TextContent)
		if !ok {
			continue
		}
		prefix := v.prefix
		if v.history != "" && !strings.Contains(text.Text, v.history) {
			prefix = strings.TrimPrefix(prefix+"\n\nThe conversation so far:\n"+v.history, "\n\n")
		}
		if prefix != "" {
			parts = slices.Clone(parts)
			parts[i] = llms.TextContent{Text: prefix + "\n\n" + text.Text}
		}
		return parts
	}
	return parts
}
