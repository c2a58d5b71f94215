package eino_test

import (
	"reflect"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/adapter/eino"
)

const breakpoint = "_eino_claude_breakpoint"

// markedRun answers with a load and then with text, and returns the requests.
func markedRun(t *testing.T, history []*schema.Message, opts ...eino.Option) [][]*schema.Message {
	t.Helper()
	rt := newRuntime(t)
	llm := script(loading("1", "pdf"), say("done"))
	cfg := &adk.ChatModelAgentConfig{Model: llm, Instruction: "You help."}
	install(t, cfg, rt, opts...)
	run(t, newAgent(t, cfg), "s", false, history...)
	return llm.seen
}

func TestCacheMarks(t *testing.T) {
	history := []*schema.Message{
		schema.UserMessage("one"), say("first"),
		{Role: schema.User, Content: "two", Extra: map[string]any{"host": 1}},
	}
	plain := markedRun(t, history)
	requests := markedRun(t, history, eino.WithCacheMarks(func(m *schema.Message) *schema.Message {
		m.Extra[breakpoint] = true
		return m
	}))
	want := [][]bool{{true, true, false, true}, {true, false, false, true, false, true}}
	if len(requests) != len(want) {
		t.Fatalf("%d requests, want %d", len(requests), len(want))
	}
	for i, request := range requests {
		var marked []bool
		for j, m := range request {
			at := m.Extra[breakpoint] == true
			marked = append(marked, at)
			unmarked := *m
			unmarked.Extra = plain[i][j].Extra
			if !reflect.DeepEqual(&unmarked, plain[i][j]) {
				t.Errorf("request %d: message %d is\n%+v\nwithout marks\n%+v", i, j, m, plain[i][j])
			}
		}
		if !reflect.DeepEqual(marked, want[i]) {
			t.Errorf("request %d: marks %v, want %v", i, marked, want[i])
		}
		if last := request[3]; last.Extra["host"] != 1 {
			t.Errorf("request %d: the host's extra is %v", i, last.Extra)
		}
	}
	for _, m := range history {
		if _, marked := m.Extra[breakpoint]; marked {
			t.Errorf("the host's message %q was marked", m.Content)
		}
	}
}

// A function that returns nothing leaves the message as it is.
func TestCacheMarkThatReturnsNil(t *testing.T) {
	requests := markedRun(t, []*schema.Message{schema.UserMessage("one")}, eino.WithCacheMarks(func(m *schema.Message) *schema.Message {
		m.Content = "changed"
		return nil
	}))
	if got := requests[0][1].Content; got != "one" {
		t.Errorf("message is %q", got)
	}
}
