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

// observeStream passes a stream on and calls observe with the response's calls before the
// reader sees the end. A stream that ends in an error, or that its reader closes early, is no
// complete response and is not observed. An error of observe replaces the end.
//
// The goroutine belongs to the returned reader. It ends with the source, or at the next chunk
// after the reader was closed, and closes the source.
func observeStream(source *schema.StreamReader[*schema.Message], fix *repair, meter *meter, observe func([]core.ToolCall) error) *schema.StreamReader[*schema.Message] {
	reader, writer := schema.Pipe[*schema.Message](0)
	go func() {
		defer writer.Close()
		defer source.Close()
		defer func() {
			if p := recover(); p != nil {
				writer.Send(nil, meter.failed(fmt.Errorf("%w: %v\n%s", errStreamPanic, p, debug.Stack())))
			}
		}()
		forward(source, writer, fix, meter, observe)
	}()
	return reader
}

// forward sends the source's chunks, completed by fix, and last of all its
// error, if it has one.
func forward(source *schema.StreamReader[*schema.Message], writer *schema.StreamWriter[*schema.Message], fix *repair, meter *meter, observe func([]core.ToolCall) error) {
	var deltas []*schema.Message
	for {
		chunk, err := source.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if chunk != nil {
			meter.add(chunk)
			chunk = fix.chunk(chunk)
		}
		if err != nil {
			writer.Send(chunk, meter.failed(err))
			return
		}
		if writer.Send(chunk, nil) {
			meter.called() // counts what the reader has read
			return
		}
		if chunk != nil && len(chunk.ToolCalls) > 0 {
			deltas = append(deltas, &schema.Message{Role: schema.Assistant, ToolCalls: chunk.ToolCalls})
		}
	}
	if rest := fix.rest(); rest != nil {
		if writer.Send(rest, nil) {
			meter.called()
			return
		}
		deltas = append(deltas, rest)
	}
	calls, err := concatCalls(deltas)
	if err == nil {
		err = observe(calls)
	}
	if err != nil {
		writer.Send(nil, meter.failed(err))
		return
	}
	meter.called()
}

// concatCalls puts the calls together from their deltas, as Eino does for the
// tools node, so that both have the same calls in the same order.
func concatCalls(deltas []*schema.Message) ([]core.ToolCall, error) {
	if len(deltas) == 0 {
		return nil, nil
	}
	whole, err := schema.ConcatMessages(deltas)
	if err != nil {
		return nil, fmt.Errorf("put tool calls of a stream together: %w", err)
	}
	return referCalls(whole.ToolCalls), nil
}
