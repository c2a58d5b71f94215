package state_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/session"
)

// countingStore counts the texts that reach a store, and loses them on demand.
type countingStore struct {
	session.Store
	pins  int
	lost  bool
	named []string // the pins of the value that was saved last
}

func (c *countingStore) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	c.named = v.Pins
	return c.Store.Save(ctx, key, v)
}

// stored returns the record in the store, without its archived deliveries.
func (c *countingStore) stored(t *testing.T, key core.SessionKey) (rec *state.Record, size int) {
	t.Helper()
	v, err := c.Load(t.Context(), key)
	if err == nil {
		rec, err = state.Decode(key, v.Version, v.Data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rec, len(v.Data)
}

func (c *countingStore) Pin(ctx context.Context, id, digest, text string) error {
	c.pins++
	return c.Store.Pin(ctx, id, digest, text)
}

func (c *countingStore) Pinned(ctx context.Context, id, digest string) (string, error) {
	if c.lost {
		return "", session.ErrNotPinned
	}
	return c.Store.Pinned(ctx, id, digest)
}

// asText is how a record with these deliveries, and with those of its beginning, would be
// written.
func asText(t *testing.T, rec *state.Record) string {
	t.Helper()
	data, err := state.Encode(&state.Record{TurnState: state.TurnState{Before: rec.Before}, LoadState: state.LoadState{Deliveries: rec.Deliveries}})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// deliveryChanger makes the changes to deliveries that turns and loads make.
type deliveryChanger struct {
	*rand.Rand
	calls int
}

func (v *deliveryChanger) change(rec *state.Record) {
	ended := func(is bool) {
		for i := range rec.Deliveries {
			if d := &rec.Deliveries[i]; v.IntN(4) > 0 {
				d.Ended = is && !d.Old
			}
		}
	}
	switch v.IntN(8) {
	case 0:
		ended(true)
	case 1:
		ended(false)
	case 2:
		if n := len(rec.Deliveries); n > 0 {
			rec.Deliveries[v.IntN(n)].Old = true
		}
	case 3:
		if n := len(rec.Deliveries); n > 0 {
			rec.Deliveries = slices.Delete(rec.Deliveries, v.IntN(n), n)
		}
	case 4:
		if n := len(rec.Deliveries); n > 0 {
			i := v.IntN(n)
			rec.Deliveries = slices.Delete(rec.Deliveries, i, i+1)
		}
	default:
		v.calls++
		for i := range 1 + v.IntN(3) {
			d := state.Delivery{Call: v.calls, Turn: v.calls, Skill: fmt.Sprint("skill ", v.IntN(20), "-", i), Body: true, Seen: true, Ended: v.IntN(3) > 0}
			d.Digest = session.Digest(fmt.Sprint(d.Call, d.Skill))
			for j := range v.IntN(3) {
				d.Docs = append(d.Docs, state.Doc{Name: fmt.Sprint("doc ", j), Digest: session.Digest(fmt.Sprint(d.Call, j))})
			}
			rec.Deliver(d)
		}
	}
}

// Whatever happens to the texts in view, the loaded record equals the saved one, on this
// replica and on another. Its pins name all of the texts, because a store whose texts expire
// renews these.
func TestArchiveKeepsDeliveries(t *testing.T) {
	key := core.SessionKey{Session: "s", Agent: "a"}
	archived := 0
	for seed := range uint64(16) {
		v := &deliveryChanger{Rand: rand.New(rand.NewPCG(seed, 3))}
		below := &countingStore{Store: chattest.Decoded{Store: session.NewMemory()}}
		c := state.NewRecords(below)
		for step := range 60 {
			rec, err := c.Load(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			next := rec.Clone()
			v.change(next)
			if next.Turn = 2; v.IntN(4) == 0 {
				next.Before = nil // a new turn begins
			} else {
				next.KeepBeginning(rec)
			}
			want := asText(t, next)
			saved, err := c.Save(t.Context(), next)
			if err != nil {
				t.Fatal(err)
			}
			again, err := c.Load(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if v.IntN(3) == 0 {
				c = state.NewRecords(below)
			}
			other, err := state.NewRecords(below).Load(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			for who, got := range map[string]*state.Record{"argument": next, "saved": saved, "loaded": again, "of another replica": other} {
				if text := asText(t, got); text != want {
					t.Fatalf("seed %d, step %d: %s:\n%s\nwant\n%s", seed, step, who, text, want)
				}
			}
			stored, _ := below.stored(t, key)
			if stored.Archive.List == "" {
				continue
			}
			archived++
			for _, d := range append(other.Deliveries, state.Delivery{Skill: "the list", Digest: stored.Archive.List}) {
				if !slices.Contains(below.named, d.Digest) || !slices.Contains(other.Pins(), d.Digest) {
					t.Fatalf("seed %d, step %d: %s is not among the pins", seed, step, d.Skill)
				}
			}
		}
	}
	if archived < 200 {
		t.Errorf("only %d records of 960 have an archive", archived)
	}
}

// atTurns saves a record as turns go by that each load another skill, whose texts stay.
func atTurns(t *testing.T, c *state.Records, key core.SessionKey, turns int) {
	t.Helper()
	for turn := range turns {
		_, err := c.Update(t.Context(), key, func(rec *state.Record) (*state.Record, error) {
			next := rec.Clone()
			for i := range next.Deliveries {
				next.Deliveries[i].Ended = true
			}
			next.Deliver(state.Delivery{Call: turn + 1, Turn: turn + 1, Skill: fmt.Sprint("customer-replies-", turn), Digest: session.Digest(fmt.Sprint(turn)), Body: true, Seen: true})
			return next, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A stored record is short however many texts stay in view, at one pin for three or more.
func TestArchiveIsShort(t *testing.T) {
	key := core.SessionKey{Session: "s", Agent: "a"}
	below := &countingStore{Store: chattest.Decoded{Store: session.NewMemory()}}
	atTurns(t, state.NewRecords(below), key, 100)
	if _, size := below.stored(t, key); size > 1000 || below.pins > 34 {
		t.Errorf("%d bytes and %d pins with 100 texts in view", size, below.pins)
	}
	whole, err := state.NewRecords(below).Load(t.Context(), key)
	if err != nil || len(whole.Deliveries) != 100 {
		t.Errorf("%d deliveries, want 100: %v", len(whole.Deliveries), err)
	}
}

// A record whose archive the store has lost keeps the deliveries that it lists itself.
func TestArchiveThatIsLost(t *testing.T) {
	key := core.SessionKey{Session: "s", Agent: "a"}
	below := &countingStore{Store: chattest.Decoded{Store: session.NewMemory()}}
	atTurns(t, state.NewRecords(below), key, 20)
	below.lost = true
	c := state.NewRecords(below)
	rec, err := c.Load(t.Context(), key)
	if err != nil || len(rec.Deliveries) == 0 || len(rec.Deliveries) > 6 || rec.Archive.List != "" {
		t.Fatalf("%d deliveries, archive %+v, %v", len(rec.Deliveries), rec.Archive, err)
	}
	atTurns(t, c, key, 1)
	if now, err := c.Load(t.Context(), key); err != nil || len(now.Deliveries) != len(rec.Deliveries)+1 {
		t.Errorf("%d deliveries after one more, before %d: %v", len(now.Deliveries), len(rec.Deliveries), err)
	}
}
