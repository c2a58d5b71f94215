package skilltools

import (
	"context"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/tools"
)

// InView resolves the name of a skill whose load has ended but whose text is
// still in view. ok is false for any other skill: one that is loaded, one whose
// text is gone, and one that skill_load would not find either.
func (s *Scope) InView(ctx context.Context, rec *state.Record, name string) (skill core.Skill, ok bool) {
	return s.inView(ctx, rec, name)
}

// LoadAgain loads a skill of [Scope.InView] for a call that needs it to be
// loaded. The answer is that of skill_load. If the skill has changed since its
// text was delivered, nothing is loaded and the error is a [ModelError].
func LoadAgain(ctx context.Context, s *Scope, skill core.Skill) (string, error) {
	return reload(ctx, s, skill, nil, false)
}

func reload(ctx context.Context, s *Scope, skill core.Skill, docs []string, all bool) (string, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	t, err := readSkillText(ctx, s, skill, docs, all)
	if err != nil {
		return "", err
	}
	switch shown, _ := rec.Body(skill.Name); {
	case shown == t.body.Digest:
	case rec.Full(shown) == t.body.Digest:
		return "", tools.ModelErrorf("only a shorter text of %s is in view: load it again", skill.Name)
	default:
		return "", tools.ModelErrorf("%s has changed since it was loaded: load it again", skill.Name)
	}
	var r reply
	unknownDocs(&r, []skillText{t}, docs)
	leftOut(&r, t.left)
	change := loading{scope: s, texts: []skillText{t}}
	return change.save(ctx, &r)
}
