package cachemodel

import (
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// live counts the live tokens of a conversation by how often they had been sent
// before, from which the bound follows.
//
// A token is known by its text and its message. If a body is cleared and loaded
// again by a later call, it counts as sent for the first time again, because no
// cache of prefixes could have it there. Where the message stands in the request,
// and whether what precedes it has changed, does not matter.
type live struct {
	sent  [4]int // for the first, second, third time, and more often
	known map[place]*prompt.Tree
}

func newLive() live { return live{known: make(map[place]*prompt.Tree)} }

// bound is the least that a cache could have charged. A token that is sent n times
// costs at least n times the price of plain input, or is written once and read n-1
// times, whichever is less. A cache that writes whatever it does not read charges
// the price of writing even for what is sent only once.
func (l *live) bound(p Price) (sum float64) {
	least := func(n int) float64 {
		cached := p.Write + float64(n-1)*p.Read
		switch {
		case n == 0:
			return 0
		case p.Model.WritesAll:
			return cached
		}
		return min(float64(n), cached)
	}
	for i, tokens := range l.sent {
		sum += float64(tokens) * (least(i+1) - least(i))
	}
	return sum
}

// place is one piece of one message of a conversation, or a tool.
type place struct {
	message int // of a tool -1
	tool    int // its place in the list, from 1; 0 where it is known by its name
	piece   string
}

// LiveTools counts the tools of a request as live. A tool is known by its name, but
// what it shares with the one that stood in its place, a cache may have read too:
// whichever was sent more counts.
func (g *Gauge) LiveTools(request prompt.Request, p *prompt.Prompt) {
	for i, tool := range request.Tools {
		named := g.live.add(place{message: -1, piece: tool.Name}, p.Blocks[i].Tokens)
		there := g.live.add(place{message: -1, tool: i + 1}, p.Blocks[i].Tokens)
		if there[0] < named[0] {
			named = there
		}
		g.live.count(named)
	}
}

// Live counts one piece of a message as live. A piece is known by its name, which
// is "" for the message itself.
func (g *Gauge) Live(message int, piece string, parts ...[]uint32) {
	g.live.count(g.live.add(place{message: message, piece: piece}, parts...))
}

// add remembers a piece, and says how often its tokens were sent before: as often as
// earlier pieces at the same place began with them.
func (l *live) add(at place, parts ...[]uint32) [4]int {
	tree := l.known[at]
	if tree == nil {
		tree = new(prompt.Tree)
		l.known[at] = tree
	}
	return tree.Count(parts...)
}

func (l *live) count(times [4]int) {
	for i, tokens := range times {
		l.sent[i] += tokens
	}
}
