package chat

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/session"
)

// Of two processes that go on with one conversation, the later turn is refused.
func TestKeptTurnsConflict(t *testing.T) {
	store, id := session.NewMemory(), "c"
	a, err := openStoredHistory(t.Context(), store, id)
	if err != nil {
		t.Fatal(err)
	}
	b, err := openStoredHistory(t.Context(), store, id)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.add([]savedMessage{{Role: roleUser, Text: "mine"}}); err != nil {
		t.Fatal(err)
	}
	if err := b.add([]savedMessage{{Role: roleUser, Text: "yours"}}); err == nil || !strings.Contains(err.Error(), "another process has gone on") || len(b.messages) != 0 {
		t.Errorf("%v, %+v", err, b.messages)
	}
	again, err := openStoredHistory(t.Context(), store, id)
	if err != nil || len(again.messages) != 1 || again.messages[0].Text != "mine" {
		t.Errorf("%+v, %v", again, err)
	}
}
