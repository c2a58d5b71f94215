package eino

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// toolReporter reports the calls of the host's tools.
type toolReporter struct{ hooks adapter.Runtime }

type toolStartKey struct{}

// toolStart holds the call and the time at which a tool began.
type toolStart struct {
	call core.ToolCall
	at   time.Time
}

func (h *toolReporter) onStart(ctx context.Context, info *callbacks.RunInfo, in *tool.CallbackInput) context.Context {
	start := toolStart{call: core.ToolCall{ID: compose.GetToolCallID(ctx)}, at: time.Now()}
	if info != nil {
		start.call.Name = info.Name
	}
	if in != nil {
		start.call.Arguments = in.ArgumentsInJSON
	}
	return context.WithValue(ctx, toolStartKey{}, start)
}

func (h *toolReporter) onEnd(ctx context.Context, _ *callbacks.RunInfo, out *tool.CallbackOutput) context.Context {
	h.reportCall(ctx, answerOf(out))
	return ctx
}

// onStream reports a call of a streaming tool when its stream ends without an error.
func (h *toolReporter) onStream(ctx context.Context, _ *callbacks.RunInfo, out *schema.StreamReader[*tool.CallbackOutput]) context.Context {
	go func() {
		defer out.Close()
		var answer strings.Builder
		for {
			chunk, err := out.Recv()
			if errors.Is(err, io.EOF) {
				h.reportCall(ctx, answer.String())
				return
			}
			if err != nil {
				return
			}
			answer.WriteString(answerOf(chunk))
		}
	}()
	return ctx
}

func (h *toolReporter) reportCall(ctx context.Context, answer string) {
	start, ok := ctx.Value(toolStartKey{}).(toolStart)
	if !ok || h.hooks.Owns(start.call.Name) {
		return
	}
	h.hooks.Emit(ctx, core.Event{Kind: core.ToolCalled, Key: keyIn(ctx), Call: start.call,
		Detail: answer, Duration: time.Since(start.at)})
}

// answerOf returns the text of a tool's output.
func answerOf(out *tool.CallbackOutput) string {
	if out == nil {
		return ""
	}
	if out.ToolOutput == nil {
		return out.Response
	}
	return joinText(out.ToolOutput.Parts, func(p *schema.ToolOutputPart) string {
		if p.Type != schema.ToolPartTypeText {
			return ""
		}
		return p.Text
	})
}
