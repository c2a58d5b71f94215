package loadmode_test

import (
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/loadmode"
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

// The content of the first turn is small and much follows it, that of the second
// is large: only the second is worth a break of the cached prefix.

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
		fmt.Println(name+":", p.Read, p.Write, p.TTL, p.Check())
	}
	// Unordered output:
	// Claude: 0.1 1.25 5m0s <nil>
	// DeepSeek: 0.1 1 1h0m0s <nil>
	// Gemini: 0.1 1 5m0s <nil>
	// GPT: 0.1 1.25 30m0s <nil>
	// on this machine: 0.05 1 0s <nil>
	// unless told: 0.1 1.25 5m0s <nil>
}
