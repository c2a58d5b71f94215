package skilltools

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

// LoadAll loads skills by names or locations. An unknown one, or more skills than the cap,
// changes nothing and is a [tools.ModelError]. In a vocabulary that evicts, other skills are
// unloaded to make room. replace unloads all other skills.
func LoadAll(ctx context.Context, s *Scope, names []string, replace bool, format AnswerFunc) (string, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	if err := checkCap(s, rec, names); err != nil {
		return "", err
	}
	var texts []skillText
	var unknown []string
	names, ran := s.cutForked(names)
	for _, name := range names {
		skill, err := s.skillAt(ctx, rec, name)
		if err == nil && slices.ContainsFunc(texts, func(t skillText) bool { return t.skill.Name == skill.Name }) {
			continue
		}
		var t skillText
		if err == nil {
			t, err = readSkillText(ctx, s, skill, "", nil, false)
		}
		if refused, ok := errors.AsType[tools.ModelError](err); ok {
			s.reportNotFound(ctx, err)
			unknown = append(unknown, string(refused))
			continue
		}
		if err != nil {
			return "", err
		}
		texts = append(texts, t)
	}
	if len(unknown) > 0 && len(ran) == 0 {
		return "", tools.ModelErrorf("%s", strings.Join(unknown, "; "))
	}
	for i := range ran { // an answer in JSON cannot be cut
		ran[i] = boundAnswer(tools.Limits{Answer: s.Limits.Answer / 2 / len(ran)}, ran[i])
	}
	ran = append(ran, unknown...)
	change := loading{scope: s, texts: texts, replace: replace && len(names) > 0, formatAnswer: format, ran: ran}
	return change.save(ctx, &reply{})
}

// skillAt is skillToLoad, but also accepts the location of a skill: its place in overviews and
// receipts, or its absolute path.
func (s *Scope) skillAt(ctx context.Context, rec *state.Record, ref string) (core.Skill, error) {
	skill, err := s.skillToLoad(ctx, rec, ref)
	if err == nil || !strings.Contains(ref, "/") {
		return skill, err
	}
	var found []core.Skill
	for _, skill := range s.Catalog().Snapshot().Skills() {
		at, _ := s.Catalog().Path(skill.Name)
		if path.Clean(ref) != skill.Location && ref != at && ref != strings.Join(strings.Fields(skill.Place), " ") {
			continue
		}
		if skill, err := s.skillToLoad(ctx, rec, skill.ID); err == nil {
			found = append(found, skill)
		}
	}
	switch len(found) {
	case 0:
		return core.Skill{}, err
	case 1:
		return found[0], nil
	}
	names := make([]string, len(found))
	for i := range found {
		names[i] = found[i].Name
	}
	return core.Skill{}, tools.ModelErrorf("%q is the location of %d skills: name one of %s", printable.Cut(ref, 200), len(found), jsonList(names, 10))
}

// UnloadAll unloads the named skills, or all loaded skills.
func UnloadAll(ctx context.Context, s *Scope, names []string, all bool, format AnswerFunc) (string, error) {
	if len(names) == 0 && !all {
		return "", tools.ModelErrorf(`name skills, such as {"names":["…"]}, or set all`)
	}
	c := unloading{scope: s, snapshot: s.Catalog().Snapshot(), names: names, all: all, formatAnswer: format}
	return c.save(ctx)
}
