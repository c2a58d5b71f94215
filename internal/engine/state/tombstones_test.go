package state_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

func TestEnded(t *testing.T) {
	t.Run("tombstones", func(t *testing.T) { testEnded(t, session.NewMemory()) })
	t.Run("values", func(t *testing.T) { testEnded(t, plainStore{session.NewMemory()}) })
}

func testEnded(t *testing.T, store session.Store) {
	records := state.NewRecords(store)
	save := func(id, agent string, calls int) {
		t.Helper()
		key := core.SessionKey{Session: id, Agent: agent}
		if _, err := records.Update(t.Context(), key, func(rec *state.Record) (*state.Record, error) {
			next := rec.Clone()
			next.Calls = calls
			return next, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	ended := func(id, agent string, want int) {
		t.Helper()
		calls, err := records.Ended(t.Context(), core.SessionKey{Session: id, Agent: agent})
		if calls != want || err != nil {
			t.Errorf("%s of %s: call %d, %v; want %d", agent, id, calls, err, want)
		}
	}
	end := func(id string) {
		t.Helper()
		if err := records.MarkEnded(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if agents, err := store.Agents(t.Context(), id); err != nil || len(agents) > 0 {
			t.Errorf("agents %q, %v", agents, err)
		}
	}
	end("never")
	save("chat", "a", 3)
	save("chat", "b", 0)
	ended("chat", "a", 0)
	end("chat")
	ended("chat", "a", 3)
	ended("chat", "b", 0)
	ended("other", "a", 0)
	save("chat", "a", 5)
	end("chat")
	ended("chat", "a", 5)
}

// plainStore is a store that keeps no tombstones of its own.
type plainStore struct{ session.Store }

// If very many sessions end, the last ones are remembered and old tombstones are dropped.
func TestTombstonesAreBounded(t *testing.T) {
	store := plainStore{session.NewMemory()}
	records := state.NewRecords(store)
	const sessions = 3000
	for i := range sessions {
		id := fmt.Sprint("chat-", i)
		if _, err := records.Save(t.Context(), &state.Record{Key: core.SessionKey{Session: id, Agent: "a"}, TurnState: state.TurnState{Calls: i % 7}}); err != nil {
			t.Fatal(err)
		}
		if err := records.MarkEnded(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	type tombstone struct {
		Agent string `json:"agent"`
		Calls int    `json:"calls"`
		At    int64  `json:"at"`
	}
	const kept = "satchel:ended"
	load := func(shard string) (v session.Value, all []tombstone) {
		t.Helper()
		v, err := store.Load(t.Context(), core.SessionKey{Session: kept, Agent: shard})
		if err == nil && v.Version > 0 {
			err = json.Unmarshal(v.Data, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
		return v, all
	}
	shards, err := store.Agents(t.Context(), kept)
	if err != nil || len(shards) != 256 {
		t.Fatalf("%d shards, %v", len(shards), err)
	}
	total := 0
	for _, shard := range shards {
		_, all := load(shard)
		if len(all) > 64 {
			t.Errorf("shard %s has %d sessions", shard, len(all))
		}
		total += len(all)
	}
	if want := sessions - (sessions+6)/7; total != want {
		t.Errorf("%d sessions are kept, want %d", total, want)
	}
	shard := session.Digest("chat-1")[:2]
	v, _ := load(shard)
	var old []tombstone
	for i := range 64 {
		old = append(old, tombstone{Agent: fmt.Sprint(i), Calls: 1, At: int64(i % 2)})
	}
	if v.Data, err = json.Marshal(old); err != nil {
		t.Fatal(err)
	}
	key := core.SessionKey{Session: "chat-1", Agent: "a"}
	_, saveErr := store.Save(t.Context(), core.SessionKey{Session: kept, Agent: shard}, v)
	_, recordErr := records.Save(t.Context(), &state.Record{Key: key, TurnState: state.TurnState{Calls: 1}})
	if err := errors.Join(saveErr, recordErr, records.MarkEnded(t.Context(), key.Session)); err != nil {
		t.Fatal(err)
	}
	if _, all := load(shard); len(all) != 1 || all[0].Calls != 1 {
		t.Errorf("tombstones of long ago stay: %+v", all)
	}
}
