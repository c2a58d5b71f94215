package lifetime_test

import (
	"fmt"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

func ExampleAdvance() {
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Session} {
		rec := &state.Record{TurnState: state.TurnState{Turn: 1}}
		rec.Activate("pdf", session.Digest("# PDF"))
		lifetime.Advance(rec, mode, "", state.Mark{})
		fmt.Println(mode, rec.Turn, len(rec.Active))
	}
	// Output:
	// turn 2 0
	// session 2 1
}

func ExampleEvict() {
	rec := &state.Record{}
	for _, name := range []string{"pdf", "docx", "csv"} {
		rec.Activate(name, session.Digest(name))
	}
	rec.Touch("pdf")
	fmt.Println(lifetime.Evict(rec, 2, []string{"csv"}, nil))
	// Output: [docx]
}

func ExampleSpend() {
	rec := &state.Record{}
	rec.Deliver(state.Delivery{Call: 1, Skill: "pdf", Body: true})
	fmt.Println(lifetime.Spend(rec, loadmode.Once), lifetime.Spend(rec, loadmode.Once))
	fmt.Println(lifetime.ShowsInFallback(loadmode.Once, &rec.Deliveries[0]))
	// Output:
	// true false
	// false
}

func ExampleCut() {
	policy := loadmode.CachePolicy{Read: 0.1, Write: 1.25, Horizon: 4}
	pieces := []lifetime.Piece{{Dead: 300, Live: 2500}, {Dead: 4000, Live: 600}}
	fmt.Println("clear from", lifetime.Cut(policy, pieces, 0))
	// Output: clear from 1
}

func ExampleFindTurn() {
	messages := []core.Message{{Role: core.User, Text: "Read the form."}}
	scan := state.ScanMessages(messages, 0)
	turn := lifetime.FindTurn(&state.Record{}, &scan, "", false, state.MarkText)
	fmt.Println(turn.Begins, turn.User.Ordinal)
	// Output: true 0
}

func ExampleDefaultCaution() {
	caution, prices, text := lifetime.DefaultCaution(), loadmode.Anthropic(), lifetime.Facts{}
	fmt.Println(len(lifetime.ClearBy(prices, caution, text)) == len(lifetime.Clear(prices, text)))
	// Output: true
}
