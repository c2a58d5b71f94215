package eino

import (
	"errors"
	"io"
	"testing"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

func at(i int) *int { return &i }

func made(index *int, id, name, args string) schema.ToolCall {
	return schema.ToolCall{Index: index, ID: id, Function: schema.FunctionCall{Name: name, Arguments: args}}
}

// Calls without an id, with another call's id, or without arguments are completed in the same
// way in a message and in a stream. The model's own message does not change.
func TestRepairedCalls(t *testing.T) {
	want := []schema.ToolCall{
		made(nil, "call_2_0", "a", `{"x":1}`), made(nil, "x", "b", "{}"), made(nil, "call_2_2", "c", "{}"),
	}
	whole := &schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{
		made(nil, "", "a", `{"x":1}`), made(nil, "x", "b", "{}"), made(nil, "x", "c", ""),
	}}
	got := (&repair{response: 2}).completeMessage(whole)
	sameCalls(t, want, got.ToolCalls)
	if whole.ToolCalls[0].ID != "" || whole.ToolCalls[2].Function.Arguments != "" {
		t.Error("the model's message was changed")
	}

	chunks := [][]schema.ToolCall{
		{made(at(0), "", "a", "")}, {made(at(0), "", "", `{"x"`)}, {made(at(1), "x", "b", "{}")},
		{made(at(0), "", "", `:1}`)}, {made(at(2), "x", "c", "")}, {made(at(2), "x", "", "")},
	}
	source, writer := schema.Pipe[*schema.Message](len(chunks))
	for _, calls := range chunks {
		writer.Send(&schema.Message{Role: schema.Assistant, ToolCalls: calls}, nil)
	}
	writer.Close()
	var observed []core.ToolCall
	out := observeStream(source, &repair{response: 2}, noEvents(), func(calls []core.ToolCall) error {
		observed = calls
		return nil
	})
	var parts []*schema.Message
	for {
		m, err := out.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, m)
	}
	joined, err := schema.ConcatMessages(parts)
	if err != nil {
		t.Fatal(err)
	}
	sameCalls(t, want, joined.ToolCalls)
	for i, c := range observed {
		if c != coreCall(&want[i]) {
			t.Errorf("observed call %d = %+v", i, c)
		}
	}
}

func sameCalls(t *testing.T, want, got []schema.ToolCall) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d calls, want %d", len(got), len(want))
	}
	for i := range want {
		if coreCall(&want[i]) != coreCall(&got[i]) {
			t.Errorf("call %d = %+v, want %+v", i, coreCall(&got[i]), coreCall(&want[i]))
		}
	}
}
