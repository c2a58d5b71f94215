package lifetime

import (
	"fmt"
	"math"
	"slices"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// Place is the text of an ended load in a request.
type Place struct {
	Piece
	// Skills are the skills whose text it is. Superseded text has none.
	Skills []string
	// Carried is how many requests contained the text since its load ended.
	Carried int
}

// Facts are the input of [Clear] when a turn begins. Sizes are in tokens. They come only from the
// request and the record, so the decision is the same after a restart and on another replica.
type Facts struct {
	// Places are the texts of ended loads, in the order of the request.
	Places []Place
	// Prompt is the size of the request with all these texts.
	Prompt int
	// Turns is the number of earlier turns, and Calls the number of model calls in them.
	Turns, Calls int
	// IsCold reports that the provider's cache holds no prefix of the session any more.
	IsCold bool
	// Returns records how often unloaded skills were loaded again.
	Returns state.Returns
	// Named are the skills that the prompt of the new turn is about. Their texts stay.
	Named []string
}

// The assumptions of [Clear] about a session of which little is known yet. The values were
// chosen on random conversations; benchmark/experiments.md describes them, and how little the
// result depends on them.
const (
	priorReturn = 0.28 // the chance that a turn needs a certain skill again
	priorTurns  = 2    // the weight of priorReturn, in observed turns
	pooledTurns = 4    // the weight of all skills' counts for one skill, in observed turns
	priorCalls  = 2.0  // model calls of a turn
	callTurns   = 3    // the weight of priorCalls, in turns
	firstTurns  = 2    // expected future turns at the beginning
	moreTurns   = 0.4  // further expected turns for each past turn
	firstMargin = 2.0  // added to Caution.Margin, divided by the square of the past turns

	priorNamed   = 0.6  // the chance that a prompt is about a skill that the turn needs
	priorLoads   = 2    // the weight of priorNamed, in loads
	priorChance  = 0.06 // the chance that a prompt is about a skill that the turn does not need
	priorOthers  = 4    // the weight of priorChance, in skills
	tellingRatio = 8    // how many times as large the first chance must be, to count prompts
)

// Caution keeps [ClearBy] from clearing text while it is uncertain that this pays. The benchmark
// varies it.
type Caution struct {
	// Margin is how much more than its price a break must save, as a fraction of the price. A
	// larger margin applies to the first turns: 2 is added after the first turn, 0.5 after the
	// second, and less with the square of the turns.
	Margin float64
	// RentLimit bounds how long text is carried. The rent of a text is the price of reading it in
	// every call since its load ended. The text is cleared if its rent exceeds RentLimit times
	// the price of clearing it and loading it again. One more load is added for each turn in
	// which the skill was loaded again.
	RentLimit float64
}

// DefaultCaution returns the caution of [Clear].
func DefaultCaution() Caution { return Caution{Margin: 0.15, RentLimit: 1.5} }

// Reason names why the text of an ended load was cleared.
type Reason string

const (
	// ByRent is the reason if carrying the text has cost as much as [Caution] allows.
	ByRent Reason = "rent"
	// ByExpectation is the reason if clearing the text is expected to cost less than carrying it.
	ByExpectation Reason = "expectation"
	// ByBreak is the reason if the prefix breaks before the text anyway, and sending it again
	// does not pay.
	ByBreak Reason = "break"
)

// Verdict is the decision about one place.
type Verdict struct {
	IsKept bool
	// Why is the reason for clearing a text.
	Why Reason
	// Rent is the cost of carrying the text so far. Price is the cost of clearing it and loading
	// it again. Chance is the chance that a turn needs one of its skills.
	Rent, Price, Chance float64
}

// Keeps reports whether the text stays.
func (v Verdict) Keeps() bool { return v.IsKept }

// String returns the reason with the rent, the price and the chance.
func (v Verdict) String() string {
	why := string(v.Why)
	if v.IsKept {
		why = "kept"
	}
	return fmt.Sprintf("%s: rent %.0f, price %.0f, chance %.2f", why, v.Rent, v.Price, v.Chance)
}

// Clear returns a verdict for each of f.Places. It chooses where the prefix breaks, and which
// texts after the break stay. It minimizes the sum of three costs: the rent of texts that stay,
// the price of clearing now, and the expected price of loading skills again.
//
// Clearing costs Write−Read for each token after the break that stays, and nothing if the cache
// is cold. A text that stays costs Read in every call, and Write once if the cache is cold. A text
// that was cleared and is needed again costs Write, and one more model call with the whole
// prompt. The chance that a turn needs a skill is estimated from f.Returns. The number of future
// turns is estimated from the number of past ones.
func Clear(p loadmode.Prices, f Facts) []Verdict { return ClearBy(p, DefaultCaution(), f) }

// ClearBy is Clear with another caution.
func ClearBy(p loadmode.Prices, c Caution, f Facts) []Verdict {
	n := len(f.Places)
	if n == 0 {
		return nil
	}
	d := newOutlook(p, f)
	d.caution = c
	d.caution.Margin += firstMargin / float64(max(1, f.Turns*f.Turns))
	best, cut := math.Inf(1), n
	for i := n; i >= 0; i-- {
		if cost := d.cost(i); cost < best-1e-9 {
			best, cut = cost, i
		}
	}
	verdicts := make([]Verdict, n)
	for i := range d.places {
		q := &d.places[i]
		v := &verdicts[i]
		v.Rent, v.Price, v.Chance = d.prices.Read*q.dead*float64(f.Places[i].Carried), d.returnCost(f, i), q.chance
		isDue := !q.isNamed && v.Rent > d.caution.RentLimit*v.Price
		switch {
		case isDue:
			cut = min(cut, i)
			v.Why = ByRent
		case i < cut || d.staysAfter(i):
			v.IsKept = true
		case i == cut && !f.IsCold:
			v.Why = ByExpectation
		default:
			v.Why = ByBreak
		}
	}
	return verdicts
}

// ClearAfterBreak returns the verdicts after a break within a turn. The break is before
// f.Places[first]; the texts before it stay.
func ClearAfterBreak(p loadmode.Prices, f Facts, first int) []Verdict {
	d := newOutlook(p, f)
	verdicts := make([]Verdict, len(f.Places))
	for i := range verdicts {
		v := &verdicts[i]
		v.IsKept = i < first || d.staysAfter(i)
		v.Rent, v.Price, v.Chance = d.prices.Read*d.places[i].dead*float64(f.Places[i].Carried), d.returnCost(f, i), d.places[i].chance
		if !v.IsKept {
			v.Why = ByBreak
		}
	}
	return verdicts
}

// outlook holds the expected costs of all places.
type outlook struct {
	prices  loadmode.Prices
	caution Caution
	isCold  bool
	turns   int     // expected future turns
	growth  float64 // live tokens of a turn
	places  []prospect
}

// prospect holds the expected costs of one place.
type prospect struct {
	dead, behind float64   // tokens of its text, and live tokens after it
	rent         float64   // for one turn
	reload       float64   // the cost of loading the skill again
	chance       float64   // the chance that a turn needs it
	isNamed      bool      // the prompt of the new turn is about one of its skills
	cleared      []float64 // see reloadCosts
}

// newOutlook computes the outlook from prices and facts.
func newOutlook(p loadmode.Prices, f Facts) *outlook {
	turns := float64(max(1, f.Turns))
	d := &outlook{
		prices: p, isCold: f.IsCold, turns: min(int(firstTurns+moreTurns*turns), maxHorizon),
		places: make([]prospect, len(f.Places)),
	}
	calls := (float64(f.Calls) + priorCalls*callTurns) / (turns + callTurns)
	behind := 0.0
	for i := len(f.Places) - 1; i >= 0; i-- {
		behind += float64(f.Places[i].Live)
		d.places[i].behind = behind
	}
	d.growth = behind / turns
	isTelling := promptsTell(f.Returns.Prompts)
	for i := range d.places {
		q, dead := &d.places[i], float64(f.Places[i].Dead)
		q.dead, q.rent = dead, p.Read*dead*calls
		q.reload = p.Write*dead + p.Read*float64(f.Prompt)
		q.chance = reloadChance(&f.Returns, f.Places[i].Skills)
		q.isNamed = isTelling && slices.ContainsFunc(f.Places[i].Skills, func(s string) bool { return slices.Contains(f.Named, s) })
		q.cleared = d.reloadCosts(q, q.chance)
	}
	return d
}

// reloadCosts returns, for each number of turns, the expected cost of a text that is not in view.
// chance is the chance that a turn needs it. After a reload the text is cleared or kept at each
// later turn, whichever costs less.
func (d *outlook) reloadCosts(q *prospect, chance float64) []float64 {
	gone, again := make([]float64, d.turns+1), 0.0
	for t := 1; t <= d.turns; t++ {
		gone[t] = chance*(q.reload+again) + (1-chance)*gone[t-1]
		again = min(gone[t]+d.breakCost(d.growth), q.rent+again)
	}
	return gone
}

// breakCost returns the cost of writing so many cached tokens again.
func (d *outlook) breakCost(tokens float64) float64 {
	return (d.prices.Write - d.prices.Read) * tokens
}

// cost returns the cost of all texts if the prefix breaks before place i now.
func (d *outlook) cost(i int) float64 {
	cost, live := d.keepCost(i), 0.0
	for j := i; j < len(d.places); j++ {
		q := &d.places[j]
		if d.staysAfter(j) {
			cost += q.rent*float64(d.turns) + d.breakCost(q.dead)
			continue
		}
		cost += q.cleared[d.turns]
	}
	if i < len(d.places) && !d.isCold {
		live = d.places[i].behind
	}
	return cost + (1+d.caution.Margin)*d.breakCost(live)
}

// staysAfter reports whether the text of place i stays if the prefix breaks before it. It does if
// the prompt is about its skill, or if sending it again costs less than the expected reloads.
func (d *outlook) staysAfter(i int) bool {
	q := &d.places[i]
	return q.isNamed || q.rent*float64(d.turns)+d.breakCost(q.dead) < q.cleared[d.turns]
}

// keepCost returns the cost of the texts before place i if they stay now. It takes the cheapest
// of two plans: they stay to the end, or those from some place on are cleared at a later turn.
func (d *outlook) keepCost(i int) float64 {
	stay, written := 0.0, 0.0
	for j := range i {
		stay += d.places[j].rent * float64(d.turns)
		if d.isCold {
			written += d.breakCost(d.places[j].dead)
		}
	}
	least := stay
	for t := 1; t < d.turns; t++ {
		cost := stay
		for j := i - 1; j >= 0; j-- {
			q := &d.places[j]
			cost += q.cleared[d.turns-t] - q.rent*float64(d.turns-t)
			least = min(least, cost+d.breakCost(q.behind+float64(t)*d.growth))
		}
	}
	return least + written
}

// returnCost returns the cost of clearing place i and loading it again, once and for each reload
// so far.
func (d *outlook) returnCost(f Facts, i int) float64 {
	behind := 0.0
	if !d.isCold {
		behind = d.breakCost(d.places[i].behind)
	}
	return behind + d.places[i].reload*float64(1+maxReloads(&f.Returns, f.Places[i].Skills))
}
