package lifetime

import (
	"math"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// Place is where the text of an ended load stands in a request.
type Place struct {
	Piece
	// Skills are those whose text it is. Text that is superseded has none.
	Skills []string
	// Carried is how many model calls were sent the text since its load ended.
	Carried int
}

// Facts are what the decision to clear depends on, where a turn begins. Sizes are
// in tokens. All of it comes from the request and the record, so that the decision
// is the same after a restart and on another replica.
type Facts struct {
	// Places are those of ended texts, in the order of the request.
	Places []Place
	// Prompt is the size of the request with all of them.
	Prompt int
	// Turns are the turns before this one, Calls the model calls in them.
	Turns, Calls int
	// Cold: the cache holds nothing of the session any more.
	Cold bool
	// Returns are what is known of the skills' coming back.
	Returns state.Returns
}

// What the decision takes for granted before a session has shown how it goes. The
// numbers were chosen on random conversations; benchmark/experiments.md says which, and how
// little depends on them.
const (
	priorReturn = 0.2 // of a turn: that it needs a certain skill again
	priorTurns  = 2   // what priorReturn weighs, in observed turns
	pooledTurns = 4   // what all skills of the session say of one, in observed turns
	priorCalls  = 2.0 // model calls of a turn
	callTurns   = 3   // what priorCalls weighs, in turns
	firstTurns  = 2   // how many turns are reckoned with at the start
	moreTurns   = 0.4 // and for each turn that has passed
	firstMargin = 2.0 // added to Caution.Margin, divided by the square of the turns that have passed
)

// Caution keeps [Prices.ClearBy] from clearing text while it is uncertain that this pays.
// The benchmark varies it to draw its frontier.
type Caution struct {
	// Margin is what a break must save beyond its price, as a part of that. After few
	// turns it is larger: by twice the price after the first turn, by half of it after the
	// second. It falls with the square of the turns.
	Margin float64
	// RentLimit bounds how long text is carried on a guess. Its rent is the price of
	// reading it in every call since its load ended. Where that exceeds RentLimit times
	// what clearing it and loading it again would cost, it is cleared. For each turn in
	// which the skill was seen to come back, loading it once more is added.
	RentLimit float64
}

// DefaultCaution is that of [Clear].
func DefaultCaution() Caution { return Caution{Margin: 0.15, RentLimit: 1.5} }

// Clear returns from which of f.Places on the texts are cleared: len(f.Places)
// clears none. It is the place for which rent, the price of clearing now and the
// expected price of coming back are lowest in sum.
//
// Clearing costs Write−Read for each live token behind the place, and nothing where
// the cache is cold. A text that stays costs Read in every call, and Write once
// where the cache is cold. One that was cleared and is needed again costs Write,
// and one more model call over the whole prompt. How likely a turn needs a skill is
// reckoned from f.Returns, how many turns there will be from how many there were.
func Clear(p loadmode.Prices, f Facts) int { return ClearBy(p, DefaultCaution(), f) }

// ClearBy is Clear with another caution.
func ClearBy(p loadmode.Prices, c Caution, f Facts) int {
	n := len(f.Places)
	if n == 0 {
		return 0
	}
	d := outlookOf(p, f)
	d.caution = c
	d.caution.Margin += firstMargin / float64(max(1, f.Turns*f.Turns))
	best, cut := math.Inf(1), n
	for i := n; i >= 0; i-- {
		if cost := d.cost(i); cost < best-1e-9 {
			best, cut = cost, i
		}
	}
	return min(cut, d.due(f))
}

// outlook is what the places are expected to cost.
type outlook struct {
	prices  loadmode.Prices
	caution Caution
	cold    bool
	turns   int     // that are reckoned with
	growth  float64 // live tokens of a turn
	places  []prospect
}

// prospect is the outlook of one place.
type prospect struct {
	dead, behind float64 // its text, and the live tokens behind it
	rent         float64 // of a turn
	back         float64 // what it costs to come back once
	gone         []float64
}

func outlookOf(p loadmode.Prices, f Facts) *outlook {
	turns := float64(max(1, f.Turns))
	d := &outlook{
		prices: p, cold: f.Cold, turns: min(int(firstTurns+moreTurns*turns), maxHorizon),
		places: make([]prospect, len(f.Places)),
	}
	calls := (float64(f.Calls) + priorCalls*callTurns) / (turns + callTurns)
	behind := 0.0
	for i := len(f.Places) - 1; i >= 0; i-- {
		behind += float64(f.Places[i].Live)
		d.places[i].behind = behind
	}
	d.growth = behind / turns
	for i := range d.places {
		q, dead := &d.places[i], float64(f.Places[i].Dead)
		q.dead, q.rent = dead, p.Read*dead*calls
		q.back = p.Write*dead + p.Read*float64(f.Prompt)
		q.gone = d.without(q, chance(&f.Returns, f.Places[i].Skills))
	}
	return d
}

// without is what a text costs in so many turns that begin without it, each of
// which needs it with a certain chance. Loaded again, it is cleared or kept at each
// later turn, whichever costs less.
func (d *outlook) without(q *prospect, chance float64) []float64 {
	gone, again := make([]float64, d.turns+1), 0.0
	for t := 1; t <= d.turns; t++ {
		gone[t] = chance*(q.back+again) + (1-chance)*gone[t-1]
		again = min(gone[t]+d.breaking(d.growth), q.rent+again)
	}
	return gone
}

// breaking is what it costs to write so many cached tokens again.
func (d *outlook) breaking(tokens float64) float64 {
	return (d.prices.Write - d.prices.Read) * tokens
}

// cost is what all texts cost if those from place i on are cleared now.
func (d *outlook) cost(i int) float64 {
	cost := d.keeping(i)
	for j := i; j < len(d.places); j++ {
		cost += d.places[j].gone[d.turns]
	}
	if i < len(d.places) && !d.cold {
		cost += (1 + d.caution.Margin) * d.breaking(d.places[i].behind)
	}
	return cost
}

// keeping returns the cost of the texts before place i if they stay now. They stay to the
// end, or until those from some place on are cleared at a later turn. It takes the cheaper
// of the two.
func (d *outlook) keeping(i int) float64 {
	stay, written := 0.0, 0.0
	for j := range i {
		stay += d.places[j].rent * float64(d.turns)
		if d.cold {
			written += d.breaking(d.places[j].dead)
		}
	}
	least := stay
	for t := 1; t < d.turns; t++ {
		cost := stay
		for j := i - 1; j >= 0; j-- {
			q := &d.places[j]
			cost += q.gone[d.turns-t] - q.rent*float64(d.turns-t)
			least = min(least, cost+d.breaking(q.behind+float64(t)*d.growth))
		}
	}
	return least + written
}

// due is the first place whose rent has reached its limit, or how many there are.
func (d *outlook) due(f Facts) int {
	for i := range f.Places {
		rent := d.prices.Read * d.places[i].dead * float64(f.Places[i].Carried)
		if rent > d.caution.RentLimit*d.price(f, i) {
			return i
		}
	}
	return len(f.Places)
}

// price is what clearing place i and coming back costs, once and for each return
// that was seen.
func (d *outlook) price(f Facts, i int) float64 {
	behind := 0.0
	if !d.cold {
		behind = d.breaking(d.places[i].behind)
	}
	return behind + d.places[i].back*float64(1+timesBack(&f.Returns, f.Places[i].Skills))
}
