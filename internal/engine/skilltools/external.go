package skilltools

import (
	"cmp"
	"context"
	"fmt"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// ExternalSkill is a skill whose texts do not come from the catalog.
type ExternalSkill struct {
	// Skill has the name under which it is loaded.
	Skill core.Skill
	Text  catalog.Content
	Docs  []ExternalDoc
	// Whole is the whole text if Text is a part of it. An agent that runs the skill gets it.
	Whole string
	// ForkAnswer formats the answer of an agent that has run the skill. A skill without ForkAnswer is
	// always loaded.
	ForkAnswer func(text string) string
}

// ExternalDoc is a doc of an [ExternalSkill].
type ExternalDoc struct {
	Name string
	catalog.Content
}

// WantsFork is the error of [LoadExternal] for a skill that has to run as an agent of its own first.
type WantsFork struct{ Skill ExternalSkill }

func (w *WantsFork) Error() string {
	return fmt.Sprintf("skill %q runs as an agent of its own", w.Skill.Skill.Name)
}

// LoadExternal loads a skill like skill_load. It pins the texts, which count against the cap and
// the budget, and the view shows them at the result of the call. format formats the answer, with
// the receipt as the last field of its JSON. If [Scope.RunsAsAgent] says that the skill runs as an agent of
// its own, LoadExternal returns a [WantsFork]. Once [Scope.Forked] has the answer of that agent, it
// returns that answer. Errors for the model are [tools.ModelError]s.
func LoadExternal(ctx context.Context, public *tools.Scope, b ExternalSkill, format AnswerFunc) (string, error) {
	s, err := From(public)
	if err != nil {
		return "", err
	}
	if text, ok := s.Forked[b.Skill.Name]; ok {
		return b.ForkAnswer(text), nil
	}
	if s.RunsAsAgent != nil && b.ForkAnswer != nil && s.RunsAsAgent(b.Skill) {
		rec, err := s.Record(ctx)
		if err != nil {
			return "", err
		}
		if rec.Find(b.Skill.Name) == nil {
			return "", &WantsFork{b}
		}
	}
	t, err := b.pin(ctx, s)
	if err != nil {
		return "", err
	}
	change := loading{scope: s, texts: []skillText{t}, formatAnswer: format}
	return change.save(ctx, &reply{})
}

// declareExternal is [Declare] for the whole text of a skill that does not come from the catalog.
func declareExternal(ctx context.Context, s *Scope, b ExternalSkill) (*Declaration, error) {
	text := b.WholeText()
	b.Text = catalog.Content{Text: text, Digest: session.Digest(text)}
	t, err := b.pin(ctx, s)
	if err != nil {
		return nil, err
	}
	return &Declaration{change: loading{scope: s, activation: "declared", texts: []skillText{t}}}, nil
}

// WholeText returns the whole text of the skill.
func (b *ExternalSkill) WholeText() string { return cmp.Or(b.Whole, b.Text.Text) }

// pin pins the texts of the skill.
func (b *ExternalSkill) pin(ctx context.Context, s *Scope) (skillText, error) {
	t := skillText{skill: b.Skill, body: b.Text}
	if err := s.Pin(ctx, t.body); err != nil {
		return t, err
	}
	for _, d := range b.Docs {
		if err := s.Pin(ctx, d.Content); err != nil {
			return t, err
		}
		t.docs = append(t.docs, docText{name: d.Name, content: d.Content})
	}
	return t, nil
}
