package replay

import (
	"context"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/benchmark/internal/random"
	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// sizes is a store that notes how large records are, by turn.
type sizes struct {
	session.Store
	of map[int]int
}

func (s *sizes) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	saved, err := s.Store.Save(ctx, key, v)
	if err != nil {
		return saved, err
	}
	rec, err := state.NewRecords(s.Store).Load(ctx, key)
	if err == nil {
		s.of[rec.Turn] = max(s.of[rec.Turn], len(v.Data))
	}
	return saved, err
}

// recordSizes are the largest records of each turn of a plan.
func recordSizes(t *testing.T, sys System, s *scenario.Scenario, texts *scenario.Texts, skills string) map[int]int {
	t.Helper()
	store := &sizes{session.NewMemory(), map[int]int{}}
	st := &stage{Scenario: s, texts: texts, skills: skills, player: scenario.NewPlayer(s, texts), capture: &prompt.Capture{}, store: &idleStore{Store: store}}
	if err := sys.play(t.Context(), st); err != nil {
		t.Fatal(err)
	}
	return store.of
}

// A record of the default takes less than a kilobyte more than one of load mode turn, with the
// texts of ended loads that it lists. That holds in random conversations and in a long one over
// many skills.
func TestRecordsGrowByLessThanAKilobyte(t *testing.T) {
	systems := coreSystems()
	most := 0
	plans := random.Plans(77, 36)
	long := *plans[11] // this plan uses any of 16 skills
	long.Name, long.Turns = "any-skill-for-long", slices.Repeat(long.Turns, 6)
	families, err := random.Choice{Kinds: random.Families(), Names: []float64{0.5}, Noise: 0.1, Policy: random.Need}.Plans(77, 2*len(random.Families()))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(append(plans, &long), families...) {
		s, texts, dir := stageOf(t, p)
		adaptive, turn := recordSizes(t, systems[0], s, texts, dir), recordSizes(t, systems[1], s, texts, dir)
		for i, size := range adaptive {
			grown := size - turn[i]
			most = max(most, grown)
			if grown >= 1<<10 {
				t.Errorf("%s, turn %d: %d bytes, %d in mode turn", p.Name, i, size, turn[i])
			}
		}
	}
	t.Logf("at most %d bytes more", most)
	if most < 400 {
		t.Error("does the default keep anything?")
	}
}
