package skilltools

import (
	"context"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/tools"
)

// ExternalSkill is a skill whose texts do not come from the catalog.
type ExternalSkill struct {
	// Skill has the name under which it is loaded.
	Skill core.Skill
	Text  catalog.Content
	Docs  []ExternalDoc
}

// ExternalDoc is a doc of an [ExternalSkill].
type ExternalDoc struct {
	Name string
	catalog.Content
}

// LoadExternal loads a skill like skill_load. It pins the texts, which count against the cap and
// the budget, and the view shows them at the result of the call. format formats the answer, with
// the receipt as the last field of its JSON. Errors for the model are [tools.ModelError]s.
func LoadExternal(ctx context.Context, public *tools.Scope, b ExternalSkill, format AnswerFunc) (string, error) {
	s, err := From(public)
	if err != nil {
		return "", err
	}
	t := skillText{skill: b.Skill, body: b.Text}
	if err := s.Pin(ctx, t.body); err != nil {
		return "", err
	}
	for _, d := range b.Docs {
		if err := s.Pin(ctx, d.Content); err != nil {
			return "", err
		}
		t.docs = append(t.docs, docText{name: d.Name, content: d.Content})
	}
	change := loading{scope: s, texts: []skillText{t}, formatAnswer: format}
	return change.save(ctx, &reply{})
}
