package langchaingo

import (
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// response is one answer of the model that asked for calls or ended the run.
type response struct {
	at      int // the number of steps before it
	calls   []core.ToolCall
	message llms.MessageContent
}

// tell returns the responses that were acted upon, each followed by the results of
// its steps, or nil where the two do not agree. It checks the messages of the last
// Plan and keeps them where they are the same. runs.mu is held.
func (r *run) tell() []llms.MessageContent {
	a, done := account{messages: r.told}, 0
	for i := range r.responses {
		one := &r.responses[i]
		if one.at == len(r.steps) {
			break // it answers the present Plan, which asks once more
		}
		if one.at != done || len(one.calls) == 0 || done+len(one.calls) > len(r.steps) {
			return nil
		}
		a.response(one.message)
		for _, call := range one.calls {
			step := &r.steps[done]
			if step.Action.ToolID != call.ID || step.Action.Tool != call.Name && !strings.EqualFold(step.Action.Tool, call.Name) {
				return nil
			}
			a.result(llms.ToolCallResponse{ToolCallID: call.ID, Name: call.Name, Content: step.Observation})
			done++
		}
	}
	if done != len(r.steps) {
		return nil
	}
	a.cut()
	r.told = a.messages
	return slices.Clip(r.told)
}

// account is the conversation of a Call. It is written again from the start and
// keeps the messages that it has while they are the same. Others may be reading
// them, so none is changed in place.
type account struct {
	messages []llms.MessageContent
	n        int // how many are written
}

func (a *account) response(m llms.MessageContent) {
	if a.n < len(a.messages) && !changed(m.Parts, a.messages[a.n].Parts) {
		a.n++
		return
	}
	a.put(m)
}

func (a *account) result(r llms.ToolCallResponse) {
	if a.n < len(a.messages) {
		if is, ok := a.messages[a.n].Parts[0].(llms.ToolCallResponse); ok && is == r {
			a.n++
			return
		}
	}
	a.put(llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{r}})
}

func (a *account) put(m llms.MessageContent) {
	a.cut()
	a.messages = append(a.messages, m)
	a.n++
}

// cut lets go of the messages that are not the same any more. What comes in
// their place must not be written over them.
func (a *account) cut() {
	if a.n < len(a.messages) {
		a.messages = slices.Clip(a.messages[:a.n])
	}
}
