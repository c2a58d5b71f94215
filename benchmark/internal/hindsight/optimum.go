package hindsight

import (
	"encoding/binary"
	"math"
	"slices"
)

// Optimum returns the least cost of the conversation if each choice of units to clear is made with
// knowledge of the later turns. choices are the units that are cleared at each turn. After a break,
// units that are never needed again are always cleared, because keeping one costs more. The result
// is exact unless more than [Beam] paths remain after a turn.
func (c *Conversation) Optimum(p Prices) (cost float64, choices [][]int) {
	o := newOracle(c, p)
	beam := []*path{{view: c.start(p)}}
	for turn := range c.Turns {
		best := map[string]*path{}
		for _, at := range beam {
			for _, cleared := range o.options(at.view, turn) {
				next := &path{at.view.clone(), at, cleared, 0}
				next.view.begin()
				next.view.clear(func(i int) bool { return slices.Contains(cleared, i) })
				next.view.play()
				next.estimate = next.view.Cost + o.rest(next.view, turn+1)
				key := next.key()
				if known := best[key]; known == nil || next.view.Cost < known.view.Cost {
					best[key] = next
				}
			}
		}
		beam = beam[:0:0]
		for _, at := range best {
			beam = append(beam, at)
		}
		slices.SortFunc(beam, func(a, b *path) int {
			switch {
			case a.estimate < b.estimate:
				return -1
			case a.estimate > b.estimate:
				return 1
			}
			return slices.Compare(a.cleared, b.cleared)
		})
		beam = beam[:min(len(beam), Beam)]
	}
	end := slices.MinFunc(beam, func(a, b *path) int {
		if a.view.Cost < b.view.Cost {
			return -1
		}
		return 1
	})
	cost = end.view.Cost
	for at := end; at.before != nil; at = at.before {
		choices = append(choices, at.cleared)
	}
	slices.Reverse(choices)
	return cost, choices
}

// Follow plays the conversation with the choices that Optimum made.
func (c *Conversation) Follow(p Prices, choices [][]int) *View {
	v := c.start(p)
	for turn := range c.Turns {
		v.begin()
		v.clear(func(i int) bool { return slices.Contains(choices[turn], i) })
		v.play()
	}
	return v
}

// path is one sequence of choices up to a turn.
type path struct {
	view     *View
	before   *path
	cleared  []int
	estimate float64
}

// key identifies views with the same future: they have the same units at the same places.
func (p *path) key() string {
	key := binary.AppendUvarint(nil, uint64(p.view.Live))
	for i := range p.view.Units {
		u := &p.view.Units[i]
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(u.At)), uint64(u.Size))
	}
	return string(key)
}

// oracle knows when each text is needed.
type oracle struct {
	c    *Conversation
	p    Prices
	next [][]int // by turn and text: the next turn that needs it, or never
}

const never = math.MaxInt

func newOracle(c *Conversation, p Prices) *oracle {
	o := &oracle{c: c, p: p, next: make([][]int, len(c.Turns)+1)}
	after := make([]int, len(c.Texts))
	for i := range after {
		after[i] = never
	}
	o.next[len(c.Turns)] = slices.Clone(after)
	for turn := len(c.Turns) - 1; turn >= 0; turn-- {
		for _, s := range c.Turns[turn].Steps {
			for _, text := range s.Needs {
				after[text] = turn
			}
		}
		o.next[turn] = slices.Clone(after)
	}
	return o
}

// soonest returns the next turn that needs a unit.
func (o *oracle) soonest(u *Unit, turn int) int {
	next := never
	for _, text := range u.Texts {
		next = min(next, o.next[turn][text])
	}
	return next
}

// options returns the sets of units that may be cleared at the beginning of a turn.
func (o *oracle) options(v *View, turn int) [][]int {
	all := [][]int{nil}
	for first := range v.Units {
		var always, maybe []int
		for i := first; i < len(v.Units); i++ {
			switch {
			case i == first || o.soonest(&v.Units[i], turn) == never:
				always = append(always, i)
			default:
				maybe = append(maybe, i)
			}
		}
		for _, more := range o.subsets(v, turn, maybe) {
			all = append(all, slices.Concat(always, more))
		}
	}
	return all
}

// subsets returns all subsets of some units. Of more than branching units, it returns only the sets
// of the n units that are needed latest, for each n.
func (o *oracle) subsets(v *View, turn int, units []int) [][]int {
	var sets [][]int
	if len(units) <= branching {
		for bits := range 1 << len(units) {
			var set []int
			for i, u := range units {
				if bits>>i&1 == 1 {
					set = append(set, u)
				}
			}
			sets = append(sets, set)
		}
		return sets
	}
	order := slices.Clone(units)
	slices.SortStableFunc(order, func(a, b int) int {
		return o.soonest(&v.Units[b], turn) - o.soonest(&v.Units[a], turn)
	})
	for n := range len(order) + 1 {
		sets = append(sets, order[:n:n])
	}
	return sets
}

// rest returns a lower bound of the cost from a turn on: the price of writing each text that is
// needed again and is not in the view.
func (o *oracle) rest(v *View, turn int) float64 {
	tokens := 0
	for text, next := range o.next[turn] {
		if next != never && len(v.missing([]int{text})) > 0 {
			tokens += o.c.Texts[text].Size
		}
	}
	return o.p.Write * float64(tokens)
}
