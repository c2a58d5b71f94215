package conversation_test

import (
	"fmt"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// manyTurns is a chat of twelve turns, each with one of five skills, and a
// thirteenth that has loaded two.
func manyTurns(t testing.TB, mode loadmode.Mode, store session.Store) *chattest.Chat {
	t.Helper()
	c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(12).Files, satchel.WithLoading(satchel.Loading{Mode: mode}), satchel.WithStore(store)))
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
// Session, which shows as many texts.
func TestModeAdaptiveAllocatesNoMore(t *testing.T) {
	allocs := map[loadmode.Mode]float64{}
	for _, mode := range []loadmode.Mode{loadmode.Session, loadmode.Adaptive} {
		c := manyTurns(t, mode, session.NewMemory())
		req := core.Request{Key: c.Key, Messages: c.Messages}
		allocs[mode] = testing.AllocsPerRun(50, func() {
			if _, err := c.Runtime.Prepare(c.Context, req); err != nil {
				t.Fatal(err)
			}
		})
	}
	if allocs[loadmode.Adaptive] > allocs[loadmode.Session]+1 {
		t.Errorf("allocations by mode: %v", allocs)
	}
}
