package eino

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// errStreamPanic reports a panic in the wrapped model's stream.
var errStreamPanic = errors.New("model stream panicked")

// observeStream passes a stream on, and calls observe with the calls of the response before the
// reader sees the end. It does not call observe if the stream ends in an error or the reader
// closes it early, because the response is then incomplete. An error of observe replaces the
// end.
//
// The goroutine ends with the source, or at the next chunk after the reader was closed. It
// closes the source.
func observeStream(source *schema.StreamReader[*schema.Message], fix *repair, meter *meter, observe func([]core.ToolCall) error) *schema.StreamReader[*schema.Message] {
	reader, writer := schema.Pipe[*schema.Message](0)
	go func() {
		defer writer.Close()
		defer source.Close()
		defer func() {
			if p := recover(); p != nil {
				writer.Send(nil, meter.reportFailure(fmt.Errorf("%w: %v\n%s", errStreamPanic, p, debug.Stack())))
			}
		}()
		forward(source, writer, fix, meter, observe)
	}()
	return reader
}

// forward sends the chunks of source, completed by fix, and then the error of source if there
// is one.
func forward(source *schema.StreamReader[*schema.Message], writer *schema.StreamWriter[*schema.Message], fix *repair, meter *meter, observe func([]core.ToolCall) error) {
	var deltas []*schema.Message
	for {
		chunk, err := source.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if chunk != nil {
			meter.add(chunk)
			chunk = fix.completeChunk(chunk)
			deltas = meter.addContent(chunk, deltas)
		}
		if err != nil {
			writer.Send(chunk, meter.reportFailure(err))
			return
		}
		if writer.Send(chunk, nil) {
			meter.reportPart(deltas)
			return
		}
	}
	if last := fix.lastChunk(); last != nil {
		deltas = append(deltas, last)
		if writer.Send(last, nil) {
			meter.reportPart(deltas)
			return
		}
	}
	calls, err := concatCalls(deltas)
	if err == nil {
		meter.noteAnswer(meter.text.String(), calls)
		err = observe(calls)
	}
	if err != nil {
		writer.Send(nil, meter.reportFailure(err))
		return
	}
	meter.reportCall()
}

// concatCalls joins the deltas of calls as Eino does for the tools node, so that both have the
// same calls in the same order.
func concatCalls(deltas []*schema.Message) ([]core.ToolCall, error) {
	if len(deltas) == 0 {
		return nil, nil
	}
	message, err := schema.ConcatMessages(deltas)
	if err != nil {
		return nil, fmt.Errorf("put tool calls of a stream together: %w", err)
	}
	return coreCalls(message.ToolCalls), nil
}
