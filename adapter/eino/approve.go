package eino

import (
	"context"
	"encoding/json"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"

	"github.com/satchel-go/satchel/core"
)

// asking is the part of an address at which a question about a call waits, so
// that a tool which interrupts the run itself has an address of its own.
const asking compose.AddressSegmentType = "approval"

// Interrupt is an approver, for satchel.WithApprover, that interrupts the run with the
// question; [Asked] reads it from the interrupt. Resume the run with one of the answers of
// package core for the interrupt's id:
//
//	runner.ResumeWithParams(ctx, checkpoint, &adk.ResumeParams{
//		Targets: map[string]any{id: core.AnswerSession},
//	})
//
// A question stays open until it is answered. It is asked again if its skills have changed
// meanwhile. Question and state are strings, so a checkpoint holds them; with a durable session
// store another process may resume the run. Outside of an Eino agent there is no run to
// interrupt, and the call fails.
func Interrupt(ctx context.Context, ask core.Ask) (core.Answer, error) {
	if was, _, _ := tool.GetInterruptState[any](ctx); was {
		return core.AnswerAllow, nil // the tool has interrupted the run: it was let pass before
	}
	ctx = compose.AppendAddressSegment(ctx, asking, "")
	_, asked, bound := tool.GetInterruptState[string](ctx)
	if answer, ok := resumed(ctx); ok && asked && bound == ask.Bound {
		return answer, nil
	}
	question, err := json.Marshal(ask)
	if err != nil {
		return "", err
	}
	return "", tool.StatefulInterrupt(ctx, string(question), ask.Bound)
}

func resumed(ctx context.Context) (core.Answer, bool) {
	if _, ok, answer := tool.GetResumeContext[core.Answer](ctx); ok {
		return answer, true
	}
	_, ok, answer := tool.GetResumeContext[string](ctx)
	return core.Answer(answer), ok
}

// Asked returns the question of an interrupt by [Interrupt], from the Info of its
// context.
func Asked(info any) (core.Ask, bool) {
	var ask core.Ask
	text, ok := info.(string)
	if !ok || json.Unmarshal([]byte(text), &ask) != nil || ask.Bound == "" {
		return core.Ask{}, false
	}
	return ask, true
}
