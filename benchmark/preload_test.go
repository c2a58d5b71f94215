package main

import (
	"slices"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/benchmark/internal/replay"
	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// favourite returns the skill that most turns of a scenario need.
func favourite(s *scenario.Scenario) string {
	turns := map[string]int{}
	best := ""
	for _, turn := range s.Turns {
		var needed []string
		for _, step := range turn.Steps {
			if step.Need != "" && !slices.Contains(needed, step.Need) {
				needed = append(needed, step.Need)
				turns[step.Need]++
			}
		}
		for _, name := range needed {
			if turns[name] > turns[best] {
				best = name
			}
		}
	}
	return best
}

// Not one byte of the first message of a conversation changes while a skill is preloaded, and the
// model never loads that skill. No other text breaks the prefix more often for it.
func TestPreloadKeepsThePrefix(t *testing.T) {
	s := suite{scenarios: "scenarios", skills: "skills"}
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
	prices := cachemodel.Prices()[:2]
	cost := func(system replay.System, one *scenario.Scenario) (*prompt.Capture, *measure.Conversation) {
		played, err := system.Play(t.Context(), one, texts, s.skills)
		if err != nil {
			t.Fatal(err)
		}
		m, err := measure.Of(played, one, texts, renderer, prices)
		if err != nil {
			t.Fatal(err)
		}
		return played, m
	}
	for _, one := range scenarios {
		t.Run(one.Name, func(t *testing.T) {
			skill := favourite(one)
			with := replay.Core("adaptive+preload/tool-result", satchel.WithLoading(satchel.Loading{Preload: []string{skill}}))
			played, m := cost(with, one)
			_, without := cost(replay.Core("adaptive/tool-result"), one)
			first := played.Requests[0].Messages[0]
			for i, r := range played.Requests {
				if r.Messages[0].Content != first.Content || r.Messages[0].Role != "system" {
					t.Errorf("request %d begins with another message", i)
				}
				for _, message := range r.Messages {
					for _, c := range message.Calls {
						if c.Name == "skill_load" && c.Arguments == `{"skill":"`+skill+`"}` {
							t.Errorf("request %d: the model loads %s", i, skill)
						}
					}
				}
			}
			if m.Missing() > 0 {
				t.Errorf("lost %v, unmet %v", m.Lost, m.Unmet)
			}
			for i, p := range prices {
				t.Logf("%s: %.0f with %s preloaded, %.0f without; %d and %d breaks, %d and %d calls for skills", p.Name, m.Costs[i].ITE, skill,
					without.Costs[i].ITE, len(m.Breaks), len(without.Breaks), m.SkillCalls, without.SkillCalls)
			}
			if len(m.Breaks) > len(without.Breaks) || m.SkillCalls > without.SkillCalls {
				t.Errorf("preloaded: %d breaks and %d calls for skills, without: %d and %d", len(m.Breaks), m.SkillCalls, len(without.Breaks), without.SkillCalls)
			}
		})
	}
}
