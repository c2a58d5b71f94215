package loadmode

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Prices are the prices of a provider with a prompt cache, as multiples of the price of an
// input token without a cache.
type Prices struct {
	// Read is the price of a token that is read from the cache, Write that of one that is written
	// to it.
	Read, Write float64
	// TTL is how long the cache keeps an unused prefix; 0 means forever.
	TTL time.Duration
}

// errPrices reports impossible prices.
var errPrices = errors.New("invalid prices")

// DefaultPrices returns the default prices of a runtime: 0.1 for reading, 1.25 for writing, and
// five minutes.
func DefaultPrices() Prices { return Prices{Read: 0.1, Write: 1.25, TTL: 5 * time.Minute} }

// presets are the providers' published prices. OpenAI's are those from GPT-5.6 on (prompt
// caching guide, September 2026). Anthropic's are those of a five-minute entry (prompt caching
// documentation, October 2026). Gemini and DeepSeek cache automatically and charge nothing for
// writing. A local server costs time instead: cached tokens still take some time to attend to.
var presets = []struct {
	name   string
	prices Prices
}{
	{"anthropic", Prices{0.1, 1.25, 5 * time.Minute}},
	{"deepseek", Prices{0.1, 1, time.Hour}},
	{"gemini", Prices{0.1, 1, 5 * time.Minute}},
	{"local", Prices{0.05, 1, 0}},
	{"openai", Prices{0.1, 1.25, 30 * time.Minute}},
}

// OpenAI returns the prices of OpenAI's models from GPT-5.6 on.
func OpenAI() Prices { return preset("openai") }

// Anthropic returns the prices of Claude with entries of five minutes.
func Anthropic() Prices { return preset("anthropic") }

// Gemini returns the prices of Gemini's implicit cache.
func Gemini() Prices { return preset("gemini") }

// DeepSeek returns the prices of DeepSeek's cache on disk.
func DeepSeek() Prices { return preset("deepseek") }

// Local returns prices for a server of the host's own, such as llama.cpp or vLLM, that caches
// the prefix of a session.
func Local() Prices { return preset("local") }

func preset(name string) Prices {
	i := slices.IndexFunc(presets, func(p struct {
		name   string
		prices Prices
	}) bool {
		return p.name == name
	})
	return presets[i].prices
}

// parsePrices parses the text of UnmarshalText. The error wraps errPrices and says which texts
// are valid.
func parsePrices(text string) (Prices, error) {
	var names []string
	for _, p := range presets {
		if p.name == text {
			return p.prices, nil
		}
		names = append(names, p.name)
	}
	fields := strings.Split(text, ",")
	if len(fields) == 3 {
		read, err1 := strconv.ParseFloat(strings.TrimSpace(fields[0]), 64)
		write, err2 := strconv.ParseFloat(strings.TrimSpace(fields[1]), 64)
		ttl, err3 := time.ParseDuration(strings.TrimSpace(fields[2]))
		if errors.Join(err1, err2, err3) == nil {
			p := Prices{read, write, ttl}
			return p, p.Check()
		}
	}
	return Prices{}, fmt.Errorf("%w %q: use %s, or read,write,ttl such as 0.1,1.25,5m", errPrices, text, strings.Join(names, ", "))
}

// UnmarshalText sets the prices from the name of a provider, or from the price of reading, the
// price of writing and the TTL, separated by commas: "openai", "0.1,1.25,5m".
func (p *Prices) UnmarshalText(text []byte) (err error) {
	*p, err = parsePrices(string(text))
	return err
}

// Check returns an error that names the problem: a price that is negative or not a number,
// reading that costs more than writing, or a negative TTL.
func (p Prices) Check() error {
	for _, price := range []float64{p.Read, p.Write} {
		if price < 0 || math.IsNaN(price) || math.IsInf(price, 0) {
			return fmt.Errorf("%w: price %v", errPrices, price)
		}
	}
	if p.Read > p.Write {
		return fmt.Errorf("%w: reading at %v costs more than writing at %v", errPrices, p.Read, p.Write)
	}
	if p.TTL < 0 {
		return fmt.Errorf("%w: TTL %v", errPrices, p.TTL)
	}
	return nil
}
