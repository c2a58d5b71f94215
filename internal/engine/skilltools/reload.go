package skilltools

import (
	"context"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/tools"
)

// InView resolves the name of a skill whose load has ended but whose text is still in view. ok is
// false for any other skill.
func (s *Scope) InView(ctx context.Context, rec *state.Record, name string) (skill core.Skill, ok bool) {
	if !s.mayReload(rec, name) {
		return core.Skill{}, false
	}
	return s.inView(ctx, rec, name)
}

// Reload loads a skill from [Scope.InView] for a call that needs it loaded, and returns the
// answer of skill_load. If the skill has changed since its text was delivered, it loads nothing
// and the error is a [tools.ModelError].
func Reload(ctx context.Context, s *Scope, skill core.Skill) (string, error) {
	return reload(ctx, s, skill, nil, false)
}

func reload(ctx context.Context, s *Scope, skill core.Skill, docs []string, all bool) (string, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	t, err := readSkillText(ctx, s, skill, "", docs, all)
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
	addUnknownDocs(&r, []skillText{t}, docs)
	addUnreadable(&r, t.unreadable)
	change := loading{scope: s, texts: []skillText{t}}
	return change.save(ctx, &r)
}
