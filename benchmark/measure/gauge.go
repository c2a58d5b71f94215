package measure

import (
	"fmt"
	"slices"
	"time"

	"github.com/satchel-go/satchel/benchmark/cachemodel"
	"github.com/satchel-go/satchel/benchmark/capture"
	"github.com/satchel-go/satchel/benchmark/prompt"
	"github.com/satchel-go/satchel/benchmark/scenario"
)

// Gauge measures a conversation request by request. Of what was sent it keeps the
// last request and what its caches would hold, no text twice. It is not safe for
// concurrent use.
type Gauge struct {
	renderer *prompt.Renderer
	prices   []cachemodel.Price
	caches   []*cache
	m        *Conversation
	live     live
	turn     int
	last     *prompt.Prompt
}

// cache is one that several prices have in common.
type cache struct {
	rule  string
	ttl   time.Duration
	model cachemodel.Cache
	total cachemodel.Usage
}

// NewGauge returns a gauge for a conversation that costs these prices.
func NewGauge(r *prompt.Renderer, prices []cachemodel.Price) *Gauge {
	g := &Gauge{renderer: r, prices: prices, m: &Conversation{Breaks: []Break{}, Lost: []Loss{}, Unmet: []string{}}, live: newLive()}
	for _, p := range prices {
		if g.cacheOf(p) == nil {
			g.caches = append(g.caches, &cache{rule: p.Model.Rule, ttl: p.TTL, model: p.Model.New(p.TTL)})
		}
	}
	return g
}

func (g *Gauge) cacheOf(p cachemodel.Price) *cache {
	i := slices.IndexFunc(g.caches, func(c *cache) bool { return c.rule == p.Model.Rule && c.ttl == p.TTL })
	if i < 0 {
		return nil
	}
	return g.caches[i]
}

// Send measures the next request, at a time since the first that never decreases.
// There is no script: all of it counts as live. It reports whether the prefix
// broke, and where.
func (g *Gauge) Send(request capture.Request, at time.Duration) (Break, bool, error) {
	breaks := len(g.m.Breaks)
	p, err := g.send(request, at)
	if err != nil {
		return Break{}, false, err
	}
	if err := g.scripted(request, p, nil, new(scenario.Texts)); err != nil || len(g.m.Breaks) == breaks {
		return Break{}, false, err
	}
	return g.m.Breaks[breaks], true, nil
}

// send counts what does not depend on what is live.
func (g *Gauge) send(request capture.Request, at time.Duration) (*prompt.Prompt, error) {
	p, err := g.renderer.Render(request)
	if err != nil {
		return nil, fmt.Errorf("request %d: %w", g.m.Requests, err)
	}
	if g.last == nil {
		g.m.Fixed = fixed(p)
	} else if shared := prompt.SharedTokens(g.last, p); shared < g.last.Size {
		block, _ := blockAt(g.last, shared)
		g.m.Breaks = append(g.m.Breaks, Break{
			Request: g.m.Requests, Turn: request.Turn, TurnBegins: request.Turn != g.turn,
			Block: g.last.Blocks[block].Kind.String(), Lost: anew(g.last, p, shared),
		})
	}
	g.m.Requests++
	g.m.Prompt += p.Size
	g.m.Peak = max(g.m.Peak, p.Size)
	g.m.Sizes = append(g.m.Sizes, p.Size)
	for _, c := range g.caches {
		c.total = c.total.Add(c.model.Send(p, at))
	}
	g.last, g.turn = p, request.Turn
	return p, nil
}

// Done returns what was measured, with the costs.
func (g *Gauge) Done() *Conversation {
	for _, p := range g.prices {
		total := g.cacheOf(p).total
		cost := Cost{Price: p.Name, Read: total.Read, Written: total.Written, ITE: p.Cost(total)}
		cost.Bound = p.Write*float64(g.live.first) + p.Read*float64(g.live.again)
		if cost.Bound > 0 {
			cost.Ratio = cost.ITE / cost.Bound
		}
		g.m.Costs = append(g.m.Costs, cost)
	}
	return g.m
}

// messages are the tokens of each message of a prompt, block by block.
func messages(p *prompt.Prompt) [][][]uint32 {
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
