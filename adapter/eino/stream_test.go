package eino

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// noHooks hooks hear no events.
type noHooks struct{ adapter.Runtime }

func (noHooks) Emit(context.Context, core.Event) {}

func (noHooks) Answered(context.Context, core.ModelAnswer) {}

func noEvents() *meter { return &meter{hooks: noHooks{}} }

func delta(index int, id, name, args string) *schema.Message {
	return &schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{
		{Index: &index, ID: id, Function: schema.FunctionCall{Name: name, Arguments: args}}}}
}

func TestObserveStream(t *testing.T) {
	boom := errors.New("boom")
	for _, tc := range []struct {
		name    string
		chunks  []*schema.Message
		err     error // error at the end of the source
		observe error
		calls   []core.ToolCall
		seen    int // number of calls of observe
		wantErr error
	}{
		{name: "text only", chunks: []*schema.Message{{Role: schema.Assistant, Content: "a"}, {Content: "b"}}, seen: 1},
		{name: "empty", seen: 1},
		{
			name: "interleaved deltas",
			chunks: []*schema.Message{
				{Role: schema.Assistant, Content: "let me see"},
				delta(1, "y", "second", ""), delta(0, "x", "first", ""),
				delta(0, "", "", `{"a"`), delta(1, "", "", `{"b"`),
				delta(1, "", "", `:2}`), delta(0, "", "", `:1}`),
			},
			calls: []core.ToolCall{{ID: "x", Name: "first", Arguments: `{"a":1}`}, {ID: "y", Name: "second", Arguments: `{"b":2}`}},
			seen:  1,
		},
		{
			name:   "whole calls without an index",
			chunks: []*schema.Message{{ToolCalls: []schema.ToolCall{toolCall("1", "a", "{}")}}, {ToolCalls: []schema.ToolCall{toolCall("2", "b", "{}")}}},
			calls:  []core.ToolCall{{ID: "1", Name: "a", Arguments: "{}"}, {ID: "2", Name: "b", Arguments: "{}"}},
			seen:   1,
		},
		{name: "error of the source", chunks: []*schema.Message{{Content: "a"}}, err: boom, wantErr: boom},
		{name: "error of observe", chunks: []*schema.Message{{Content: "a"}}, observe: boom, seen: 1, wantErr: boom},
	} {
		t.Run(tc.name, func(t *testing.T) {
			source, writer := schema.Pipe[*schema.Message](len(tc.chunks) + 1)
			for _, c := range tc.chunks {
				writer.Send(c, nil)
			}
			if tc.err != nil {
				writer.Send(nil, tc.err)
			}
			writer.Close()
			var observed [][]core.ToolCall
			out := observeStream(source, &repair{}, noEvents(), func(calls []core.ToolCall) error {
				observed = append(observed, calls)
				return tc.observe
			})
			var got []*schema.Message
			for {
				chunk, err := out.Recv()
				if err != nil {
					if tc.wantErr == nil && err != io.EOF || tc.wantErr != nil && err != tc.wantErr {
						t.Errorf("stream ended in %v, want %v unchanged", err, tc.wantErr)
					}
					break
				}
				got = append(got, chunk)
			}
			out.Close()
			if len(got) != len(tc.chunks) {
				t.Fatalf("got %d chunks, want %d", len(got), len(tc.chunks))
			}
			for i := range got {
				if got[i] != tc.chunks[i] {
					t.Errorf("chunk %d is not the source's own", i)
				}
			}
			if len(observed) != tc.seen {
				t.Fatalf("observed %d times before the end, want %d", len(observed), tc.seen)
			}
			if tc.seen > 0 {
				same(t, "calls", tc.calls, observed[0])
			}
		})
	}
}

func TestObserveStreamBreaksOnMixedDeltas(t *testing.T) {
	source := schema.StreamReaderFromArray([]*schema.Message{delta(0, "x", "a", ""), delta(0, "y", "a", "")})
	out := observeStream(source, &repair{}, noEvents(), func([]core.ToolCall) error {
		t.Error("observed a response that cannot be put together")
		return nil
	})
	defer out.Close()
	var err error
	for err == nil {
		_, err = out.Recv()
	}
	if err == io.EOF {
		t.Error("stream ended normally, want an error")
	}
}

func TestObserveStreamForwardsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, writer := schema.Pipe[*schema.Message](0)
		out := observeStream(source, &repair{}, noEvents(), func([]core.ToolCall) error { return nil })
		for _, text := range []string{"a", "b", "c"} {
			go writer.Send(&schema.Message{Content: text}, nil)
			chunk, err := out.Recv() // a buffered stream deadlocks here
			if err != nil || chunk.Content != text {
				t.Fatalf("got %v, %v, want %q", chunk, err, text)
			}
		}
		writer.Close()
		if _, err := out.Recv(); err != io.EOF {
			t.Errorf("stream ended in %v, want EOF", err)
		}
		out.Close()
	})
}

func TestObserveStreamEndsWithItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, writer := schema.Pipe[*schema.Message](0)
		var observed atomic.Bool
		out := observeStream(source, &repair{}, noEvents(), func([]core.ToolCall) error {
			observed.Store(true)
			return nil
		})
		go writer.Send(&schema.Message{Content: "a"}, nil)
		if _, err := out.Recv(); err != nil {
			t.Fatal(err)
		}
		out.Close()
		closed := false
		for range 3 {
			closed = writer.Send(&schema.Message{Content: "b"}, nil) || closed
			synctest.Wait()
		}
		if !closed {
			t.Error("source is still read after the reader was closed")
		}
		writer.Close()
		synctest.Wait()
		if observed.Load() {
			t.Error("an abandoned response was observed")
		}
	}) // synctest fails if a goroutine is left
}

func TestObserveStreamPassesPanicOn(t *testing.T) {
	source := schema.StreamReaderWithConvert(schema.StreamReaderFromArray([]int{1}),
		func(int) (*schema.Message, error) { panic("bad chunk") })
	out := observeStream(source, &repair{}, noEvents(), func([]core.ToolCall) error { return nil })
	defer out.Close()
	if _, err := out.Recv(); !errors.Is(err, errStreamPanic) {
		t.Errorf("got %v, want an error for the panic", err)
	}
}
