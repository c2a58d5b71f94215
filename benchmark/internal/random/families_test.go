package random

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/engine/lifetime"
)

// overviewOf is the list of the skills of a catalog as sessions have it.
func overviewOf(all []described) *lifetime.Descriptions {
	var b strings.Builder
	for _, d := range all {
		fmt.Fprintf(&b, "<name>%s</name>%s\n", d.name, d.description)
	}
	return lifetime.NewDescriptions(b.String())
}

// The first skills of the catalog are those of the benchmark.
func TestCatalogHasTheSkillsOfTheBenchmark(t *testing.T) {
	entries, err := os.ReadDir("../../skills")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile("../../skills/" + e.Name() + "/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(catalog, func(d described) bool { return d.name == e.Name() })
		if at < 0 || !strings.Contains(string(text), "\ndescription: "+catalog[at].description+"\n") {
			t.Errorf("the catalog has another description of %s", e.Name())
		}
	}
}

func TestSentencesNameNoSkill(t *testing.T) {
	d := overviewOf(catalog)
	for _, sentence := range slices.Concat(workOpenings, workEndings, chats) {
		if named := d.Named(sentence, nil); named != nil {
			t.Errorf("%q is about %v", sentence, named)
		}
	}
	for _, around := range slices.Concat(namings, asides) {
		if named := d.Named(around[0]+"x"+around[1], nil); named != nil {
			t.Errorf("%q is about %v", around, named)
		}
	}
}

// Prompts that name a skill are about it, and conversations of one kind differ between shares only
// in their prompts.
func TestFamilies(t *testing.T) {
	choice := Choice{Kinds: Families(), Names: []float64{0, 0.5, 1}, Policy: Need}
	plans, err := choice.Plans(7, 3*3*len(Families()))
	if err != nil {
		t.Fatal(err)
	}
	asked, answered := 0, 0 // prompts that name a skill, and those that are about it
	for i := 0; i < len(plans); i += 3 {
		for share, p := range plans[i : i+3] {
			if !reflect.DeepEqual(p.Skills, plans[i].Skills) || len(p.Turns) != len(plans[i].Turns) {
				t.Fatalf("%s has other skills or turns than %s", p.Name, plans[i].Name)
			}
			var all []described
			for _, s := range p.Skills {
				all = append(all, described{s.Name, s.Description})
			}
			d, named, work := overviewOf(all), 0, 0
			for j := range p.Turns {
				turn := &p.Turns[j]
				if !reflect.DeepEqual(turn.Steps, plans[i].Turns[j].Steps) {
					t.Fatalf("turn %d of %s has other steps than in %s", j, p.Name, plans[i].Name)
				}
				about := d.Named(turn.Prompt, nil)
				needed := turn.skills()
				if len(needed) == 0 {
					if about != nil {
						t.Errorf("%s: chat %q is about %v", p.Name, turn.Prompt, about)
					}
					continue
				}
				work++
				if slices.Contains(about, p.Skills[needed[0]].Name) {
					named++
				}
			}
			switch share {
			case 0:
				if named > 0 {
					t.Errorf("%s: %d of %d prompts name their skill", p.Name, named, work)
				}
			case 2:
				asked, answered = asked+work, answered+named
			}
		}
	}
	if answered*20 < asked*19 {
		t.Errorf("only %d of %d prompts are about the skill that they name", answered, asked)
	}
}

func TestFamiliesAreRepeated(t *testing.T) {
	choice := Choice{Kinds: []string{"desk2", "longdocs"}, Names: []float64{0.5}, Noise: 0.3, Policy: Reader}
	a, errA := choice.Plans(5, 6)
	b, errB := choice.Plans(5, 4)
	if errA != nil || errB != nil || !reflect.DeepEqual(a[:4], b) {
		t.Errorf("the same seed gives other conversations: %v, %v", errA, errB)
	}
	names := map[string]bool{}
	for _, p := range a {
		names[p.Name] = true
	}
	if len(names) != len(a) {
		t.Errorf("%d names of %d plans", len(names), len(a))
	}
	noisy := 0
	for _, p := range a {
		for _, turn := range p.Turns {
			for _, around := range asides {
				if strings.Contains(turn.Prompt, strings.TrimRight(around[0], " ")) {
					noisy++
				}
			}
		}
	}
	if noisy == 0 {
		t.Error("no prompt names another skill")
	}
	for want, c := range map[string]Choice{
		`no kind "desk9"`:   {Kinds: []string{"desk9"}, Names: []float64{0}, Policy: Need},
		`no policy "never"`: {Kinds: []string{"desk2"}, Names: []float64{0}, Policy: "never"},
	} {
		if _, err := c.Plans(1, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
