package skilltools

import (
	"context"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/tools"
)

// Brought is a skill whose texts an operation has from elsewhere than the catalog.
type Brought struct {
	// Skill has the name under which it is loaded.
	Skill core.Skill
	Text  catalog.Content
	Docs  []BroughtDoc
}

// BroughtDoc is a doc of a [Brought] skill.
type BroughtDoc struct {
	Name string
	catalog.Content
}

// Bring loads a skill as skill_load does. Its texts are pinned, they count against the cap and
// the budget, and the view shows them at the result of the call. answered formats the answer,
// with the receipt as the last field of its JSON. Errors that the model can act on are
// [tools.ModelError]s.
func Bring(ctx context.Context, public *tools.Scope, b Brought, answered Answered) (string, error) {
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
	change := loading{scope: s, texts: []skillText{t}, answered: answered}
	return change.save(ctx, &reply{})
}
