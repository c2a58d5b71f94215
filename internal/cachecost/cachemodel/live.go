package cachemodel

import (
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// live counts the live tokens of a conversation by how often they were sent. A token is live if
// the model still needs it. The bound of the cost follows from these counts.
//
// A token is identified by its text and its message. If a skill's text is cleared and loaded
// again by a later call, it counts as new, because no cache of prefixes could have it there. The
// position of the message in the request, and changes before it, do not matter.
type live struct {
	sent  [4]int // for the first, second, third time, and more often
	known map[place]*prompt.Tree
}

func newLive() live { return live{known: make(map[place]*prompt.Tree)} }

// bound returns the least cost that any cache could charge. A token that is sent n times costs n
// times the price of plain input, or is written once and read n-1 times, whichever is less. A
// cache with WritesAll also charges the price of writing for a token that is sent once.
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
	message int    // -1 for a tool
	tool    int    // position in the list of tools, from 1; 0 if piece is the tool's name
	piece   string // name of the piece or the tool
}

// LiveTools counts the tools of a request as live. A cache may know the tokens of a tool from the
// tool of the same name, or from the tool that was at its position before. LiveTools counts the
// one that shares more tokens.
func (g *Gauge) LiveTools(request prompt.Request, p *prompt.Prompt) {
	for i, tool := range request.Tools {
		times := g.live.add(place{message: -1, piece: tool.Name}, p.Blocks[i].Tokens)
		atPosition := g.live.add(place{message: -1, tool: i + 1}, p.Blocks[i].Tokens)
		if atPosition[0] < times[0] { // fewer new tokens
			times = atPosition
		}
		g.live.count(times)
	}
}

// Live counts one piece of a message as live. piece is its name, "" for the message itself.
func (g *Gauge) Live(message int, piece string, parts ...[]uint32) {
	g.live.count(g.live.add(place{message: message, piece: piece}, parts...))
}

// add records a piece and returns how often its tokens were sent, as [prompt.Tree.Count] does
// among the pieces of the same place.
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
