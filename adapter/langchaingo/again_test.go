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

// A Call that is made again after it failed, under the same token, sends what it would
// send had it not failed: each of its requests, whatever it had loaded.
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

// requestsOf plays two turns and returns the requests of the second one. If it fails it
// does so after two loads, and is made again in a process that has only the history.
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
