// Package measure computes what a captured conversation costs: how many tokens
// were sent, how many of them a prompt cache would have served, where the prefix
// broke, and how far that is from the least that could have been paid.
package measure

import (
	"fmt"
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
	// Block is the kind of the first block that differs, Lost how many tokens of
	// the request before are not part of the prefix.
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
	m := &Conversation{Scenario: c.Scenario, System: c.System, Variant: c.Variant, Requests: len(c.Requests),
		Breaks: []Break{}, Lost: []Loss{}, Unmet: []string{}}
	prompts, err := m.render(c, r)
	if err != nil {
		return nil, err
	}
	l, err := follow(m, c, s, texts, r)
	if err != nil {
		return nil, err
	}
	m.cost(prompts, clock(c, s), l, prices)
	return m, nil
}

// render renders every request and counts what does not depend on a price.
func (m *Conversation) render(c *capture.Capture, r *prompt.Renderer) ([]*prompt.Prompt, error) {
	prompts := make([]*prompt.Prompt, len(c.Requests))
	for i, request := range c.Requests {
		var err error
		if prompts[i], err = r.Render(request); err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		m.Prompt += len(prompts[i].Tokens)
		m.Peak = max(m.Peak, len(prompts[i].Tokens))
		m.Sizes = append(m.Sizes, len(prompts[i].Tokens))
	}
	m.Fixed = fixed(prompts[0])
	m.Breaks = breaks(c, prompts)
	return prompts, nil
}

// cost sends the requests through the cache of each price.
func (m *Conversation) cost(prompts []*prompt.Prompt, times []time.Duration, l *live, prices []cachemodel.Price) {
	for _, p := range prices {
		cache, total := p.Model.New(p.TTL), cachemodel.Usage{}
		for i := range prompts {
			total = total.Add(cache.Send(prompts[i], times[i]))
		}
		cost := Cost{Price: p.Name, Read: total.Read, Written: total.Written, ITE: p.Cost(total)}
		cost.Bound = p.Write*float64(l.first) + p.Read*float64(l.again)
		if cost.Bound > 0 {
			cost.Ratio = cost.ITE / cost.Bound
		}
		m.Costs = append(m.Costs, cost)
	}
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

func breaks(c *capture.Capture, prompts []*prompt.Prompt) []Break {
	found := []Break{}
	for i := 1; i < len(prompts); i++ {
		shared := prompt.SharedTokens(prompts[i-1], prompts[i])
		if lost := len(prompts[i-1].Tokens) - shared; lost > 0 {
			turn := c.Requests[i].Turn
			found = append(found, Break{
				Request: i, Turn: turn, TurnBegins: turn != c.Requests[i-1].Turn,
				Block: blockAt(prompts[i-1], shared).String(), Lost: lost,
			})
		}
	}
	return found
}

func blockAt(p *prompt.Prompt, token int) prompt.Kind {
	for _, b := range p.Blocks {
		if token < len(b.Tokens) {
			return b.Kind
		}
		token -= len(b.Tokens)
	}
	return prompt.Result
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
