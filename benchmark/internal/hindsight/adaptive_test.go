package hindsight

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/satchel-go/satchel/benchmark/internal/random"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/loadmode"
)

// figures are what benchmark/experiments.md says of one set of seeds.
type figures struct{ mean, toCheapest, worst float64 }

// rated plays n random conversations of a seed at both prices.
func rated(seed uint64, n int) (f figures, sums map[string]float64) {
	sums = map[string]float64{}
	for _, write := range []float64{1, 1.25} {
		p := Prices{Read: 0.1, Write: write, TTL: 5 * time.Minute}
		for _, plan := range random.Plans(seed, n) {
			c := FromPlan(plan)
			best, _ := c.Optimum(p)
			cost := c.Play(p, Adaptive(loadmode.Prices{Read: p.Read, Write: p.Write, TTL: p.TTL}, lifetime.DefaultCaution())).Cost
			never, always := c.Play(p, Never).Cost, c.Play(p, Always).Cost
			sums["adaptive"] += cost
			sums["never"] += never
			sums["always"] += always
			least := min(cost, never, always)
			f.mean += math.Log(cost/best) / float64(2*n)
			f.toCheapest += math.Log(cost/least) / float64(2*n)
			f.worst = max(f.worst, cost/least)
		}
	}
	f.mean, f.toCheapest = math.Exp(f.mean), math.Exp(f.toCheapest)
	return f, sums
}

// The figures of benchmark/experiments.md for conversations that were not used to choose the numbers
// of the policy.
func TestAdaptiveOnOtherSeeds(t *testing.T) {
	for _, seed := range []uint64{77, 1001} {
		f, sums := rated(seed, 120)
		t.Logf("seed %d: %.4f of the best clearing, %.4f of the cheaper of never and always, at worst %.2f; %v", seed, f.mean, f.toCheapest, f.worst, sums)
		if f.mean > 1.08 || f.toCheapest > 1.05 || f.worst > 1.45 {
			t.Errorf("seed %d: %+v", seed, f)
		}
		if sums["adaptive"] >= sums["never"] || sums["adaptive"] >= sums["always"] {
			t.Errorf("seed %d: sums %v", seed, sums)
		}
	}
}

// worstRatio is how many times the optimum load mode adaptive may cost, as
// benchmark/experiments.md states it. It holds for conversations of up to 24 turns of up to 8
// model calls, with texts of 50 to 20,000 tokens.
const worstRatio = 4

// An adversary changes conversations step by step to raise the cost of load mode adaptive relative
// to the optimum. It must stay below worstRatio. It must also find far higher ratios than random
// conversations have; otherwise it did not search.
func TestAdaptiveAgainstAnAdversary(t *testing.T) {
	found := 0.0
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 9))
		p := Prices{Read: 0.1, Write: []float64{1, 1.25}[seed%2], TTL: 5 * time.Minute}
		ratio := func(c *Conversation) float64 {
			best, _ := c.Optimum(p)
			return c.Play(p, Adaptive(loadmode.Prices{Read: p.Read, Write: p.Write, TTL: p.TTL}, lifetime.DefaultCaution())).Cost / best
		}
		c := made(r, 8, 3)
		worst := ratio(c)
		for range 1500 {
			next := changed(r, c)
			if x := ratio(next); x >= worst {
				c, worst = next, x
			}
		}
		t.Logf("seed %d: %.3f of the optimum, in %d turns", seed, worst, len(c.Turns))
		if worst > worstRatio {
			t.Errorf("seed %d: %.3f of the optimum, want at most %v: %+v", seed, worst, worstRatio, c)
		}
		found = max(found, worst)
	}
	if found < 2 {
		t.Errorf("the adversary finds no more than %.3f of the optimum: does it search?", found)
	}
}

// changed is a conversation with one thing in it changed.
func changed(r *rand.Rand, c *Conversation) *Conversation {
	n := &Conversation{Fixed: c.Fixed, Texts: slices.Clone(c.Texts), Turns: slices.Clone(c.Turns)}
	i := r.IntN(len(n.Turns))
	t := &n.Turns[i]
	t.Steps = slices.Clone(t.Steps)
	switch r.IntN(8) {
	case 0:
		n.Texts[r.IntN(len(n.Texts))].Size = 50 + r.IntN(20_000)
	case 1:
		t.Idle = time.Duration(r.IntN(8)) * time.Minute
	case 2:
		if len(t.Steps) < 7 {
			t.Steps = append(t.Steps, Step{Call: 20, Result: 10 + r.IntN(3000)})
		}
	case 3:
		if len(t.Steps) < 7 {
			t.Steps = append(t.Steps, Step{Needs: []int{r.IntN(len(n.Texts))}, Call: 20, Result: 30})
		}
	case 4:
		t.Steps = t.Steps[:r.IntN(len(t.Steps)+1)]
	case 5:
		if len(n.Turns) < 24 {
			n.Turns = slices.Insert(n.Turns, i, *t)
		}
	case 6:
		if len(n.Turns) > 1 {
			n.Turns = slices.Delete(n.Turns, i, i+1)
		}
	case 7:
		n.Fixed = 100 + r.IntN(2000)
	}
	return n
}
