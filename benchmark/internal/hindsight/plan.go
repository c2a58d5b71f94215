package hindsight

import "github.com/satchel-go/satchel/benchmark/internal/random"

// What Satchel adds to a conversation, measured in those of the benchmark: its
// tools and the overview, a call of skill_load, its stub, and the frame of a text.
const (
	fixedSize  = 365
	perSkill   = 55
	callSize   = 22
	stubSize   = 28
	frameSize  = 14
	toolCall   = 14
	perMessage = 4
)

// OfPlan is the conversation of a plan, to the sizes of the plan. It is what
// policies are looked for with: no text is made.
func OfPlan(p *random.Plan) *Conversation {
	c := &Conversation{Fixed: fixedSize + perSkill*len(p.Skills)}
	first := make([]int, len(p.Skills))
	for i, s := range p.Skills {
		first[i] = len(c.Texts)
		for _, size := range append([]int{s.Body}, s.Docs...) {
			c.Texts = append(c.Texts, Text{i, size + frameSize})
		}
	}
	for _, t := range p.Turns {
		turn := Turn{Idle: t.Idle, User: t.User + perMessage, Say: t.Say + perMessage}
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
