package eino

import (
	"context"
	"encoding/json"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"

	"github.com/satchel-go/satchel/core"
)

// askSegment is the last part of the address at which a question about a call waits. It
// distinguishes the question from an interrupt of the tool itself.
const askSegment compose.AddressSegmentType = "approval"

// Interrupt is an approver, for satchel.WithApprover, that interrupts the run with the
// question; [AskFrom] reads it from the interrupt. The host resumes the run with one of the
// answers of package core for the interrupt's id:
//
//	runner.ResumeWithParams(ctx, checkpoint, &adk.ResumeParams{
//		Targets: map[string]any{id: core.AnswerSession},
//	})
//
// A question stays open until a resume answers it. If its skills have changed meanwhile, the
// run is interrupted again with a new question. Question and state are strings, so a checkpoint
// can store them; with a durable session store another process may resume the run. Outside of
// an Eino agent there is no run to interrupt, and the call fails.
func Interrupt(ctx context.Context, ask core.Ask) (core.Answer, error) {
	if wasInterrupted, _, _ := tool.GetInterruptState[any](ctx); wasInterrupted {
		return core.AnswerAllow, nil // by the tool itself, so the call was allowed before
	}
	ctx = compose.AppendAddressSegment(ctx, askSegment, "")
	_, wasAsked, bound := tool.GetInterruptState[string](ctx)
	if answer, ok := resumeAnswer(ctx); ok && wasAsked && bound == ask.Bound {
		return answer, nil
	}
	question, err := json.Marshal(ask)
	if err != nil {
		return "", err
	}
	return "", tool.StatefulInterrupt(ctx, string(question), ask.Bound)
}

// resumeAnswer returns the answer with which the host has resumed the run.
func resumeAnswer(ctx context.Context) (core.Answer, bool) {
	if _, ok, answer := tool.GetResumeContext[core.Answer](ctx); ok {
		return answer, true
	}
	_, ok, answer := tool.GetResumeContext[string](ctx)
	return core.Answer(answer), ok
}

// AskFrom returns the question with which [Interrupt] interrupted a run. info is the Info of
// the interrupt's context. Other interrupts have no question. One of a call that waits for the
// fork of an earlier call needs no answer: each resume makes the call again.
func AskFrom(info any) (core.Ask, bool) {
	var ask core.Ask
	text, ok := info.(string)
	if !ok || json.Unmarshal([]byte(text), &ask) != nil || ask.Bound == "" {
		return core.Ask{}, false
	}
	return ask, true
}
