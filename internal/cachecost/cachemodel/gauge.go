package cachemodel

import (
	"fmt"
	"slices"
	"time"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Gauge measures the cost of one conversation. It holds the last request and the contents of the
// modelled caches. It is not safe for concurrent use.
type Gauge struct {
	renderer *prompt.Renderer
	prices   []Price
	caches   []*cache
	total    Totals
	live     live
	turn     int
	last     *prompt.Prompt
}

// cache is one modelled cache. Prices with the same rule and TTL share it.
type cache struct {
	rule  string
	ttl   time.Duration
	model Cache
	total Usage
}

// NewGauge returns a gauge that reports the cost at each price.
func NewGauge(r *prompt.Renderer, prices []Price) *Gauge {
	g := &Gauge{renderer: r, prices: prices, total: Totals{Breaks: []Break{}}, live: newLive()}
	for _, p := range prices {
		if g.cacheOf(p) == nil {
			g.caches = append(g.caches, &cache{rule: p.Model.Rule, ttl: p.TTL, model: p.Model.New(p.TTL)})
		}
	}
	return g
}

func (g *Gauge) cacheOf(p Price) *cache {
	i := slices.IndexFunc(g.caches, func(c *cache) bool { return c.rule == p.Model.Rule && c.ttl == p.TTL })
	if i < 0 {
		return nil
	}
	return g.caches[i]
}

// Send measures the next request and counts all of it as live. at is the time since the first
// request and must never decrease. Send reports whether the request broke the prefix, and where.
func (g *Gauge) Send(request prompt.Request, at time.Duration) (Break, bool, error) {
	breaks := len(g.total.Breaks)
	p, err := g.Add(request, at)
	if err != nil {
		return Break{}, false, err
	}
	g.LiveTools(request, p)
	for i, parts := range Messages(p) {
		g.Live(i, "", parts...)
	}
	if len(g.total.Breaks) == breaks {
		return Break{}, false, nil
	}
	return g.total.Breaks[breaks], true, nil
}

// Add measures the next request as [Gauge.Send] does, but counts none of it as live. The caller
// does that with [Gauge.LiveTools] and [Gauge.Live].
func (g *Gauge) Add(request prompt.Request, at time.Duration) (*prompt.Prompt, error) {
	p, err := g.renderer.Render(request)
	if err != nil {
		return nil, fmt.Errorf("request %d: %w", g.total.Requests, err)
	}
	if g.last == nil {
		g.total.Fixed = fixed(p)
	} else if block, lost, ok := Breaks(g.last, p); ok {
		g.total.Breaks = append(g.total.Breaks, Break{
			Request: g.total.Requests, Turn: request.Turn, TurnBegins: request.Turn != g.turn,
			Block: block.Kind.String(), Lost: lost,
		})
	}
	g.total.Requests++
	g.total.Prompt += p.Size
	g.total.Peak = max(g.total.Peak, p.Size)
	g.total.Sizes = append(g.total.Sizes, p.Size)
	for _, c := range g.caches {
		c.total = c.total.Add(c.model.Send(p, at))
	}
	g.last, g.turn = p, request.Turn
	return p, nil
}

// Breaks reports whether a request does not begin with the one before it. block is the first block
// of the previous request that differs. lost counts the tokens that are paid for twice.
func Breaks(before, now *prompt.Prompt) (block prompt.Block, lost int, ok bool) {
	shared := prompt.SharedTokens(before, now)
	if shared >= before.Size {
		return prompt.Block{}, 0, false
	}
	at, _ := blockAt(before, shared)
	return before.Blocks[at], resent(before, now, shared), true
}

// Done returns the totals with the cost at every price. Call it once, after the last request.
func (g *Gauge) Done() Totals {
	for _, p := range g.prices {
		total := g.cacheOf(p).total
		cost := Cost{Price: p.Name, Read: total.Read, Written: total.Written, ITE: p.Cost(total)}
		cost.Bound = g.live.bound(p)
		if cost.Bound > 0 {
			cost.Ratio = cost.ITE / cost.Bound
		}
		g.total.Costs = append(g.total.Costs, cost)
	}
	return g.total
}

// Messages returns the tokens of each message of a prompt, block by block.
func Messages(p *prompt.Prompt) [][][]uint32 {
	var all [][][]uint32
	for _, b := range p.Blocks {
		if b.Message < 0 {
			continue
		}
		if b.Message == len(all) {
			all = append(all, nil)
		}
		all[b.Message] = append(all[b.Message], b.Tokens)
	}
	return all
}

// fixed counts the tokens of tools and system messages.
func fixed(p *prompt.Prompt) int {
	n := 0
	for _, b := range p.Blocks {
		if b.Kind == prompt.KindTool || b.Kind == prompt.KindSystem {
			n += len(b.Tokens)
		}
	}
	return n
}
