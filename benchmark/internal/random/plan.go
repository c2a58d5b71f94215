// Package random generates conversations of several kinds from a seed. The sizes of their texts are
// those of real skills. No conversation is chosen to suit a system.
package random

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Plan is a conversation whose texts are sizes in tokens. Scenario and WriteSkills generate the
// texts.
type Plan struct {
	// Name is part of file names and contains kind and seed. It is unique in a suite.
	Name, Kind string
	Seed       uint64
	Skills     []Skill
	Turns      []Turn
	// Policy says what the model loads. "" is Need.
	Policy Policy
}

// Skill is a skill of the agent.
type Skill struct {
	Name string
	Body int
	Docs []int
	// Sections is how many sections each doc has, 0 for one text without headings.
	Sections int
	// Description is "" if it is generated.
	Description string
	telling     []string
}

// Turn is a message of the user and the steps after it.
type Turn struct {
	Idle  time.Duration
	User  int
	Steps []Step
	Say   int
	// Prompt is the message of the user, "" if it is generated. Names are the skills that it is
	// about.
	Prompt string
	Names  []int
}

// Step is a need of a skill and some of its docs. If Skill is -1, it is a call of a tool.
type Step struct {
	Skill  int
	Docs   []int
	Result int
	// Section is the section of each doc that is needed, if the docs have sections.
	Section int
}

// Plans returns n conversations, equally many of each kind. The same seed gives the same
// conversations, and a greater n only appends to them.
func Plans(seed uint64, n int) []*Plan {
	plans := make([]*Plan, n)
	for i := range plans {
		plans[i] = plan(kinds[i%len(kinds)], seed, i)
	}
	return plans
}

func plan(k kind, seed uint64, i int) *Plan {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
	p := &Plan{Name: fmt.Sprintf("%s-%d-%d", k.name, seed, i), Kind: k.name, Seed: seed<<20 ^ uint64(i)}
	m.plan = p
	k.fill(m)
	return p
}

// maker makes one plan.
type maker struct {
	*rand.Rand
	plan *Plan
}

// between returns a random number from low to high.
func (m *maker) between(low, high int) int { return low + m.IntN(high-low+1) }

func (m *maker) chance(p float64) bool { return m.Float64() < p }

// skills gives the agent n skills with bodies of the sizes of a distribution.
func (m *maker) skills(n int, bodies sizes) {
	for i := range n {
		s := Skill{Name: skillName(i), Body: bodies.draw(m.Rand)}
		for range m.IntN(4) {
			s.Docs = append(s.Docs, docSizes.draw(m.Rand))
		}
		m.plan.Skills = append(m.plan.Skills, s)
	}
}

// turn adds a turn. It needs the text of each skill, sometimes a doc too, and then calls tools.
func (m *maker) turn(tools int, results sizes, skills ...int) {
	t := Turn{User: userSizes.draw(m.Rand), Say: saySizes.draw(m.Rand)}
	for _, s := range skills {
		step := Step{Skill: s}
		if docs := len(m.plan.Skills[s].Docs); docs > 0 && m.chance(0.3) {
			step.Docs = []int{m.IntN(docs)}
		}
		t.Steps = append(t.Steps, step)
		for range (tools + len(skills) - 1) / len(skills) {
			t.Steps = append(t.Steps, Step{Skill: -1, Result: results.draw(m.Rand)})
		}
	}
	for range tools * boolInt(len(skills) == 0) {
		t.Steps = append(t.Steps, Step{Skill: -1, Result: results.draw(m.Rand)})
	}
	m.plan.Turns = append(m.plan.Turns, t)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
