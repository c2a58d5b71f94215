package skilltools

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/needs"
)

// missing returns the last line of the answer: what the skills need and is not there. It returns
// "" if nothing is missing.
func (l *loading) missing() string { return needs.Line(unmetOf(l.texts)) }

// addUnmet adds an event for each skill with needs that are not met.
func (l *loading) addUnmet() {
	for i := range l.texts {
		if t := &l.texts[i]; len(t.unmet) > 0 {
			l.events = append(l.events, core.Event{Kind: core.SkillNeeds, Skill: t.skill.Name, Detail: strings.Join(t.unmet, "; ")})
		}
	}
}

// unmetOf returns the unmet needs of several skills, each once.
func unmetOf(texts []skillText) []string {
	var all []string
	for i := range texts {
		for _, words := range texts[i].unmet {
			if !slices.Contains(all, words) {
				all = append(all, words)
			}
		}
	}
	return all
}
