package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/benchmark/internal/replay"
	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/loadmode"
)

// maxCapped is how much more load mode session may cost with the cap of eight than without one, in
// conversations that need more skills than that.
const maxCapped = 1.02

// orders are those in which turns need skills. Each returns the skills of the turns.
var orders = map[string]func(r *rand.Rand, skills int) (turns [][]int){
	"all in one turn, then the first": func(_ *rand.Rand, skills int) [][]int {
		all := make([]int, skills)
		for i := range all {
			all[i] = i
		}
		return [][]int{all, {0}}
	},
	"one a turn, three times around": func(_ *rand.Rand, skills int) (turns [][]int) {
		for i := range 3 * skills {
			turns = append(turns, []int{i % skills})
		}
		return turns
	},
	"once each, then the last ones": func(_ *rand.Rand, skills int) (turns [][]int) {
		for i := range skills {
			turns = append(turns, []int{i})
		}
		for i := range skills {
			turns = append(turns, []int{skills - 1 - i%3})
		}
		return turns
	},
	"any, two a turn": func(r *rand.Rand, skills int) (turns [][]int) {
		for range 2 * skills {
			turns = append(turns, []int{r.IntN(skills), r.IntN(skills)})
		}
		return turns
	},
	"favourites": func(r *rand.Rand, skills int) (turns [][]int) {
		for range 3 * skills {
			turns = append(turns, []int{min(r.IntN(skills), r.IntN(skills))})
		}
		return turns
	},
}

// cappedSuite writes a conversation in which turns need skills.
func cappedSuite(t *testing.T, name string, r *rand.Rand, skills int, turns [][]int) suite {
	t.Helper()
	dir := t.TempDir()
	for i := range skills {
		skill := fmt.Sprintf("skill-%c", 'a'+i)
		write(t, filepath.Join(dir, "skills", skill, "SKILL.md"), fmt.Sprintf("---\nname: %s\ndescription: Step %d.\n---\n%s", skill, i, rules(skill, 10+r.IntN(80))))
	}
	var all []any
	for n, needs := range turns {
		var steps []any
		for _, i := range needs {
			skill := fmt.Sprintf("skill-%c", 'a'+i)
			steps = append(steps, map[string]any{"need": skill}, map[string]any{"tool": "lookup", "args": map[string]any{"query": skill}, "result": rules("what was found", r.IntN(20))})
		}
		all = append(all, map[string]any{"user": fmt.Sprintf("Go on with part %d, please.", n), "steps": append(steps, map[string]any{"say": "done"})})
	}
	text, err := json.Marshal(map[string]any{"name": name, "instruction": "You help.", "turns": all})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "scenarios", "capped.json"), string(text))
	return suite{scenarios: filepath.Join(dir, "scenarios"), skills: filepath.Join(dir, "skills")}
}

// costOf plays the conversation of a suite through a system, and returns what it costs by price.
func costOf(t *testing.T, s suite, system replay.System, prices []cachemodel.Price) *measure.Conversation {
	t.Helper()
	scenarios, err := scenario.ReadDir(s.scenarios)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := scenario.Open(t.Context(), s.skills, scenarios)
	if err != nil {
		t.Fatal(err)
	}
	renderer, err := prompt.NewO200k()
	if err != nil {
		t.Fatal(err)
	}
	played, err := system.Play(t.Context(), scenarios[0], texts, s.skills)
	if err != nil {
		t.Fatal(err)
	}
	m, err := measure.Of(played, scenarios[0], texts, renderer, prices)
	if err != nil {
		t.Fatal(err)
	}
	if m.Missing() > 0 {
		t.Errorf("lost %v, unmet %v", m.Lost, m.Unmet)
	}
	return m
}

// The cap of load mode session ends loads and leaves their texts until clearing pays. So it costs
// hardly more than no cap.
func TestTheCapCostsLittle(t *testing.T) {
	capped := replay.Core("session/tool-result", satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
	without := replay.Core("session/tool-result", satchel.WithLoading(satchel.Loading{Mode: loadmode.Session, Max: -1}))
	prices := cachemodel.Prices()[:2]
	for name, order := range orders {
		for _, skills := range []int{loadmode.DefaultMax + 1, 10, 14, 20} {
			t.Run(fmt.Sprintf("%s, %d skills", name, skills), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(skills), 27))
				s := cappedSuite(t, "capped", r, skills, order(r, skills))
				with, none := costOf(t, s, capped, prices), costOf(t, s, without, prices)
				for i, p := range prices {
					ratio := with.Costs[i].ITE / none.Costs[i].ITE
					t.Logf("%s: %.0f with the cap, %.0f without, %.3f", p.Name, with.Costs[i].ITE, none.Costs[i].ITE, ratio)
					if ratio > maxCapped {
						t.Errorf("%s: the cap costs %.3f of no cap, want at most %.2f", p.Name, ratio, maxCapped)
					}
				}
			})
		}
	}
}
