// Package measure computes the cost of a captured conversation. It counts the tokens of its
// requests, those that a prompt cache would have served, and the breaks of the prefix. It compares
// the cost with the least possible one.
package measure

import (
	"time"

	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Conversation holds the measurements of one captured conversation.
type Conversation struct {
	Scenario string `json:"scenario"`
	System   string `json:"system"`
	Variant  string `json:"variant"`

	cachemodel.Totals
	// SkillCalls counts the responses that asked for skills or docs.
	SkillCalls int `json:"skill_calls"`
	// Lost lists what a request should have shown and did not.
	Lost []Loss `json:"lost"`
	// Unmet are the texts that never came, however often they were asked for.
	Unmet []string `json:"unmet"`
	// Hindsight is, by price, what the best clearing would have cost, had one known
	// what comes; Kind is that of a random conversation.
	Hindsight map[string]float64 `json:"hindsight,omitempty"`
	Kind      string             `json:"kind,omitempty"`
}

// Loss is a needed text that is missing in a request.
type Loss struct {
	Request int    `json:"request"`
	Text    string `json:"text"`
}

// Missing returns how many texts were missing when they were needed.
func (m *Conversation) Missing() int { return len(m.Lost) + len(m.Unmet) }

// Of measures a capture of a scenario at every price.
func Of(c *prompt.Capture, s *scenario.Scenario, texts *scenario.Texts, r *prompt.Renderer, prices []cachemodel.Price) (*Conversation, error) {
	f := &follower{
		gauge: cachemodel.NewGauge(r, prices), renderer: r, texts: texts,
		m: &Conversation{Scenario: c.Scenario, System: c.System, Variant: c.Variant, Lost: []Loss{}, Unmet: []string{}},
	}
	if err := f.follow(c, s); err != nil {
		return nil, err
	}
	f.m.Totals = f.gauge.Done()
	return f.m, nil
}

// clock returns the time of each request. Requests of a turn follow each other at once, and a turn
// begins after the pause of its user.
func clock(c *prompt.Capture, s *scenario.Scenario) []time.Duration {
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
