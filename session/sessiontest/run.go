// Package sessiontest checks that an implementation of session.Store keeps
// every promise of that interface.
package sessiontest

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// Run runs the conformance tests, each on a store of its own. open returns an
// empty store and registers its closing with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) session.Store) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, session.Store)
	}{
		{"load/never saved", loadNeverSaved},
		{"save/returns the record as stored", saveReturnsStored},
		{"save/neither changes nor keeps its argument", saveLeavesArgument},
		{"save/counts versions", saveCounts},
		{"save/stale version conflicts and stores nothing", saveConflicts},
		{"save/future version conflicts", saveFuture},
		{"save/nil is an error", saveNil},
		{"save/leaves records that were handed out alone", saveLeavesLoaded},
		{"save/keeps every field", saveKeepsFields},
		{"save/text that is not UTF-8", saveInvalidText},
		{"save/agents are separate", agentsSeparate},
		{"agents/sorted", agentsSorted},
		{"agents/pins alone make none", agentsOfPins},
		{"pin/read back", pinReadBack},
		{"pin/again changes nothing", pinAgain},
		{"pin/belongs to the session", pinBelongs},
		{"pin/wrong digest is refused", pinWrongDigest},
		{"pin/unknown digest", pinUnknown},
		{"unpin/removes what is not kept of the session only", unpinKeeps},
		{"unpin/unknown session", unpinUnknown},
		{"end/removes everything of the session only", endRemoves},
		{"end/unknown session", endUnknown},
		{"end/late save does not revive", endLateSave},
		{"end/session starts again", endStartsAgain},
		{"ids/any string is an id", hostileIDs},
		{"ids/any string is an agent", hostileAgents},
		{"context/cancelled", cancelled},
		{"update/nil and same record save nothing", updateUnchanged},
		{"update/error of change is returned", updateError},
		{"parallel/no update is lost", parallelUpdates},
		{"parallel/one of many saves of a version wins", parallelFirstSave},
		{"parallel/many sessions", parallelSessions},
		{"parallel/end against save and pin", parallelEnd},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// ok stops the test at an error.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must returns v and stops the test at an error.
func must[T any](t *testing.T, v T, err error) T {
	t.Helper()
	ok(t, err)
	return v
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func is(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("got error %v, want one that wraps %q", err, target)
	}
}

func load(t *testing.T, s session.Store, key core.SessionKey) *state.Record {
	t.Helper()
	return must2(t)(s.Load(t.Context(), key))
}

func save(t *testing.T, s session.Store, rec *state.Record) *state.Record {
	t.Helper()
	return must2(t)(s.Save(t.Context(), rec))
}

func must2(t *testing.T) func(*state.Record, error) *state.Record {
	t.Helper()
	return func(rec *state.Record, err error) *state.Record {
		t.Helper()
		if err == nil && rec == nil {
			t.Fatal("got neither a record nor an error")
		}
		return must(t, rec, err)
	}
}

// increment adds one call, which tests count to find lost updates.
func increment(ctx context.Context, s session.Store, key core.SessionKey) error {
	_, err := session.Update(ctx, s, key, func(r *state.Record) (*state.Record, error) {
		next := r.Clone()
		next.Calls++
		return next, nil
	})
	return err
}

// full returns a record with something in every field.
func full(key core.SessionKey) *state.Record {
	mark := state.Mark{Hash: "h", Ordinal: 3, Turn: 2}
	return &state.Record{
		Key: key, Turn: 2, Token: "t<&>\u2028", User: mark, Calls: 9, Uses: 7,
		Active: []state.Active{
			{Skill: "pdf", Digest: "d1", Docs: []string{"b.md", "a.md"}, Used: 7},
			{Skill: "docx", Digest: "d2", All: true, Used: 6},
		},
		Deliveries: []state.Delivery{{
			Call: 4, Turn: 1, Skill: "pdf", Digest: "d1", Body: true,
			Docs:   []state.Doc{{Name: "b.md", Digest: "d3", Old: true}},
			Anchor: &mark, Supersedes: true, Old: true, Seen: true, Spent: true,
		}, {
			Call: 5, Turn: 1, Skill: "a skill (with marks)", Digest: session.Digest("body"), Body: true, Listing: session.Digest("files"),
			Docs: []state.Doc{{Name: "b c.md", Digest: session.Digest("doc"), Framed: true}}, Seen: true, Ended: true,
		}},
		Pending: []state.Pending{{
			Call: 9, From: core.ToolCall{ID: "c1", Name: "skill_load", Arguments: `{"skill":"pdf"}`},
			Done: true, Answer: "loaded: pdf\n",
		}, {Call: 10, From: core.ToolCall{ID: "c2", Name: "skill_run"}, Done: true, Runs: true, Begun: true, Text: "d4"}},
		Before: &state.Beginning{
			Calls: 4, Uses: 3,
			Active:     state.Was[state.Active]{Kept: []state.Kept{{At: 1}, {Gone: true}}, Gone: []state.Active{{Skill: "old", Digest: "d6", Docs: []string{"c.md"}}}},
			Deliveries: state.Was[state.Delivery]{Kept: []state.Kept{{Gone: true}, {At: 1, Ended: true}, {At: 0}}, Gone: []state.Delivery{{Call: 2, Turn: 1, Skill: "old", Digest: "d6", Body: true}}},
			Lists:      state.Was[state.ToolList]{Kept: []state.Kept{{Gone: true}}, Gone: []state.ToolList{{Skill: "old", Tools: []string{"Read"}}}},
			Recent:     state.Was[state.RecentLoad]{Kept: []state.Kept{{Gone: true}}, Gone: []state.RecentLoad{{Skill: "old", Turn: 1}}},
		},
		Ran:        []state.Pending{{From: core.ToolCall{ID: "c3", Name: "skill_run"}, Done: true, Runs: true, Begun: true, Answer: "ok"}},
		Unnumbered: []state.Unnumbered{{ID: "c0", Name: "search"}, {Name: "send", After: 9}},
		Lists: []state.ToolList{
			{Skill: "pdf", Call: 4, Tools: []string{"Bash(git:*)", "Read"}, Repaired: true, Old: true}, {Skill: "docx", Tools: []string{}},
		},
		Returns: state.Returns{
			Skills: []state.Return{{Skill: "docx", Out: 3, Back: 1, Quiet: 2}, {Skill: "pdf"}}, Rest: state.Return{Other: 5},
		},
		Sent: 11, Front: state.Front{Messages: 2, Size: 70, Sum: 1 << 31, Moved: 1},
		Handed: []state.Handover{{Agent: "router", Turn: 2}, {
			Agent: "other", Turn: 1, Lists: []state.ToolList{{Skill: "pdf", Tools: []string{"Read"}}}, Policy: "restrict", Combine: "union", Tools: []string{"search"},
		}},
		Recent:   []state.RecentLoad{{Skill: "pdf", Turn: 2}},
		Compact:  []state.Compaction{{Skill: "pdf", Digest: "d5"}},
		Grants:   []state.Grant{{Tool: "skill_run", Use: "u", Skills: map[string]string{"pdf": "d1"}}},
		Overview: "o", Listing: "l", NoSkills: true,
		Notes:     []state.Note{{Anchor: mark, Text: "new skill", Files: []state.NotedFile{{Identity: "i1", As: "a_2.csv"}}}},
		Terminals: 3,
		Closed:    []state.Closed{{Agent: "0f", Calls: 4, At: 1}},
		Held:      state.Held{Holder: []byte("h"), Fence: 8, Until: 9, Wanted: true},
	}
}
