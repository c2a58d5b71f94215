package state_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

var key = core.SessionKey{Session: "s", Agent: "main"}

func load(t *testing.T, r *state.Records) *state.Record {
	t.Helper()
	rec, err := r.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func save(t *testing.T, r *state.Records, rec *state.Record) *state.Record {
	t.Helper()
	saved, err := r.Save(t.Context(), rec)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// A record that is saved comes back the same, from memory and from the store.
func TestRecordsKeepEveryField(t *testing.T) {
	store := session.NewMemory()
	r, want := state.NewRecords(store), full(key)
	equal(t, "never saved", load(t, r), &state.Record{Key: key})
	for range 6 {
		saved := save(t, r, want)
		want.Version++
		equal(t, "saved", saved, want)
		equal(t, "loaded", load(t, r), want)
		equal(t, "of another process", load(t, state.NewRecords(store)), want)
	}
}

// Save neither changes nor keeps its argument, and changes no record that was loaded.
func TestRecordsAreNotChangedInPlace(t *testing.T) {
	r, rec := state.NewRecords(session.NewMemory()), full(key)
	saved := save(t, r, rec)
	equal(t, "argument", rec, full(key))
	rec.Active[0].Docs[0] = "changed"
	rec.Deliveries[0].Docs[0].Name = "changed"
	rec.Deliveries[0].Anchor.Hash = "changed"
	rec.Pending[0].Answer = "changed"
	rec.Notes[0].Text = "changed"
	rec.Unnumbered[0].ID = "changed"
	rec.Lists[0].Tools[0] = "changed"
	rec.Grants[0].Skills["pdf"] = "changed"
	want := full(key)
	want.Version = 1
	equal(t, "saved", saved, want)
	before := load(t, r)
	equal(t, "loaded", before, want)
	for i := range 6 {
		next := load(t, r).Clone()
		next.Turn = 100 + i
		next.Active[0].Docs[0] = fmt.Sprint("doc ", i)
		next.Active = next.Active[:1]
		save(t, r, next)
	}
	equal(t, "loaded before", before, want)
}

// A record is decoded once while its value stays the same.
func TestRecordsAreDecodedOnce(t *testing.T) {
	store := session.NewMemory()
	r := state.NewRecords(store)
	if saved := save(t, r, full(key)); load(t, r) != saved {
		t.Error("a record that was just saved is decoded")
	}
	other := state.NewRecords(store)
	first := load(t, other)
	if load(t, other) != first {
		t.Error("an unchanged value is decoded again")
	}
	save(t, r, load(t, r))
	if again := load(t, other); again == first || again.Version != 2 {
		t.Errorf("got version %d", again.Version)
	}
}

// The versions of a key start again when its session ends. So a record of another process may
// have the version of a cached one.
func TestRecordsOfAnEndedSession(t *testing.T) {
	store := session.NewMemory()
	first, second := state.NewRecords(store), state.NewRecords(store)
	for i := range 4 {
		save(t, first, &state.Record{Key: key, TurnState: state.TurnState{Turn: 2 * i}})
		equal(t, "turn", load(t, first).Turn, 2*i)
		if err := second.End(t.Context(), key.Session); err != nil {
			t.Fatal(err)
		}
		save(t, second, &state.Record{Key: key, TurnState: state.TurnState{Turn: 2*i + 1}})
		equal(t, "turn after the end", load(t, first).Turn, 2*i+1)
		if err := second.MarkEnded(t.Context(), key.Session); err != nil {
			t.Fatal(err)
		}
		equal(t, "turn after another end", load(t, first).Turn, 0)
	}
}

func TestRecordsOfWrongBytes(t *testing.T) {
	store := session.NewMemory()
	r, rec := state.NewRecords(store), full(core.SessionKey{Session: "s", Agent: "a\xff"})
	rec.Pending[0].Answer = "torn \xe4\xb8 rune, real \ufffd, written \\ufffd"
	saved := save(t, r, rec)
	loaded, err := state.NewRecords(store).Load(t.Context(), rec.Key)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "loaded", loaded, saved)
	equal(t, "key", loaded.Key, rec.Key)
}

// A host's own value is not a record, and is not changed.
func TestRecordsOfAHost(t *testing.T) {
	store := session.NewMemory()
	if _, err := store.Save(t.Context(), key, session.Value{Data: []byte("[]")}); err != nil {
		t.Fatal(err)
	}
	r := state.NewRecords(store)
	if rec, err := r.Load(t.Context(), key); !errors.Is(err, session.ErrDamaged) {
		t.Errorf("got %+v, %v", rec, err)
	}
	other := core.SessionKey{Session: key.Session, Agent: "other"}
	if _, err := r.Save(t.Context(), &state.Record{Key: other, TurnState: state.TurnState{Calls: 3}}); err != nil {
		t.Fatal(err)
	}
	if err := r.MarkEnded(t.Context(), key.Session); err != nil {
		t.Fatal(err)
	}
	if calls, err := r.Ended(t.Context(), other); calls != 3 || err != nil {
		t.Errorf("call %d, %v", calls, err)
	}
}

func increment(ctx context.Context, r *state.Records) error {
	_, err := r.Update(ctx, key, func(rec *state.Record) (*state.Record, error) {
		next := rec.Clone()
		next.Calls++
		return next, nil
	})
	return err
}

func TestUpdate(t *testing.T) {
	t.Run("none is lost", func(t *testing.T) {
		store := session.NewMemory()
		var wg sync.WaitGroup
		for range 3 {
			r := state.NewRecords(store)
			for range 16 {
				wg.Go(func() {
					for range 8 {
						if err := increment(t.Context(), r); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		wg.Wait()
		rec := load(t, state.NewRecords(store))
		equal(t, "calls", rec.Calls, 3*16*8)
		equal(t, "version", rec.Version, int64(3*16*8))
	})
	t.Run("nothing to save", func(t *testing.T) {
		r := state.NewRecords(session.NewMemory())
		save(t, r, full(key))
		for _, change := range []func(*state.Record) (*state.Record, error){
			func(*state.Record) (*state.Record, error) { return nil, nil },
			func(rec *state.Record) (*state.Record, error) { return rec, nil },
		} {
			if got, err := r.Update(t.Context(), key, change); err != nil || got.Version != 1 {
				t.Errorf("got %+v, %v", got, err)
			}
		}
		equal(t, "version", load(t, r).Version, int64(1))
	})
	t.Run("an error of the change is returned", func(t *testing.T) {
		r, boom := state.NewRecords(session.NewMemory()), errors.New("boom")
		if _, err := r.Update(t.Context(), key, func(*state.Record) (*state.Record, error) { return nil, boom }); !errors.Is(err, boom) {
			t.Errorf("got %v", err)
		}
		equal(t, "version", load(t, r).Version, int64(0))
	})
	t.Run("an uncertain save is not repeated", func(t *testing.T) {
		store := &uncertainStore{Store: session.NewMemory()}
		if err := increment(t.Context(), state.NewRecords(store)); !errors.Is(err, session.ErrUncertain) {
			t.Errorf("got %v", err)
		}
		equal(t, "saves", store.saves, 1)
	})
	t.Run("after a conflict the record is loaded again", func(t *testing.T) {
		store := session.NewMemory()
		r := state.NewRecords(store)
		stale := load(t, r)
		save(t, state.NewRecords(store), &state.Record{Key: key, TurnState: state.TurnState{Calls: 5}})
		rec, err := r.UpdateFrom(t.Context(), stale, func(rec *state.Record) (*state.Record, error) {
			next := rec.Clone()
			next.Calls++
			return next, nil
		})
		if err != nil || rec.Calls != 6 || rec.Version != 2 {
			t.Errorf("got %+v, %v", rec, err)
		}
	})
}

// uncertainStore loses the answer of every Save.
type uncertainStore struct {
	session.Store
	saves int
}

func (u *uncertainStore) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	u.saves++
	_, err := u.Store.Save(ctx, key, v)
	return session.Value{}, errors.Join(session.ErrUncertain, err)
}

func TestRecordsThatListNothing(t *testing.T) {
	if _, err := state.NewRecords(struct{ session.Store }{session.NewMemory()}).Sessions(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// full returns a record with something in every field.
func full(key core.SessionKey) *state.Record {
	mark := state.Mark{Hash: "h", Ordinal: 3, Turn: 2}
	return &state.Record{
		Key: key,
		TurnState: state.TurnState{
			Turn:  2,
			Token: "t<&>\u2028",
			User:  mark,
			Calls: 9,
			Pending: []state.Pending{{
				Call: 9, From: core.ToolCall{ID: "c1", Name: "skill_load", Arguments: `{"skill":"pdf"}`},
				Done: true, Answer: "loaded: pdf\n",
			}, {Call: 10, From: core.ToolCall{ID: "c2", Name: "skill_run"}, Done: true, Runs: true, Begun: true, Text: "d4"}},
			Before: &state.Beginning{
				Calls: 4, Uses: 3,
				Active:     []state.Active{{Skill: "old", Digest: "d6", Docs: []string{"c.md"}}},
				Deliveries: []state.Delivery{{Call: 2, Turn: 1, Skill: "old", Digest: "d6", Body: true}},
				Lists:      []state.ToolList{{Skill: "old", Tools: []string{"Read"}}},
				Recent:     []state.RecentLoad{{Skill: "old", Turn: 1}},
			},
			OnceCalls:  []state.Pending{{From: core.ToolCall{ID: "c3", Name: "skill_run"}, Done: true, Runs: true, Begun: true, Answer: "ok"}},
			Unnumbered: []state.Unnumbered{{ID: "c0", Name: "search"}, {Name: "send", After: 9}},
			Terminals:  3,
		},
		LoadState: state.LoadState{
			Uses: 7,
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
			Recent:  []state.RecentLoad{{Skill: "pdf", Turn: 2}},
			Compact: []state.Compaction{{Skill: "pdf", Digest: "d5"}},
		},
		GateState: state.GateState{
			Lists: []state.ToolList{
				{Skill: "pdf", Call: 4, Tools: []string{"Bash(git:*)", "Read"}, Repaired: true, Old: true}, {Skill: "docx", Tools: []string{}},
			},
			Grants: []state.Grant{{Tool: "skill_run", Use: "u", Skills: map[string]string{"pdf": "d1"}}},
		},
		PriceState: state.PriceState{
			Returns: state.Returns{
				Skills: []state.Return{{Skill: "docx", Out: 3, Back: 1, Quiet: 2}, {Skill: "pdf"}}, Rest: state.Return{Other: 5},
			},
			Sent:  11,
			Front: state.Front{Messages: 2, Size: 70, Sum: 1 << 31, Moved: 1},
		},
		NoteState: state.NoteState{
			Overview: "o",
			Listing:  "l",
			NoSkills: true,
			Notes:    []state.Note{{Anchor: mark, Text: "new skill", Files: []state.NotedFile{{Identity: "i1", As: "a_2.csv"}}}},
		},
	}
}
