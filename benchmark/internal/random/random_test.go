package random

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

func TestPlansAreRepeated(t *testing.T) {
	a, b := Plans(7, 36), Plans(7, 24)
	if !reflect.DeepEqual(a[:24], b) {
		t.Error("the same seed gives other conversations")
	}
	if reflect.DeepEqual(a[0].Turns, Plans(8, 1)[0].Turns) {
		t.Error("another seed gives the same conversation")
	}
	names := map[string]bool{}
	for _, p := range a {
		if names[p.Name] {
			t.Errorf("two plans are named %q", p.Name)
		}
		names[p.Name] = true
	}
}

// Every plan can be played: it needs only skills and docs that it has, and its
// texts have about as many tokens as it says.
func TestPlansCanBePlayed(t *testing.T) {
	renderer, err := prompt.NewO200k()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Plans(11, 3*len(Kinds())) {
		dir := t.TempDir()
		if err := p.WriteSkills(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Scenario(); err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		for _, turn := range p.Turns {
			for _, step := range turn.Steps {
				if step.Skill >= len(p.Skills) || step.Skill >= 0 && slices.ContainsFunc(step.Docs, func(d int) bool { return d >= len(p.Skills[step.Skill].Docs) }) {
					t.Fatalf("%s needs what there is not: %+v", p.Name, step)
				}
			}
		}
		for _, s := range p.Skills {
			body, err := os.ReadFile(filepath.Join(dir, s.Name, "SKILL.md"))
			if err != nil {
				t.Fatal(err)
			}
			ids, err := renderer.Encode(string(body))
			if err != nil || len(ids) < s.Body*9/10 || len(ids) > s.Body*11/10+120 {
				t.Errorf("%s: %d tokens of a body of %d, %v", p.Name, len(ids), s.Body, err)
			}
		}
	}
}
