package satchel_test

import (
	"context"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// A response may hold the same call twice, and a provider may give neither an
// id. The second is executed as the first is, although an adapter reports the
// first as finished after it has ended.
func TestTwinCallsWithoutIDs(t *testing.T) {
	rt := open(t, exampleSkills)
	ctx, key := context.Background(), core.SessionKey{Session: "s"}
	if _, err := rt.Prepare(ctx, core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}); err != nil {
		t.Fatal(err)
	}
	name := rt.Catalog().Snapshot().Skills()[0].Name
	load := core.ToolCall{Name: "skill_load", Arguments: `{"skill":"` + name + `"}`}
	calls := []core.ToolCall{load, {Name: "skill_unload", Arguments: `{"all":true}`}, load}
	if err := rt.Observe(ctx, key, calls); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"[skill#1 +", "[skill#2 -", "[skill#3 +"} {
		answer, err := rt.CallTool(ctx, key, calls[i])
		if err != nil {
			t.Fatal(err)
		}
		rt.Finished(key, calls[i])
		if !strings.Contains(answer, want) {
			t.Errorf("call %d answers %q, want %q", i, answer, want)
		}
	}
	loaded, err := rt.Loaded(satchel.WithSession(ctx, "s"))
	if err != nil || len(loaded) != 1 {
		t.Errorf("loaded %v, %v", loaded, err)
	}
}
