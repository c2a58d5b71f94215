package replay

import (
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/benchmark/internal/hindsight"
	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
)

// sizes returns the scenario as sizes in this view.
func (v *view) sizes(r *prompt.Renderer) (*hindsight.Conversation, error) {
	z := sizer{renderer: r}
	c := &hindsight.Conversation{Fixed: z.request(prompt.Request{Tools: v.tools, Messages: v.history})}
	described := lifetime.NewDescriptions(v.overview())
	c.Skills = described.Count()
	texts, skills := map[*scenario.Text]int{}, numbers{}
	number := func(t *scenario.Text) int {
		if _, ok := texts[t]; !ok {
			texts[t] = len(texts)
			c.Texts = append(c.Texts, hindsight.Text{Skill: skills.of(t.Skill), Size: z.text("\n" + framed(t))})
		}
		return texts[t]
	}
	for _, t := range v.Turns {
		steps := t.Steps
		if i := slices.IndexFunc(steps, func(s scenario.Step) bool { return s.Say != "" }); i >= 0 {
			steps = steps[:i+1]
		}
		turn := hindsight.Turn{Idle: time.Duration(t.IdleSeconds * float64(time.Second)), User: z.message(prompt.Message{Role: "user", Content: t.User})}
		for _, name := range described.Named(t.User, nil) {
			turn.Names = append(turn.Names, skills.of(name))
		}
		used := map[string]bool{}
		for _, step := range steps {
			switch {
			case step.Need != "":
				need := &scenario.Need{Skill: step.Need, Body: true, Docs: step.Docs}
				s := hindsight.Step{
					Again:  v.Again && !used[step.Need],
					Call:   z.message(prompt.Message{Role: "assistant", Calls: satchelCalls(need)}),
					Result: z.message(prompt.Message{Role: "tool", Content: v.stub(need)}),
				}
				for _, text := range v.texts.Of(step) {
					s.Needs = append(s.Needs, number(text))
				}
				used[step.Need] = true
				turn.Steps = append(turn.Steps, s)
			case step.Tool != "":
				turn.Steps = append(turn.Steps, hindsight.Step{
					Call:   z.message(prompt.Message{Role: "assistant", Calls: []prompt.Call{{Name: step.Tool, Arguments: string(step.Args)}}}),
					Result: z.message(prompt.Message{Role: "tool", Content: step.Result}),
				})
			default:
				turn.Say = z.message(prompt.Message{Role: "assistant", Content: step.Say})
			}
		}
		c.Turns = append(c.Turns, turn)
	}
	v.docs = map[string][]string{}
	return c, z.err
}

// overview returns the list of skills in the system message.
func (v *view) overview() string {
	for _, m := range v.history {
		if at := strings.Index(m.Content, "<available_skills>"); at >= 0 {
			return m.Content[at:]
		}
	}
	return ""
}

// numbers gives each name a number.
type numbers map[string]int

func (n numbers) of(name string) int {
	if _, ok := n[name]; !ok {
		n[name] = len(n)
	}
	return n[name]
}

// sizer counts tokens.
type sizer struct {
	renderer *prompt.Renderer
	err      error
}

func (z *sizer) request(r prompt.Request) int {
	p, err := z.renderer.Render(r)
	if err != nil {
		z.err = err
		return 0
	}
	return p.Size
}

func (z *sizer) message(m prompt.Message) int {
	return z.request(prompt.Request{Messages: []prompt.Message{m}})
}

func (z *sizer) text(s string) int {
	ids, err := z.renderer.Encode(s)
	if err != nil {
		z.err = err
	}
	return len(ids)
}
