package conversation_test

import (
	"context"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// A token that a session has seen begins no turn, also when another turn lies
// between: a late retry must not end what the present turn has loaded.
func TestSeenTokenBeginsNoTurn(t *testing.T) {
	turns := 0
	rt, err := satchel.New(satchel.WithSkillFS("skills", chattest.NewWorld(1).Files), satchel.WithEvents(func(_ context.Context, e core.Event) {
		if e.Kind == core.TurnBegun {
			turns++
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	req := core.Request{Key: core.SessionKey{Session: "s"}, Messages: []core.Message{{Role: core.User, Text: "go on"}}}
	for _, step := range []struct {
		token string
		want  int
	}{{"a", 1}, {"a", 1}, {"b", 2}, {"a", 2}, {"b", 2}, {"c", 3}} {
		if _, err := rt.Prepare(satchel.BeginTurn(context.Background(), step.token), req); err != nil {
			t.Fatal(err)
		}
		if turns != step.want {
			t.Errorf("after token %q: %d turns, want %d", step.token, turns, step.want)
		}
	}
}
