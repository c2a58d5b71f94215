package langchaingo

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

func TestHistoryCarriesEarlierTurns(t *testing.T) {
	llm := script(
		reply("let me see", call("1", "a", `{"__arg1":"x"}`)), reply("answer one"),
		reply("answer two"),
		reply("answer three"),
		reply("other session"),
		reply("no session"),
	)
	talks := NewConversations()
	adapter := install(t, runtime(t), llm, []tools.Tool{hostTool{name: "a"}}, WithHistory(talks.History))
	exec := executor(adapter)
	run := func(ctx context.Context, q string) sent {
		t.Helper()
		if _, err := chains.Run(ctx, exec, q); err != nil {
			t.Fatal(err)
		}
		return llm.last()
	}
	ctx := satchel.WithSession(t.Context(), "s")
	run(ctx, "q1 {{.x}}")
	second, third := run(ctx, "q2"), run(ctx, "q3")
	want := []string{
		"0 system: " + defaultSystem + "…", "1 human: q1 {{.x}}", "2 ai: let me see", `2 ai: call 1 a {"__arg1":"x"}`, "3 tool: result 1 a a got x", "4 ai: answer one", "5 human: q2", "6 ai: answer two", "7 human: q3",
	}
	if diff := differ(want, lines(third.messages)); diff != "" {
		t.Errorf("third turn (-want +got):\n%s", diff)
	}
	first := llm.sent[1].messages // the last request of the first turn
	for _, later := range []sent{second, third} {
		if diff := differ(first, later.messages[:len(first)]); diff != "" {
			t.Errorf("a later turn does not begin with the first request:\n%s", diff)
		}
	}
	if diff := differ(second.messages, third.messages[:len(second.messages)]); diff != "" {
		t.Errorf("the third turn does not begin with the second request:\n%s", diff)
	}
	for _, ctx := range []context.Context{satchel.WithSession(t.Context(), "other"), t.Context()} {
		if got := len(run(ctx, "q").messages); got != 2 {
			t.Errorf("%d messages in a conversation of one turn", got)
		}
	}
	talks.Forget("s")
	if len(talks.messages) != 1 || len(talks.order) != 1 {
		t.Errorf("%d conversations after Forget", len(talks.messages))
	}
}

func TestHistoryOfTheHost(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name string
		open func(context.Context) (schema.ChatMessageHistory, error)
		want error
	}{
		{"none", func(context.Context) (schema.ChatMessageHistory, error) { return nil, nil }, nil},
		{"cannot open", func(context.Context) (schema.ChatMessageHistory, error) { return nil, broken }, broken},
		{"cannot read", func(context.Context) (schema.ChatMessageHistory, error) { return history{read: broken}, nil }, broken},
		{"cannot write", func(context.Context) (schema.ChatMessageHistory, error) { return history{write: broken}, nil }, broken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			adapter := install(t, runtime(t), script(reply("done")), nil, WithHistory(tt.open))
			_, err := chains.Run(t.Context(), executor(adapter), "q")
			if !errors.Is(err, tt.want) {
				t.Errorf("Run = %v, want %v", err, tt.want)
			}
			if n := adapter.runs.live.Len(); n != 0 {
				t.Errorf("%d runs are left", n)
			}
		})
	}
}

func TestHistoryWithCalls(t *testing.T) {
	said := []llms.ChatMessage{
		llms.SystemChatMessage{Content: "summary"},
		llms.HumanChatMessage{Content: "q0"},
		llms.AIChatMessage{Content: "hm", ToolCalls: []llms.ToolCall{{FunctionCall: &llms.FunctionCall{Name: "a", Arguments: "bare"}}}},
		llms.ToolChatMessage{Content: "r"},
	}
	llm := script(reply("done"))
	adapter := install(t, runtime(t), llm, nil, WithHistory(func(context.Context) (schema.ChatMessageHistory, error) { return history{said: said}, nil }))
	if _, err := chains.Run(t.Context(), executor(adapter), "q"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0 system: " + defaultSystem, "1 system: summary…", "2 human: q0", "3 ai: hm", `3 ai: call call_0_0 a {"__arg1":"bare"}`, "4 tool: result call_0_0 a r", "5 human: q",
	}
	if diff := differ(want, lines(llm.last().messages)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// history is a history of the host.
type history struct {
	schema.ChatMessageHistory
	said        []llms.ChatMessage
	read, write error
}

func (h history) Messages(context.Context) ([]llms.ChatMessage, error) { return h.said, h.read }
func (h history) AddUserMessage(context.Context, string) error         { return h.write }
func (h history) AddAIMessage(context.Context, string) error           { return h.write }

func TestConversationsAreBounded(t *testing.T) {
	talks := NewConversations()
	at := func(session string) context.Context {
		return adapter.WithKey(satchel.WithSession(t.Context(), session), core.SessionKey{Session: session, Agent: "agent"})
	}
	h, err := talks.History(at("s"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxTurnMessages {
		if err := h.AddUserMessage(t.Context(), fmt.Sprint("q", i)); err != nil {
			t.Fatal(err)
		}
		if err := h.AddAIMessage(t.Context(), fmt.Sprint("a", i)); err != nil {
			t.Fatal(err)
		}
		all, err := h.Messages(t.Context())
		if err != nil || len(all) > maxTurnMessages || all[0].GetType() != llms.ChatMessageTypeHuman {
			t.Fatalf("%d messages, the first of %s, %v", len(all), all[0].GetType(), err)
		}
	}
	for i := range maxConversations {
		if _, err := talks.History(at(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, there := talks.messages[core.SessionKey{Session: "s", Agent: "agent"}]; there || len(talks.messages) != maxConversations {
		t.Errorf("%d conversations, the oldest there: %v", len(talks.messages), there)
	}
}
