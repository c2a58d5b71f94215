package loadmode

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestParsePrices(t *testing.T) {
	for text, want := range map[string]Prices{
		"openai": OpenAI(), "anthropic": Anthropic(), "gemini": Gemini(), "deepseek": DeepSeek(), "local": Local(),
		"0.1,1.25,5m": DefaultPrices(), " 0.5, 1 ,0s": {Read: 0.5, Write: 1}, "0,0,1h": {TTL: time.Hour},
	} {
		if got, err := parsePrices(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "nobody", "0.1,1.25", "0.1,1.25,5", "-1,1,5m", "NaN,1,5m", "1,Inf,5m", "1.5,1,5m", "0.1,1,-5m", "0.1,1.25,5m,1"} {
		if _, err := parsePrices(text); !errors.Is(err, errPrices) {
			t.Errorf("%q: %v, want errPrices", text, err)
		}
	}
}

func TestCheckPolicy(t *testing.T) {
	for _, p := range []CachePolicy{{Read: -1}, {Write: math.NaN()}, {Write: math.Inf(1)}, {Horizon: -1}, {TTL: -1}} {
		if err := p.Check(); !errors.Is(err, errPolicy) {
			t.Errorf("%+v: %v, want errPolicy", p, err)
		}
	}
	if err := (CachePolicy{Read: 0.1, Write: 1.25, Horizon: 4, TTL: time.Hour}).Check(); err != nil {
		t.Error(err)
	}
}
