package langchaingo

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
type textView struct{ front string }

// viewText returns the steps with the texts of skills behind their results, and what
// stands in front of the prompt. The steps of the executor are not changed.
func (a *Agent) viewText(ctx context.Context, r *run, steps []schema.AgentStep, inputs map[string]string) ([]schema.AgentStep, error) {
	messages := []core.Message{{Role: core.User, Text: inputs["input"]}}
	for i, step := range steps {
		call := core.ToolCall{ID: textCallID(i, step.Action), Name: step.Action.Tool, Arguments: step.Action.ToolInput}
		messages = append(messages, core.Message{Role: core.Assistant, Text: step.Action.Log, Calls: []core.ToolCall{call}},
			core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: step.Observation})
	}
	for i := range messages {
		messages[i].Origin = i
	}
	view, err := a.kit.runtime.Agent(r.key).Prepare(ctx, core.Request{Messages: messages, Tools: a.kit.names})
	if err != nil {
		return nil, fmt.Errorf("prepare model call: %w", err)
	}
	shown := slices.Clone(steps)
	var front []string
	for _, m := range view.Messages {
		switch {
		case m.Added == "":
		case m.Role == core.ToolResult:
			at := (m.Origin - 1) / 2
			shown[at].Observation = m.Text[:len(m.Text)-len(m.Added)] + guarded(m.Added)
		default:
			front = append(front, guarded(strings.TrimSpace(m.Added)))
		}
	}
	r.text = &textView{strings.Join(front, "\n\n")}
	return shown, nil
}

// textCallID is the id of the call of a step. A text has none, so it is the step's place.
func textCallID(step int, action schema.AgentAction) string {
	if action.ToolID != "" {
		return action.ToolID
	}
	return fmt.Sprintf("call_%d", step)
}

// observeText reports what the model did, with an id for each call.
func (a *Agent) observeText(ctx context.Context, r *run, steps int, actions []schema.AgentAction) ([]schema.AgentAction, error) {
	actions = slices.Clone(actions)
	var calls []core.ToolCall
	for i := range actions {
		actions[i].ToolID = textCallID(steps+i, actions[i])
		calls = append(calls, core.ToolCall{ID: actions[i].ToolID, Name: actions[i].Tool, Arguments: actions[i].ToolInput})
	}
	return actions, a.kit.hooks.Observe(ctx, r.key, calls)
}

// words begin lines that mean something to agents that work in text.
var words = []string{"Final Answer:", "AI:", "Action:", "Observation:"}

// guarded puts a space before the lines of a text that would mean something to the agent.
func guarded(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(line, w) }) {
			lines[i] = " " + line
		}
	}
	return strings.Join(lines, "\n")
}

// prompt sends the single prompt of an agent that works in text, behind what its view adds.
func (m *Model) prompt(ctx context.Context, r *run, messages []llms.MessageContent, options []llms.CallOption) (*llms.ContentResponse, error) {
	messages = slices.Clone(messages)
	if r.text.front != "" && len(messages) > 0 {
		parts := slices.Clone(messages[0].Parts)
		for i := range parts {
			if text, ok := parts[i].(llms.TextContent); ok {
				parts[i] = llms.TextContent{Text: r.text.front + "\n\n" + text.Text}
				break
			}
		}
		messages[0].Parts = parts
	}
	resp, err := m.call(ctx, r.key, messages, options)
	if err == nil && isNothing(resp) {
		return nil, ErrNoResponse
	}
	return resp, err
}
