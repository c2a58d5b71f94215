// Package measure computes what a captured conversation costs: how many tokens
// were sent, how many of them a prompt cache would have served, where the prefix
// broke, and how far that is from the least that could have been paid.
package measure

import (
	"time"

	"github.com/satchel-go/satchel/benchmark/cachemodel"
	"github.com/satchel-go/satchel/benchmark/capture"
	"github.com/satchel-go/satchel/benchmark/prompt"
	"github.com/satchel-go/satchel/benchmark/scenario"
)

// Conversation is what is known of one captured conversation.
type Conversation struct {
	Scenario string `json:"scenario"`
	System   string `json:"system"`
	Variant  string `json:"variant"`

	Requests int `json:"requests"`
	// Prompt are the tokens of all requests, Peak those of the largest, and
	// Fixed those of the first without what the user said.
	Prompt int `json:"prompt_tokens"`
	Peak   int `json:"peak_tokens"`
	Fixed  int `json:"fixed_tokens"`
	// SkillCalls are the responses that asked for skills or docs.
	SkillCalls int `json:"skill_calls"`
	// Sizes are the prompt tokens of each request.
	Sizes []int `json:"sizes"`
	// Breaks are the requests that do not begin with the request before them.
	Breaks []Break `json:"breaks"`
	// Lost says what a request should have shown and did not.
	Lost []Loss `json:"lost"`
	// Unmet are the texts that never came, however often they were asked for.
	Unmet []string `json:"unmet"`
	// Costs are one for each price.
	Costs []Cost `json:"costs"`
}

// Cost is what the conversation costs at one price.
type Cost struct {
	Price   string `json:"price"`
	Read    int    `json:"read_tokens"`
	Written int    `json:"written_tokens"`
	// ITE is the cost in input-token equivalents, Bound the least that any cache
	// could charge for it, Ratio the one in the other.
	ITE   float64 `json:"ite"`
	Bound float64 `json:"bound"`
	Ratio float64 `json:"ratio"`
}

// Break is a request whose prefix is not the request before it.
type Break struct {
	Request int `json:"request"` // from 0
	Turn    int `json:"turn"`
	// TurnBegins: it is the first request of its turn.
	TurnBegins bool `json:"turn_begins"`
	// Block is the kind of the first block that differs in the request before, Lost
	// how many tokens are sent anew: of what the request holds from there on, that
	// which the request before held from there on too.
	Block string `json:"block"`
	Lost  int    `json:"lost_tokens"`
}

// Loss is a text that was needed and is not in a request.
type Loss struct {
	Request int    `json:"request"`
	Text    string `json:"text"`
}

// At returns the cost at a price, the zero Cost if it was not asked for.
func (m *Conversation) At(price string) Cost {
	for _, c := range m.Costs {
		if c.Price == price {
			return c
		}
	}
	return Cost{}
}

// Missing is how many texts were not there when they were needed.
func (m *Conversation) Missing() int { return len(m.Lost) + len(m.Unmet) }

// Of measures a capture of a scenario at every price.
func Of(c *capture.Capture, s *scenario.Scenario, texts *scenario.Texts, r *prompt.Renderer, prices []cachemodel.Price) (*Conversation, error) {
	g := NewGauge(r, prices)
	g.m.Scenario, g.m.System, g.m.Variant = c.Scenario, c.System, c.Variant
	if err := g.follow(c, s, texts); err != nil {
		return nil, err
	}
	return g.Done(), nil
}

// fixed counts the tokens of tools and system messages.
func fixed(p *prompt.Prompt) int {
	n := 0
	for _, b := range p.Blocks {
		if b.Kind == prompt.Tool || b.Kind == prompt.System {
			n += len(b.Tokens)
		}
	}
	return n
}

// clock is when each request is sent: calls follow each other at once, and a
// turn begins after the time that its user was idle.
func clock(c *capture.Capture, s *scenario.Scenario) []time.Duration {
	times := make([]time.Duration, len(c.Requests))
	now := time.Duration(0)
	for i, r := range c.Requests {
		if i > 0 && r.Turn != c.Requests[i-1].Turn && r.Turn >= 0 && r.Turn < len(s.Turns) {
			now += time.Duration(s.Turns[r.Turn].IdleSeconds * float64(time.Second))
		}
		times[i] = now
	}
	return times
}
