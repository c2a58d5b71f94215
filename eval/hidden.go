package eval

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/skillneeds"
	"github.com/satchel-go/satchel/skillmd"
)

// hiddenOf returns the skills of the suite that the model does not see, and why.
func (s *Suite) hiddenOf(ctx context.Context, c *catalog.Catalog) map[string]string {
	hidden := make(map[string]string)
	snapshot := c.Snapshot()
	for _, name := range s.Skills() {
		skill, err := snapshot.Resolve(name)
		if err != nil || !skill.Hidden {
			continue
		}
		hidden[name] = "missing here: " + snapshot.WhyHidden(skill.ID)
		if snapshot.WhyHidden(skill.ID) == "" {
			hidden[name] = whyHidden(ctx, c, &skill)
		}
	}
	return hidden
}

// codeName is the finding of skillmd about a name that hides its skill.
const codeName skillmd.Code = "name-unprintable"

// whyHidden returns what in the files of a skill hides it.
func whyHidden(ctx context.Context, c *catalog.Catalog, skill *core.Skill) string {
	var why []string
	if skill.Origin == "" { // else reading would fetch the files
		file := path.Base(skill.Place)
		text, err := c.ReadFile(ctx, skill.ID, file)
		if err == nil {
			doc, found, _ := skillmd.Parse(text)
			switch {
			case slices.ContainsFunc(found, func(d skillmd.Diagnostic) bool { return d.Code == codeName }):
				why = append(why, "the name in "+file+" holds invisible characters")
			case doc.Skill.Hidden:
				why = append(why, "disable-model-invocation in "+file)
			}
		}
		if text, err = c.ReadFile(ctx, skill.ID, skillneeds.AgentFile); err == nil {
			if hides, _ := skillneeds.HidesFromModel(text); hides {
				why = append(why, "policy.allow_implicit_invocation in "+skillneeds.AgentFile)
			}
		}
	}
	if len(why) == 0 {
		return "its front matter, as the catalog has it"
	}
	return strings.Join(why, ", and ")
}
