package loadmode_test

import (
	"fmt"

	"github.com/satchel-go/satchel/loadmode"
)

func ExampleMode_UnmarshalText() {
	var m loadmode.Mode
	err := m.UnmarshalText([]byte("session"))
	fmt.Println(m, err)
	fmt.Println(m.UnmarshalText([]byte("ever")))
	// Output:
	// session <nil>
	// unknown load mode "ever": use turn, once, session or adaptive
}

func ExamplePrices_UnmarshalText() {
	for _, text := range []string{"anthropic", "0.1,1.25,5m"} {
		var prices loadmode.Prices
		err := prices.UnmarshalText([]byte(text))
		fmt.Println(prices.Read, prices.Write, prices.TTL, err)
	}
	// Output:
	// 0.1 1.25 5m0s <nil>
	// 0.1 1.25 5m0s <nil>
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
