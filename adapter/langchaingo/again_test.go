package langchaingo

import (
	"context"
	"errors"
	"testing"

	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// A Call that is repeated under the same token after a failure sends the same requests as a
// Call without the failure, whatever it had loaded.
func TestCallAgain(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Once, loadmode.Session, loadmode.Adaptive} {
		t.Run(mode.String(), func(t *testing.T) {
			sound := requestsOf(t, mode, false)
			for i, got := range requestsOf(t, mode, true) {
				if diff := differ(sound[i], got); diff != "" {
					t.Errorf("request %d differs from one without a failure:\n%s", i, diff)
				}
			}
		})
	}
}

// requestsOf plays two turns and returns the requests of the second one. If fails is set, the
// second turn fails after two loads. It is then repeated in a process that has only the
// history.
func requestsOf(t *testing.T, mode loadmode.Mode, fails bool) (requests [][]llms.MessageContent) {
	t.Helper()
	store, talks, next, broken := session.NewMemory(), NewConversations(), 0, errors.New("broken")
	answers := []*llms.ContentResponse{
		reply("", call("1", "skill_load", `{"skill":"xlsx"}`)), reply("one"),
		reply("", call("2", "skill_load", `{"skill":"pdf"}`)), reply("", call("3", "skill_unload", `{"skill":"xlsx"}`)), reply("two"),
	}
	llm := &scripted{answer: func(int, sent) (*llms.ContentResponse, error) {
		if fails && next == 4 {
			return nil, broken
		}
		next++
		return answers[next-1], nil
	}}
	talk := func(question string) error {
		adapter := install(t, runtime(t, satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Mode: mode})), llm, nil, WithHistory(talks.History))
		_, err := chains.Run(satchel.BeginTurn(satchel.WithSession(context.Background(), "s"), question), executor(adapter), question)
		return err
	}
	if err := talk("first"); err != nil {
		t.Fatal(err)
	}
	if fails {
		if err := talk("second"); !errors.Is(err, broken) {
			t.Fatalf("the turn does not fail: %v", err)
		}
		fails, next = false, 2
	}
	began := len(llm.sent)
	if err := talk("second"); err != nil {
		t.Fatal(err)
	}
	for _, s := range llm.sent[began:] {
		requests = append(requests, s.messages)
	}
	if len(requests) != 3 {
		t.Fatalf("%d requests", len(requests))
	}
	return requests
}
