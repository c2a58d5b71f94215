package conversation_test

import (
	"context"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// A response may hold the same call twice, and a provider may give neither an
// id. The second is executed as the first is.
func TestTwinCallsWithoutIDs(t *testing.T) {
	rt := chattest.Open(t, chattest.NewWorld(1).Files)
	ctx, key := context.Background(), core.SessionKey{Session: "s"}
	if _, err := rt.Prepare(ctx, core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}); err != nil {
		t.Fatal(err)
	}
	load := core.ToolCall{Name: "skill_load", Arguments: `{"skill":"s0"}`}
	calls := []core.ToolCall{load, {Name: "skill_unload", Arguments: `{"all":true}`}, load}
	if err := rt.Hooks().Observe(ctx, key, calls); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"[skill#1 +", "[skill#2 -", "[skill#3 +"} {
		answer, err := rt.CallTool(ctx, key, calls[i])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(answer, want) {
			t.Errorf("call %d answers %q, want %q", i, answer, want)
		}
	}
	loaded, err := rt.Loaded(satchel.WithSession(ctx, "s"))
	if err != nil || len(loaded) != 1 {
		t.Errorf("loaded %v, %v", loaded, err)
	}
}
