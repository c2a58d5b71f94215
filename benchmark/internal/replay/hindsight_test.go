package replay

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/benchmark/internal/hindsight"
	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/benchmark/internal/random"
	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// stageOf is a random conversation with what it needs.
func stageOf(t *testing.T, p *random.Plan) (*scenario.Scenario, *scenario.Texts, string) {
	t.Helper()
	dir := t.TempDir()
	if err := p.WriteSkills(dir); err != nil {
		t.Fatal(err)
	}
	s, err := p.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	texts, err := scenario.Open(t.Context(), dir, []*scenario.Scenario{s})
	if err != nil {
		t.Fatal(err)
	}
	return s, texts, dir
}

func newRenderer(t *testing.T) *prompt.Renderer {
	t.Helper()
	renderer, err := prompt.NewO200k()
	if err != nil {
		t.Fatal(err)
	}
	return renderer
}

// The view of this package equals the requests of the runtime if both clear the same texts: none, or
// all at each turn.
func TestClearingIsWhatTheRuntimeDoes(t *testing.T) {
	renderer := newRenderer(t)
	none := func(int, int) []int { return nil }
	all := func(_, shown int) (gone []int) {
		for i := range shown {
			gone = append(gone, i)
		}
		return gone
	}
	for _, p := range random.Plans(5, 12) {
		s, texts, skills := stageOf(t, p)
		for variant, clear := range map[string]func(int, int) []int{"turn/tool-result": all, "session/tool-result": none} {
			if variant != "turn/tool-result" && len(p.Skills) > 8 {
				continue // the runtime would evict some of the skills
			}
			var costs []float64
			for _, system := range append(coreSystems(), clearing(clear)) {
				if system.Variant != variant && system.Variant != "clearing" {
					continue
				}
				played, err := system.Play(t.Context(), s, texts, skills)
				if err != nil {
					t.Fatal(err)
				}
				costs = append(costs, costOf(t, played, s, texts, renderer))
			}
			if math.Abs(costs[1]/costs[0]-1) > 0.005 {
				t.Errorf("%s, %s: the runtime costs %.0f, the view made here %.0f", p.Name, variant, costs[0], costs[1])
			}
		}
	}
}

func costOf(t *testing.T, c *prompt.Capture, s *scenario.Scenario, texts *scenario.Texts, r *prompt.Renderer) float64 {
	t.Helper()
	m, err := measure.Of(c, s, texts, r, cachemodel.Prices()[1:2])
	if err != nil {
		t.Fatal(err)
	}
	return m.Costs[0].ITE
}

// What the sizes say that the best way costs is what it costs.
func TestBestCostsWhatItsSizesSay(t *testing.T) {
	renderer := newRenderer(t)
	prices := hindsight.Prices{Read: 0.1, Write: 1.25, TTL: 5 * time.Minute}
	plans := random.Plans(6, 12)
	for _, policy := range []random.Policy{random.Need, random.Again, random.Reader} {
		families, err := random.Choice{Kinds: random.Families(), Names: []float64{0.5}, Policy: policy}.Plans(6, len(random.Families()))
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, families...)
	}
	for _, p := range plans {
		s, texts, skills := stageOf(t, p)
		c, err := Sizes(t.Context(), s, texts, skills, renderer)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := c.Optimum(prices)
		best, err := Best(t.Context(), s, texts, skills, renderer, prices)
		if err != nil {
			t.Fatal(err)
		}
		limit := 0.005
		if p.Policy == random.Reader {
			limit = 0.03 // answers list the sections that were selected before
		}
		if got := costOf(t, best, s, texts, renderer); math.Abs(got/want-1) > limit {
			t.Errorf("%s, %s costs %.0f, by its sizes %.0f", p.Name, p.Policy, got, want)
		}
	}
}

// A reader asks every system for sections, and what a model asks for again comes again from Eino
// and as a pointer from Satchel.
func TestPolicies(t *testing.T) {
	renderer := newRenderer(t)
	costs := map[random.Policy]map[string]float64{}
	for _, policy := range []random.Policy{random.Need, random.Again, random.Reader} {
		plans, err := random.Choice{Kinds: []string{"longdocs"}, Names: []float64{0}, Policy: policy}.Plans(3, 1)
		if err != nil {
			t.Fatal(err)
		}
		s, texts, skills := stageOf(t, plans[0])
		costs[policy] = map[string]float64{}
		for _, system := range Systems() {
			played, err := system.Play(t.Context(), s, texts, skills)
			if err != nil {
				t.Fatal(err)
			}
			m, err := measure.Of(played, s, texts, renderer, cachemodel.Prices()[1:2])
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Unmet) > 0 || len(m.Lost) > 0 {
				t.Errorf("%s, %s %s: lacks %v, %v", policy, system.Name, system.Variant, m.Unmet, m.Lost)
			}
			costs[policy][system.Name+" "+system.Variant] = m.Costs[0].ITE
		}
	}
	if once, again := costs[random.Need]["full-injection system"], costs[random.Again]["full-injection system"]; once != again {
		t.Errorf("full injection costs %.0f, and %.0f where the model loads again: it has nothing to load", once, again)
	}
	for system, need := range costs[random.Need] {
		again, reader := costs[random.Again][system]/need, costs[random.Reader][system]/need
		if reader >= 1 && system != "satchel turn/system" {
			t.Errorf("%s: a reader costs %.2f of one that reads docs", system, reader)
		}
		if strings.HasPrefix(system, "eino-skill") && again < 1.1 {
			t.Errorf("%s: to load again costs only %.2f", system, again)
		}
		if mine := "satchel adaptive/tool-result"; strings.HasPrefix(system, "eino-skill") && costs[random.Again][mine] > 0.9*costs[random.Again][system] {
			t.Errorf("to load again costs %v", costs[random.Again])
		}
	}
}
