package random

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// families are kinds of conversations of people at work. Their skills have real descriptions, and
// their prompts are sentences.
var families = []kind{
	{"desk2", func(m *maker) { desk(m, 2) }},
	{"desk3", func(m *maker) { desk(m, 3) }},
	{"switch", switching},
	{"longdocs", longDocs},
	{"left", leftBehind},
}

// Families returns the names of the families in the order of reports.
func Families() []string {
	var names []string
	for _, k := range families {
		names = append(names, k.name)
	}
	return names
}

// Choice chooses families, and how their prompts and their model behave.
type Choice struct {
	// Kinds are names of Families.
	Kinds []string
	// Names are the shares of prompts that name the skill they need, by rare words of its
	// description. Each is a column of reports. Noise is the share of prompts that name another
	// skill.
	Names []float64
	Noise float64
	// Policy says what the model loads.
	Policy Policy
}

// Policy says what the model of a conversation loads.
type Policy string

const (
	// Need loads what a turn needs and the request does not contain.
	Need Policy = "need"
	// Again loads what a turn needs, even if the request contains it.
	Again Policy = "again"
	// Reader is Need, but reads one section of a doc in place of the doc, if docs have sections.
	Reader Policy = "reader"
)

// Plans returns n conversations, equally many of each kind and share. The conversations of one kind
// differ between shares only in their prompts.
func (c Choice) Plans(seed uint64, n int) ([]*Plan, error) {
	if !slices.Contains([]Policy{Need, Again, Reader}, c.Policy) {
		return nil, fmt.Errorf("there is no policy %q; there are %s, %s and %s", c.Policy, Need, Again, Reader)
	}
	var plans []*Plan
	for i := range n {
		column := i % (len(c.Kinds) * len(c.Names))
		name, share, round := c.Kinds[column/len(c.Names)], c.Names[column%len(c.Names)], i/(len(c.Kinds)*len(c.Names))
		at := slices.IndexFunc(families, func(k kind) bool { return k.name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no kind %q; there are %s", name, strings.Join(Families(), ", "))
		}
		p := family(at, seed, round)
		p.Kind = fmt.Sprintf("%s %.0f%%", name, 100*share)
		p.Name = fmt.Sprintf("%s-%.0f-%d-%d", name, 100*share, seed, round)
		p.Policy = c.Policy
		p.write(share, c.Noise)
		plans = append(plans, p)
	}
	return plans, nil
}

// family returns the turns and the skills of a conversation, without its prompts.
func family(at int, seed uint64, round int) *Plan {
	number := uint64(at+1)<<40 | uint64(round)
	m := &maker{Rand: rand.New(rand.NewPCG(seed, number))}
	m.plan = &Plan{Seed: seed<<20 ^ number}
	families[at].fill(m)
	return m.plan
}

// desk is a day that comes back to a few skills, with chat between the work. Half of the work uses
// a skill without calling a tool.
func desk(m *maker, favourites int) {
	m.cataloged(m.between(10, 17))
	now := 0
	for i := range m.between(8, 25) {
		switch {
		case i > 0 && m.chance(0.3):
			m.turn(boolInt(m.chance(0.2)), resultSizes)
			continue
		case m.chance(0.5):
			now = m.IntN(favourites)
		}
		tools := m.between(1, 3) * boolInt(m.chance(0.5))
		if m.chance(0.08) {
			m.turn(tools, resultSizes, now, (now+1)%favourites)
		} else {
			m.turn(tools, resultSizes, now)
		}
	}
}

// switching needs another skill in each turn, with a little chat between.
func switching(m *maker) {
	n := m.between(5, 14)
	m.cataloged(max(10, n))
	for i := range n {
		m.turn(m.between(0, 4), resultSizes, i)
		if m.chance(0.15) {
			m.turn(0, resultSizes)
		}
	}
}

// longDocs needs one skill, and in each turn a section of one of its long docs.
func longDocs(m *maker) {
	m.cataloged(m.between(10, 17))
	s := &m.plan.Skills[0]
	s.Docs, s.Sections = nil, m.between(4, 9)
	for range m.between(3, 6) {
		s.Docs = append(s.Docs, longDocSizes.draw(m.Rand))
	}
	for i := range m.between(5, 16) {
		if i > 0 && m.chance(0.2) {
			m.turn(0, resultSizes)
			continue
		}
		m.turn(m.between(0, 3), resultSizes, 0)
		step := &m.plan.Turns[len(m.plan.Turns)-1].Steps[0]
		step.Docs, step.Section = []int{m.IntN(len(s.Docs))}, m.IntN(s.Sections)
	}
}

// leftBehind needs one or two skills for some turns, and then none.
func leftBehind(m *maker) {
	m.cataloged(m.between(10, 17))
	for s := range m.between(1, 2) {
		for range m.between(1, 4) {
			m.turn(m.between(0, 3), resultSizes, s)
		}
	}
	for range m.between(4, 16) {
		m.turn(boolInt(m.chance(0.2)), resultSizes)
	}
}
