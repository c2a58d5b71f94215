package hindsight

import (
	"encoding/binary"
	"math"
	"slices"
)

// Beam is how many ways to clear are followed beyond each turn. Optimum is exact if there are
// no more.
const Beam = 64

// branching is of how many texts that are needed again each subset is looked at;
// of more, only those are that hold what is needed soonest.
const branching = 5

// Optimum returns the cost of the conversation if the choice of what to clear at each turn is
// made with knowledge of all that follows. choices are the units that are cleared at each turn.
// Of the texts behind a break, those that are never needed again are always cleared: keeping
// one would cost more.
func (c *Conversation) Optimum(p Prices) (cost float64, choices [][]int) {
	o := newOracle(c, p)
	beam := []*path{{view: c.start(p)}}
	for turn := range c.Turns {
		best := map[string]*path{}
		for _, at := range beam {
			for _, gone := range o.options(at.view, turn) {
				next := &path{at.view.clone(), at, gone, 0}
				next.view.begin()
				next.view.clear(func(i int) bool { return slices.Contains(gone, i) })
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
			return slices.Compare(a.gone, b.gone)
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
		choices = append(choices, at.gone)
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

// path is one way through the conversation so far.
type path struct {
	view     *View
	before   *path
	gone     []int
	estimate float64
}

// key tells two views apart whose futures differ: by what is shown, where.
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

// soonest is when a unit is needed next.
func (o *oracle) soonest(u *Unit, turn int) int {
	next := never
	for _, text := range u.Texts {
		next = min(next, o.next[turn][text])
	}
	return next
}

// options are the sets of units that may be cleared where a turn begins.
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

// subsets are those of some units. Of many, they are the ones that hold what is
// needed latest.
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

// rest is less than what is still to be paid: for each text that is needed again
// and not shown, what it costs to write.
func (o *oracle) rest(v *View, turn int) float64 {
	tokens := 0
	for text, next := range o.next[turn] {
		if next != never && len(v.missing([]int{text})) > 0 {
			tokens += o.c.Texts[text].Size
		}
	}
	return o.p.Write * float64(tokens)
}
