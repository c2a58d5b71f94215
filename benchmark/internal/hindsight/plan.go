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
		for _, size := range append([]int{s.Body}, s.Docs...) {
			c.Texts = append(c.Texts, Text{i, size + frameSize})
		}
	}
	for _, t := range p.Turns {
		turn := Turn{Idle: t.Idle, User: t.User + perMessage, Say: t.Say + perMessage, Names: t.Names}
		for _, s := range t.Steps {
			if s.Skill < 0 {
				turn.Steps = append(turn.Steps, Step{Call: toolCall + perMessage, Result: s.Result + perMessage})
				continue
			}
			needs := []int{first[s.Skill]}
			for _, doc := range s.Docs {
				needs = append(needs, first[s.Skill]+1+doc)
			}
			turn.Steps = append(turn.Steps, Step{Needs: needs, Call: callSize + perMessage, Result: stubSize + perMessage})
		}
		c.Turns = append(c.Turns, turn)
	}
	return c
}
