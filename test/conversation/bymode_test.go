package conversation_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// manyTurns is a chat of twelve turns, each with one of five skills, and a
// thirteenth that has loaded two.
func manyTurns(t testing.TB, mode loadmode.Mode, store session.Store) *chattest.Chat {
	t.Helper()
	c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(12).Files, satchel.WithLoadMode(mode), satchel.WithStore(store)))
	c.Say(core.System, "You help.")
	for turn := range 12 {
		c.Say(core.User, fmt.Sprint("turn ", turn))
		c.Calls(fmt.Sprintf(`skill_load {"skill":"s%d","docs":["d0.md"]}`, turn%5))
		c.Calls("search x")
		c.Answer("done")
	}
	c.Say(core.User, "the last one")
	c.Calls("skill_load s6", "skill_load s7")
	return c
}

// BenchmarkPrepareByMode measures one model call in the middle of the same turn.
func BenchmarkPrepareByMode(b *testing.B) {
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Session, loadmode.Adaptive} {
		b.Run(mode.String(), func(b *testing.B) {
			c := manyTurns(b, mode, session.NewMemory())
			req := core.Request{Key: c.Key, Messages: c.Messages}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Runtime.Prepare(c.Context, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// In the middle of a turn mode Adaptive makes a view with no more allocations than mode
// Session, which shows as many texts; what it keeps to decide takes less than a kilobyte
// of the record.
func TestModeAdaptiveKeepsLittle(t *testing.T) {
	allocs := map[loadmode.Mode]float64{}
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Session, loadmode.Adaptive} {
		store := session.NewMemory()
		c := manyTurns(t, mode, store)
		req := core.Request{Key: c.Key, Messages: c.Messages}
		allocs[mode] = testing.AllocsPerRun(50, func() {
			if _, err := c.Runtime.Prepare(c.Context, req); err != nil {
				t.Fatal(err)
			}
		})
		rec, err := store.Load(t.Context(), c.Key)
		if err != nil {
			t.Fatal(err)
		}
		bare := rec.Clone()
		bare.Returns, bare.Sent, bare.Front = session.Returns{}, 0, session.Front{}
		with, err1 := json.Marshal(rec)
		without, err2 := json.Marshal(bare)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		grown := len(with) - len(without)
		t.Logf("mode %v: a view of %d messages makes %v allocations; the record has %d bytes, %d of them to decide", mode, len(c.Messages), allocs[mode], len(with), grown)
		if decides := mode == loadmode.Adaptive; grown >= 1000 || (grown > 0) != decides {
			t.Errorf("mode %v: %d bytes of the record are kept to decide", mode, grown)
		}
	}
	if allocs[loadmode.Adaptive] > allocs[loadmode.Session]+1 {
		t.Errorf("allocations by mode: %v", allocs)
	}
}
