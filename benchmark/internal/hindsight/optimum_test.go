package hindsight

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// made is a small conversation: at most turns turns, over so many texts.
func made(r *rand.Rand, turns, texts int) *Conversation {
	c := &Conversation{Fixed: 100 + r.IntN(900)}
	for i := range texts {
		c.Texts = append(c.Texts, Text{Skill: i, Size: 50 + r.IntN(3000)})
	}
	for range 1 + r.IntN(turns) {
		t := Turn{User: 10 + r.IntN(100), Say: 10 + r.IntN(300), Idle: time.Duration(r.IntN(8)) * time.Minute}
		for range r.IntN(3) {
			if r.IntN(2) == 0 {
				t.Steps = append(t.Steps, Step{Needs: []int{r.IntN(texts)}, Call: 20, Result: 30})
			} else {
				t.Steps = append(t.Steps, Step{Call: 20, Result: 10 + r.IntN(2000)})
			}
		}
		c.Turns = append(c.Turns, t)
	}
	return c
}

// cheapest tries every set of units at every turn.
func cheapest(v *View) float64 {
	if v.Turn+1 == len(v.Conversation.Turns) {
		return v.Cost
	}
	best := math.Inf(1)
	for set := range 1 << len(v.Units) {
		w := v.clone()
		w.begin()
		w.clear(func(i int) bool { return set>>i&1 == 1 })
		w.play()
		best = min(best, cheapest(w))
	}
	return best
}

// For conversations that are small enough to try all choices, the optimum is the cheapest one.
func TestOptimumIsExactOnSmallOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	between := 0
	for range 300 {
		c := made(r, 6, 3)
		p := Prices{Read: 0.1, Write: []float64{1, 1.25}[r.IntN(2)], TTL: 5 * time.Minute}
		want := cheapest(c.start(p))
		got, choices := c.Optimum(p)
		if math.Abs(got-want) > 1e-6 {
			t.Fatalf("optimum %f, the cheapest of all ways %f: %+v", got, want, c)
		}
		if again := c.Follow(p, choices).Cost; again != got {
			t.Fatalf("the choices cost %f, the optimum says %f", again, got)
		}
		if got < c.Play(p, Never).Cost-1 && got < c.Play(p, Always).Cost-1 {
			between++
		}
	}
	if between < 30 {
		t.Errorf("only %d of 300 optima are neither never nor always: does this compare anything?", between)
	}
}

// Clearing nothing or everything never costs less than the optimum, however long the conversation.
func TestNothingBeatsTheOptimum(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		c := made(r, 40, 12)
		p := Prices{Read: 0.1, Write: 1.25}
		best, _ := c.Optimum(p)
		for name, policy := range map[string]Policy{
			"never": Never, "always": Always,
			"any": func(v *View) []bool {
				stays := make([]bool, len(v.Units))
				for i := range stays {
					stays[i] = r.IntN(2) == 0
				}
				return stays
			},
		} {
			if cost := c.Play(p, policy).Cost; cost < best-1e-6 {
				t.Errorf("%s costs %f, the optimum %f", name, cost, best)
			}
		}
	}
}

func TestPlay(t *testing.T) {
	c := &Conversation{
		Fixed: 100, Texts: []Text{{0, 1000}},
		Turns: []Turn{
			{User: 10, Say: 20, Steps: []Step{{Needs: []int{0}, Call: 5, Result: 7}}},
			{User: 10, Say: 20, Idle: time.Hour},
		},
	}
	p := Prices{Read: 0.1, Write: 1}
	// Request 1 writes 110 tokens. Request 2 reads 110 and writes 1012. Request 3 reads
	// 1122 and writes 30.
	if got, want := c.Play(p, Never).Cost, 110+(11+1012)+(112.2+30); math.Abs(got-want) > 1e-9 {
		t.Errorf("never clearing costs %f, want %f", got, want)
	}
	// Request 3 reads only the first 122 tokens.
	if got, want := c.Play(p, Always).Cost, 110+(11+1012)+(12.2+30); math.Abs(got-want) > 1e-9 {
		t.Errorf("clearing costs %f, want %f", got, want)
	}
	// After an hour, request 3 reads nothing.
	p.TTL = time.Minute
	if got, want := c.Play(p, Always).Cost, 110+(11.0+1012)+152; math.Abs(got-want) > 1e-9 {
		t.Errorf("after a pause clearing costs %f, want %f", got, want)
	}
}
