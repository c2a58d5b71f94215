package hindsight

import "github.com/satchel-go/satchel/benchmark/internal/random"

// Tokens that Satchel adds to a conversation, measured in those of the benchmark: tools and
// overview, a call of skill_load, its stub, and the tags around a text.
const (
	fixedSize  = 365
	perSkill   = 55
	callSize   = 22
	stubSize   = 28
	frameSize  = 14
	toolCall   = 14
	perMessage = 4
)

// FromPlan returns the conversation of a plan, with the sizes of the plan. It generates no texts,
// so it is fast enough to search for policies.
func FromPlan(p *random.Plan) *Conversation {
	c := &Conversation{Skills: len(p.Skills), Fixed: fixedSize + perSkill*len(p.Skills)}
	first := make([]int, len(p.Skills))
	for i, s := range p.Skills {
		first[i] = len(c.Texts)
		c.Texts = append(c.Texts, Text{i, s.Body + frameSize})
		for _, size := range s.Docs {
			for range parts(p, i) {
				c.Texts = append(c.Texts, Text{i, size/parts(p, i) + frameSize})
			}
		}
	}
	for _, t := range p.Turns {
		turn := Turn{Idle: t.Idle, User: t.User + perMessage, Say: t.Say + perMessage, Names: t.Names}
		used := map[int]bool{}
		for _, s := range t.Steps {
			if s.Skill < 0 {
				turn.Steps = append(turn.Steps, Step{Call: toolCall + perMessage, Result: s.Result + perMessage})
				continue
			}
			needs := []int{first[s.Skill]}
			for _, doc := range s.Docs {
				n := parts(p, s.Skill)
				needs = append(needs, first[s.Skill]+1+doc*n+min(s.Section, n-1))
			}
			turn.Steps = append(turn.Steps, Step{
				Needs: needs, Call: callSize + perMessage, Result: stubSize + perMessage,
				Again: p.Policy == random.Again && !used[s.Skill],
			})
			used[s.Skill] = true
		}
		c.Turns = append(c.Turns, turn)
	}
	return c
}

// parts returns how many texts a doc of a skill has: its sections if the model reads sections,
// otherwise 1.
func parts(p *random.Plan, skill int) int {
	if p.Policy == random.Reader {
		return max(1, p.Skills[skill].Sections)
	}
	return 1
}
