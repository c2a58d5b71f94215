package loadmode_test

import (
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

func ExampleParse() {
	m, err := loadmode.Parse("session")
	fmt.Println(m, err)
	_, err = loadmode.Parse("ever")
	fmt.Println(err)
	// Output:
	// session <nil>
	// unknown load mode "ever": use turn, once, session or adaptive
}

func ExampleAdvance() {
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Session} {
		rec := &state.Record{Turn: 1}
		rec.Activate("pdf", session.Digest("# PDF"))
		loadmode.Advance(rec, mode, "", state.Mark{})
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
	fmt.Println(loadmode.Evict(rec, 2, []string{"csv"}, nil))
	// Output: [docx]
}

func ExampleSpend() {
	rec := &state.Record{}
	rec.Deliver(state.Delivery{Call: 1, Skill: "pdf", Body: true})
	fmt.Println(loadmode.Spend(rec, loadmode.Once), loadmode.Spend(rec, loadmode.Once))
	fmt.Println(loadmode.ShowsElsewhere(loadmode.Once, &rec.Deliveries[0]))
	// Output:
	// true false
	// false
}

// The content of the first turn is small and much follows it, that of the second
// is large: only the second is worth a break of the cached prefix.
func ExampleCachePolicy_Cut() {
	policy := loadmode.CachePolicy{Read: 0.1, Write: 1.25, Horizon: 4}
	pieces := []loadmode.Piece{{Dead: 300, Live: 2500}, {Dead: 4000, Live: 600}}
	fmt.Println("clear from", policy.Cut(pieces, 0))
	// Output: clear from 1
}

func ExampleFindTurn() {
	messages := []core.Message{{Role: core.User, Text: "Read the form."}}
	turn := loadmode.FindTurn(&state.Record{}, messages, "", false, state.MarkText)
	fmt.Println(turn.Begins, turn.User.Ordinal)
	// Output: true 0
}

func ExampleParsePrices() {
	for _, text := range []string{"anthropic", "0.1,1.25,5m"} {
		prices, err := loadmode.ParsePrices(text)
		fmt.Println(prices.Read, prices.Write, prices.TTL, err)
	}
	_, err := loadmode.ParsePrices("cheap")
	fmt.Println(errors.Is(err, loadmode.ErrPrices))
	// Output:
	// 0.1 1.25 5m0s <nil>
	// 0.1 1.25 5m0s <nil>
	// true
}

// Reading and writing the cache cost parts or multiples of a plain token.
func ExamplePrices() {
	for name, p := range map[string]loadmode.Prices{
		"Claude": loadmode.Anthropic(), "DeepSeek": loadmode.DeepSeek(), "Gemini": loadmode.Gemini(), "GPT": loadmode.OpenAI(),
		"on this machine": loadmode.Local(), "unless told": loadmode.DefaultPrices(),
	} {
		fmt.Println(name, p.Read, p.Write, p.TTL, p.Check())
	}
	// Unordered output:
	// Claude 0.1 1.25 5m0s <nil>
	// DeepSeek 0.1 1 1h0m0s <nil>
	// Gemini 0.1 1 5m0s <nil>
	// GPT 0.1 1.25 30m0s <nil>
	// on this machine 0.05 1 0s <nil>
	// unless told 0.1 1.25 5m0s <nil>
}

func ExampleDefaultCaution() {
	caution, prices, text := loadmode.DefaultCaution(), loadmode.Anthropic(), loadmode.Facts{}
	fmt.Println(prices.ClearBy(caution, text) == prices.Clear(text))
	// Output: true
}
