package offering

import (
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/tools"
)

// List fixes how requests list the skills, which are these when the runtime begins, and
// whether the tools search for those that the list has no room for.
func (o *Offer) List(skills []core.Skill) (searches bool, err error) {
	if v := o.Vocabulary; v != nil && v.Unlisted {
		o.Renderer, o.Text.Guidance = func([]core.Skill) string { return v.Guidance }, ""
		return false, nil
	}
	rules := o.Text.Guidance
	o.Text.Guidance = o.rules(rules)
	if searches = o.searches(skills); searches {
		if !o.Set.Has(tools.SearchName) {
			if err := o.Choose(tools.SearchName); err != nil {
				return false, err
			}
		}
		o.Text.Search = tools.SearchName
		o.Text.Guidance = o.rules(rules)
	}
	return searches, nil
}

// rules are those that follow the list of skills; given are those of the host for this
// list, "" for none.
func (o *Offer) rules(given string) string {
	switch {
	case o.Guidance != nil:
		return *o.Guidance
	case given != "":
		return given
	case o.Vocabulary != nil:
		rules := o.Vocabulary.Guidance
		if o.Set.Has(tools.SearchName) {
			rules += " " + tools.SearchGuidance
		}
		return rules
	}
	return o.Set.Guidance()
}

// searches reports whether skill_search is offered, where the overview would list these
// skills without it.
func (o *Offer) searches(skills []core.Skill) bool {
	switch {
	case o.Search != nil:
		return *o.Search
	case o.Names != nil:
		return slices.Contains(o.Names, tools.SearchName)
	case o.Renderer != nil:
		return false
	}
	fit := o.Text.Fit(skills)
	return fit.Bare+fit.Missing > 0
}

// UnknownTool returns the answer to a call of a tool that does not exist. It names these
// tools. It cannot name the host's, which a runtime does not always know.
func UnknownTool(name string, own []core.Tool) string {
	if len(name) > 80 {
		name = name[:80]
	}
	text := fmt.Sprintf("error: there is no tool %q; call one that you were given", strings.ToValidUTF8(name, "\uFFFD"))
	for i, tool := range own {
		if i == 0 {
			text += ", such as " + tool.Name
		} else {
			text += ", " + tool.Name
		}
	}
	return text
}
