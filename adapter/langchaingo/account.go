package langchaingo

import (
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// response is one response of the model: it has calls or ends the run.
type response struct {
	stepsBefore int // how many steps the executor had made before it
	calls       []core.ToolCall
	message     llms.MessageContent
}

// transcript returns the messages of the Call so far: each response of the model that the
// executor acted on, followed by the results of its steps. It returns nil if responses and
// steps do not match. It reuses the messages of the last transcript that are still the same.
// The caller holds runs.mu.
func (r *run) transcript() []llms.MessageContent {
	a, done := transcriptWriter{messages: r.lastTranscript}, 0
	for i := range r.responses {
		one := &r.responses[i]
		if one.stepsBefore == len(r.steps) {
			break // the response to the present Plan, which the agent repeats
		}
		if one.stepsBefore != done || len(one.calls) == 0 || done+len(one.calls) > len(r.steps) {
			return nil
		}
		a.addResponse(one.message)
		for _, call := range one.calls {
			step := &r.steps[done]
			if step.Action.ToolID != call.ID || step.Action.Tool != call.Name && !strings.EqualFold(step.Action.Tool, call.Name) {
				return nil
			}
			a.addResult(llms.ToolCallResponse{ToolCallID: call.ID, Name: call.Name, Content: step.Observation})
			done++
		}
	}
	if done != len(r.steps) {
		return nil
	}
	a.truncate()
	r.lastTranscript = a.messages
	return slices.Clip(r.lastTranscript)
}

// transcriptWriter writes the messages of a Call from the first one on. It keeps messages of
// the last transcript while they are the same. It changes none in place, because a request may
// still be reading them.
type transcriptWriter struct {
	messages []llms.MessageContent
	written  int // how many messages are written
}

func (a *transcriptWriter) addResponse(m llms.MessageContent) {
	if a.written < len(a.messages) && !isChanged(m.Parts, a.messages[a.written].Parts) {
		a.written++
		return
	}
	a.append(m)
}

func (a *transcriptWriter) addResult(r llms.ToolCallResponse) {
	if a.written < len(a.messages) {
		if is, ok := a.messages[a.written].Parts[0].(llms.ToolCallResponse); ok && is == r {
			a.written++
			return
		}
	}
	a.append(llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{r}})
}

func (a *transcriptWriter) append(m llms.MessageContent) {
	a.truncate()
	a.messages = append(a.messages, m)
	a.written++
}

// truncate removes the messages after the written ones. The slice is clipped, so that append
// does not overwrite them.
func (a *transcriptWriter) truncate() {
	if a.written < len(a.messages) {
		a.messages = slices.Clip(a.messages[:a.written])
	}
}
