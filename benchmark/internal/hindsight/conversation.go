// Package hindsight plays conversations by their sizes alone. It computes what a way to clear
// the texts of skills costs, and what the best way would have cost with knowledge of the later
// turns. It follows Satchel's default view, in which a text stands in the result of the call
// that delivered it, and a cache that serves every prefix.
package hindsight

import (
	"slices"
	"time"
)

// Conversation is a conversation in tokens.
type Conversation struct {
	// Fixed are the tools and the system message.
	Fixed int
	Texts []Text
	Turns []Turn
}

// Text is the body of a skill or one of its docs.
type Text struct{ Skill, Size int }

// Turn is what a user says and what follows it.
type Turn struct {
	Idle      time.Duration
	User, Say int
	Steps     []Step
}

// Step is one of two. If it has Needs, these texts must be in the next request, the body of
// their skill first. Call and Result are then the call that loads what is missing and its stub.
// Without Needs, they are the call of a tool and its result.
type Step struct {
	Needs        []int
	Call, Result int
}

// Prices are those of a cached token, and of one that enters the cache, which
// forgets what was not used for TTL; 0 never forgets.
type Prices struct {
	Read, Write float64
	TTL         time.Duration
}

// Unit is what one call delivered and the view still shows.
type Unit struct {
	Texts []int
	Skill int
	Size  int
	// At is how many tokens that are no text of a skill stand before it.
	At int
	// Turn is when it was delivered; Carried how many requests of later turns
	// held it.
	Turn, Carried int
}

// View is a conversation that has come to the beginning of a turn.
type View struct {
	Conversation *Conversation
	Prices       Prices
	// Turn is the one that begins, Calls are the requests so far.
	Turn, Calls int
	// Cold: the cache has forgotten everything.
	Cold bool
	// Live are the tokens that are no text of a skill, Units the texts that are
	// shown, in their order.
	Live  int
	Units []Unit
	// Cost is what the requests so far cost.
	Cost float64
	// Loaded are the skills that the turn before loaded, Quiet that it called no
	// tool.
	Loaded []int
	Quiet  bool

	cached int // of the last request, from its start on
}

// start is the view before the first turn.
func (c *Conversation) start(p Prices) *View {
	return &View{Conversation: c, Prices: p, Live: c.Fixed, Turn: -1}
}

func (v *View) clone() *View {
	w := *v
	w.Units = slices.Clone(v.Units)
	return &w
}

// Size are the tokens of a request.
func (v *View) Size() int {
	size := v.Live
	for i := range v.Units {
		size += v.Units[i].Size
	}
	return size
}

// begin goes to the next turn.
func (v *View) begin() {
	v.Turn++
	t := &v.Conversation.Turns[v.Turn]
	v.Cold = v.Prices.TTL > 0 && t.Idle > v.Prices.TTL
	if v.Cold {
		v.cached = 0
	}
}

// clear takes the units out for which gone is true.
func (v *View) clear(gone func(i int) bool) {
	before, kept := 0, v.Units[:0:0]
	for i, u := range v.Units {
		if gone(i) {
			if len(kept) == i { // the first one
				v.cached = min(v.cached, u.At+before)
			}
			continue
		}
		before += u.Size
		kept = append(kept, u)
	}
	v.Units = kept
}

// play plays the turn that has begun.
func (v *View) play() {
	t := &v.Conversation.Turns[v.Turn]
	v.Live += t.User
	v.Loaded, v.Quiet = nil, true
	for i := range t.Steps {
		s := &t.Steps[i]
		if len(s.Needs) == 0 {
			v.Quiet = false
			v.request()
			v.Live += s.Call + s.Result
			continue
		}
		missing := v.missing(s.Needs)
		if len(missing) == 0 {
			continue
		}
		v.request()
		v.Live += s.Call + s.Result
		u := Unit{Texts: missing, Skill: v.Conversation.Texts[missing[0]].Skill, At: v.Live, Turn: v.Turn}
		for _, text := range missing {
			u.Size += v.Conversation.Texts[text].Size
		}
		v.Units = append(v.Units, u)
		v.Loaded = append(v.Loaded, u.Skill)
	}
	v.request()
	v.Live += t.Say
}

// missing are the texts that no unit has.
func (v *View) missing(needs []int) []int {
	var missing []int
	for _, text := range needs {
		if !slices.ContainsFunc(v.Units, func(u Unit) bool { return slices.Contains(u.Texts, text) }) {
			missing = append(missing, text)
		}
	}
	return missing
}

func (v *View) request() {
	size := v.Size()
	v.Cost += v.Prices.Read*float64(v.cached) + v.Prices.Write*float64(size-v.cached)
	v.cached = size
	v.Calls++
	for i := range v.Units {
		if v.Units[i].Turn < v.Turn {
			v.Units[i].Carried++
		}
	}
}

// Policy says, where a turn begins, from which unit on the texts are cleared:
// len(v.Units) clears none. It must not look ahead, and must not change the view.
type Policy func(v *View) int

// Never is the policy that clears nothing.
func Never(v *View) int { return len(v.Units) }

// Always is the policy that clears everything.
func Always(*View) int { return 0 }

// Play plays a conversation by a policy.
func (c *Conversation) Play(p Prices, policy Policy) *View {
	v := c.start(p)
	for range c.Turns {
		v.begin()
		cut := policy(v)
		v.clear(func(i int) bool { return i >= cut })
		v.play()
	}
	return v
}
