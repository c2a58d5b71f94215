package state_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

func TestFront(t *testing.T) {
	request := func(change func(m []core.Message) []core.Message) []core.Message {
		m := []core.Message{
			{Role: core.System, Text: "You help."}, {Role: core.User, Text: strings.Repeat("hi ", 3000)},
			{Role: core.Assistant, Calls: []core.ToolCall{{ID: "1", Name: "search", Arguments: "{}"}}},
			{Role: core.ToolResult, Text: "found"}, {Role: core.User, Text: "go on"},
		}
		return change(m)
	}
	first := state.ScanMessages(request(func(m []core.Message) []core.Message { return m }), 0)
	front := first.Front(4)
	requests := map[string]struct {
		change func(m []core.Message) []core.Message
		stands bool
	}{
		"same":         {func(m []core.Message) []core.Message { return m }, true},
		"more":         {func(m []core.Message) []core.Message { return append(m, m[4]) }, true},
		"behind it":    {func(m []core.Message) []core.Message { m[4].Text = "x"; return m }, true},
		"other ids":    {func(m []core.Message) []core.Message { m[2].Calls[0].ID = "2"; return m }, true},
		"our own text": {func(m []core.Message) []core.Message { m[0].Text += "x"; m[0].Added = "x"; return m }, true},
		"our message": {func(m []core.Message) []core.Message {
			return append([]core.Message{{Origin: core.Inserted, Text: "x"}}, m...)
		}, true},
		"system":         {func(m []core.Message) []core.Message { m[0].Text += "x"; return m }, false},
		"a long message": {func(m []core.Message) []core.Message { m[1].Text += "x"; return m }, false},
		"arguments":      {func(m []core.Message) []core.Message { m[2].Calls[0].Arguments = "[]"; return m }, false},
		"role":           {func(m []core.Message) []core.Message { m[3].Role = core.User; return m }, false},
		"cut":            {func(m []core.Message) []core.Message { return m[1:] }, false},
		"short":          {func(m []core.Message) []core.Message { return m[:3] }, false},
	}
	for name, tt := range requests {
		if got := stands(request(tt.change), front); got != tt.stands {
			t.Errorf("%s: stands: %v, want %v", name, got, tt.stands)
		}
	}
	for name, moved := range map[string]bool{"same": false, "more": false, "behind it": false, "our own text": false, "our message": false, "system": true, "cut": true, "short": true} {
		if got := hasMoved(request(requests[name].change), front); got != moved {
			t.Errorf("%s: moved: %v, want %v", name, got, moved)
		}
	}
	if !stands(nil, state.Front{}) {
		t.Error("nothing is always there")
	}
}

func hasMoved(messages []core.Message, front state.Front) bool {
	s := state.ScanMessages(messages, front.Messages)
	return s.HasMoved(front)
}

func stands(messages []core.Message, front state.Front) bool {
	s := state.ScanMessages(messages, front.Messages)
	return s.HasFront(front)
}
