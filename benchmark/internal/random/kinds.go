package random

import "time"

// kind is a kind of conversation.
type kind struct {
	name string
	fill func(*maker)
}

// kinds are in the order of reports. Each of the first seven favours some system; the others mix
// them.
var kinds = []kind{
	{"one-skill", oneSkill},
	{"new-skills", newSkills},
	{"favourites", favourites},
	{"long-turns", longTurns},
	{"long-results", longResultsBehind},
	{"chat", chat},
	{"docs", docsOneByOne},
	{"pair", pair},
	{"then-others", thenOthers},
	{"pauses", pauses},
	{"shift", shift},
	{"any-skill", anySkill},
}

// Kinds returns the names of the kinds in the order of reports.
func Kinds() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// oneSkill needs one skill in nearly every turn.
func oneSkill(m *maker) {
	m.skills(m.between(3, 12), bodySizes)
	for range m.between(5, 30) {
		if m.chance(0.9) {
			m.turn(m.between(0, 4), resultSizes, 0)
		} else {
			m.turn(m.between(0, 2), resultSizes)
		}
	}
}

// newSkills needs another skill in each turn.
func newSkills(m *maker) {
	n := m.between(5, 16)
	m.skills(n, bodySizes)
	for i := range n {
		m.turn(m.between(1, 5), resultSizes, i)
	}
}

// favourites come back, the first ones most.
func favourites(m *maker) {
	n := m.between(3, 8)
	m.skills(n+m.IntN(4), bodySizes)
	for range m.between(6, 30) {
		m.turn(m.between(0, 4), resultSizes, m.favourite(n))
	}
}

// favourite returns one of n numbers. Usually each is half as likely as the previous one, and
// sometimes all are equally likely.
func (m *maker) favourite(n int) int {
	if m.chance(0.15) {
		return m.IntN(n)
	}
	for i := range n - 1 {
		if m.chance(0.5) {
			return i
		}
	}
	return n - 1
}

// longTurns are few and have many calls.
func longTurns(m *maker) {
	m.skills(m.between(3, 10), bodySizes)
	for range m.between(1, 4) {
		var skills []int
		for range m.between(1, 3) {
			skills = append(skills, m.IntN(len(m.plan.Skills)))
		}
		m.turn(m.between(8, 25), resultSizes, skills...)
	}
}

// longResultsBehind has small skills with long results of tools behind them.
func longResultsBehind(m *maker) {
	m.skills(m.between(3, 8), smallSizes)
	for range m.between(3, 12) {
		m.turn(m.between(2, 5), longResults, m.IntN(len(m.plan.Skills)))
	}
}

// chat needs a skill in one turn of six.
func chat(m *maker) {
	m.skills(m.between(3, 10), bodySizes)
	for range m.between(8, 40) {
		if m.chance(0.17) {
			m.turn(m.between(0, 3), resultSizes, m.favourite(len(m.plan.Skills)))
		} else {
			m.turn(boolInt(m.chance(0.2)), resultSizes)
		}
	}
}

// docsOneByOne needs one skill, and in each turn one or two of its docs.
func docsOneByOne(m *maker) {
	m.skills(m.between(3, 8), bodySizes)
	s := &m.plan.Skills[0]
	for len(s.Docs) < 5 {
		s.Docs = append(s.Docs, docSizes.draw(m.Rand))
	}
	for i := range m.between(4, 14) {
		m.turn(m.between(0, 3), resultSizes, 0)
		m.plan.Turns[i].Steps[0].Docs = []int{m.IntN(len(s.Docs))}
	}
}

// pair needs two skills by turns, or both.
func pair(m *maker) {
	m.skills(m.between(3, 10), bodySizes)
	for i := range m.between(5, 24) {
		if m.chance(0.15) {
			m.turn(m.between(1, 4), resultSizes, 0, 1)
		} else {
			m.turn(m.between(0, 4), resultSizes, i%2)
		}
	}
}

// thenOthers needs a skill for some turns, then another, and then none.
func thenOthers(m *maker) {
	m.skills(m.between(3, 10), bodySizes)
	for s := range m.between(1, 3) {
		for range m.between(1, 8) {
			m.turn(m.between(0, 4), resultSizes, s)
		}
	}
	for range m.between(2, 12) {
		m.turn(m.between(0, 3), resultSizes)
	}
}

// pauses are favourites with pauses in which caches forget.
func pauses(m *maker) {
	favourites(m)
	for i := range m.plan.Turns {
		if m.chance(0.3) {
			m.plan.Turns[i].Idle = time.Duration(m.between(60, 7200)) * time.Second
		}
	}
}

// shift begins as one kind and ends as another.
func shift(m *maker) {
	parts := []func(*maker){oneSkill, newSkills, favourites, longTurns, longResultsBehind, chat}
	first, second := parts[m.IntN(len(parts))], parts[m.IntN(len(parts))]
	first(m)
	half := len(m.plan.Turns)/2 + 1
	turns, skills := m.plan.Turns[:half:half], m.plan.Skills
	m.plan.Turns, m.plan.Skills = nil, nil
	second(m)
	rest := m.plan.Turns[len(m.plan.Turns)/2:]
	if len(m.plan.Skills) < len(skills) {
		m.plan.Skills = append(m.plan.Skills, skills[len(m.plan.Skills):]...)
	}
	m.plan.Turns = append(turns, rest...)
	for _, t := range m.plan.Turns {
		for i := range t.Steps {
			if s := &t.Steps[i]; s.Skill >= 0 {
				s.Docs = within(s.Docs, len(m.plan.Skills[s.Skill].Docs))
			}
		}
	}
}

// within returns docs if a skill with n docs has all of them, else nil.
func within(docs []int, n int) []int {
	for _, d := range docs {
		if d >= n {
			return nil
		}
	}
	return docs
}

// anySkill needs any of many skills.
func anySkill(m *maker) {
	m.skills(m.between(6, 16), bodySizes)
	for range m.between(6, 24) {
		m.turn(m.between(0, 5), resultSizes, m.IntN(len(m.plan.Skills)))
	}
}
