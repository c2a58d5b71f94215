// Package hindsight simulates conversations by the sizes of their texts. It computes the cost of a
// policy for clearing the texts of skills, and the cost of the best clearing with knowledge of the
// later turns. It models Satchel's default view, in which a text is in the result of the call that
// loaded it, and a cache that serves every prefix.
package hindsight

import (
	"slices"
	"time"
)

// Conversation is a conversation whose texts are numbers of tokens.
type Conversation struct {
	// Fixed are the tools and the system message.
	Fixed int
	// Skills is how many skills the agent has.
	Skills int
	Texts  []Text
	Turns  []Turn
}

// Text is the body of a skill or one of its docs.
type Text struct{ Skill, Size int }

// Turn is a message of the user and the steps after it. Idle is the pause before it, and Say the
// final answer.
type Turn struct {
	Idle      time.Duration
	User, Say int
	Steps     []Step
	// Names are the skills that the message of the user is about.
	Names []int
}

// Step is a load or a call of another tool. If it has Needs, the next request must have these
// texts, the body of their skill first. Then Call and Result are the call that loads the missing
// ones and its stub. Without Needs, they are the call of a tool and its result.
type Step struct {
	Needs        []int
	Call, Result int
	// Again reports that the load is called even if no text is missing.
	Again bool
}

// Prices are the prices of a token that is read from the cache and of one that is written to it. The
// cache forgets a prefix after TTL without use; 0 means never.
type Prices struct {
	Read, Write float64
	TTL         time.Duration
}

// Unit is the texts of one call that are still in the view.
type Unit struct {
	Texts []int
	Skill int
	Size  int
	// At is how many tokens before it are no text of a skill.
	At int
	// Turn is the turn of the call. Carried is how many requests of later turns had the unit.
	Turn, Carried int
}

// View is the state of a conversation at the beginning of a turn.
type View struct {
	Conversation *Conversation
	Prices       Prices
	// Turn is the turn that begins, and Calls the number of requests so far.
	Turn, Calls int
	// Cold reports that the cache has forgotten all prefixes.
	Cold bool
	// Live is the number of tokens that are no text of a skill. Units are the texts of skills in
	// the view, in order.
	Live  int
	Units []Unit
	// Cost is the cost of the requests so far.
	Cost float64
	// Loaded are the skills that the previous turn loaded. Quiet reports that it called no tool.
	Loaded []int
	Quiet  bool

	cached int // length of the prefix of the last request that the cache has
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

// Size returns the number of tokens of a request.
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

// clear removes the units that isCleared selects.
func (v *View) clear(isCleared func(i int) bool) {
	before, kept := 0, v.Units[:0:0]
	for i, u := range v.Units {
		if isCleared(i) {
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

// play plays the current turn.
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
		if len(missing) == 0 && !s.Again {
			continue
		}
		v.request()
		v.Live += s.Call + s.Result
		if len(missing) == 0 {
			v.Loaded = append(v.Loaded, v.Conversation.Texts[s.Needs[0]].Skill)
			continue
		}
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

// missing returns the needed texts that no unit has.
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

// Policy returns at the beginning of a turn which of v.Units stay. It must not use later turns or
// change the view.
type Policy func(v *View) (stays []bool)

// Never is the policy that clears nothing.
func Never(v *View) []bool {
	stays := make([]bool, len(v.Units))
	for i := range stays {
		stays[i] = true
	}
	return stays
}

// Always is the policy that clears everything.
func Always(v *View) []bool { return make([]bool, len(v.Units)) }

// Play plays a conversation by a policy.
func (c *Conversation) Play(p Prices, policy Policy) *View {
	v := c.start(p)
	for range c.Turns {
		v.begin()
		stays := policy(v)
		v.clear(func(i int) bool { return !stays[i] })
		v.play()
	}
	return v
}
