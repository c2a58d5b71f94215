package lifetime_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
)

func TestFindTurn(t *testing.T) {
	// Each word is a message. Its first letter is the author: u the user, r a middleware
	// that rewrites, s the system, a the model, t a tool.
	request := func(words string) (messages []core.Message) {
		for w := range strings.FieldsSeq(words) {
			m := core.Message{Text: w[1:]}
			switch w[0] {
			case 'u':
				m.Role = core.User
			case 'r':
				m.Role, m.Rewritten = core.User, true
			case 's':
				m.Role = core.System
			case 'a':
				m.Role = core.Assistant
			case 't':
				m.Role = core.ToolResult
			}
			messages = append(messages, m)
		}
		return messages
	}
	hash := func(text string) string { return "#" + text }
	one := state.Record{TurnState: state.TurnState{Turn: 1, User: state.Mark{Hash: "#1", Turn: 1}}}
	token := state.Record{TurnState: state.TurnState{Turn: 3, Token: "now", Tokens: []string{"old"}, User: state.Mark{Hash: "#1"}}}
	for _, tt := range []struct {
		name     string
		rec      state.Record
		messages string
		token    string
		closed   bool
		want     lifetime.UserTurn
	}{
		{"first request", state.Record{}, "s u1", "", false, lifetime.UserTurn{Begins: true, User: state.Mark{Hash: "#1"}}},
		{"first request, nothing said", state.Record{}, "s", "", false, lifetime.UserTurn{Begins: true}},
		{"first request of a running turn", state.Record{}, "u1 a t", "", false, lifetime.UserTurn{Begins: true, Answered: true, User: state.Mark{Hash: "#1"}}},
		{"retry", one, "u1", "", false, lifetime.UserTurn{User: state.Mark{Hash: "#1"}}},
		{"next step", one, "u1 a t", "", false, lifetime.UserTurn{Answered: true, User: state.Mark{Hash: "#1"}}},
		{"next message", one, "u1 a u2", "", false, lifetime.UserTurn{Begins: true, User: state.Mark{Hash: "#2", Ordinal: 1}}},
		{"the same words again", one, "u1 a u1", "", false, lifetime.UserTurn{Begins: true, User: state.Mark{Hash: "#1", Ordinal: 1}}},
		{"the same words in a cut history", one, "u1", "", true, lifetime.UserTurn{Begins: true, User: state.Mark{Hash: "#1"}}},
		{"a message of a rewriter", one, "u1 a rsummary", "", true, lifetime.UserTurn{Answered: true, User: state.Mark{Hash: "#1"}}},
		{"a new message that was answered", one, "u1 a u2 a", "", false, lifetime.UserTurn{Answered: true, User: state.Mark{Hash: "#2", Ordinal: 1}}},
		{"new token", token, "u1 a t", "new", false, lifetime.UserTurn{Begins: true, Token: "new", Answered: true, User: state.Mark{Hash: "#1"}}},
		{"same token", token, "u1 a u2", "now", true, lifetime.UserTurn{Token: "now", User: state.Mark{Hash: "#2", Ordinal: 1}}},
		{"token of an earlier turn", token, "u1 a u2", "old", false, lifetime.UserTurn{Token: "old", User: state.Mark{Hash: "#2", Ordinal: 1}}},
	} {
		scan := state.ScanMessages(request(tt.messages), 0)
		if got := lifetime.FindTurn(&tt.rec, &scan, tt.token, tt.closed, hash); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestSpendCall(t *testing.T) {
	rec := &state.Record{LoadState: state.LoadState{Deliveries: []state.Delivery{{Call: 1}, {Call: 2}, {Call: 2}}}}
	lifetime.SpendCall(rec, 2)
	for _, d := range rec.Deliveries {
		if d.Spent != (d.Call == 2) {
			t.Errorf("delivery of call %d: spent is %v", d.Call, d.Spent)
		}
	}
}
