package call

import (
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
	}
	rules, searches := o.Set.Guidance(), o.Set.Has(tools.SearchName)
	if o.Vocabulary != nil {
		if rules = o.Vocabulary.Guidance; searches {
			rules += " " + tools.SearchGuidance
		}
	}
	switch {
	case rules == "" || !o.Suggests:
	case searches: // both are short, for there is little room
		rules = strings.Replace(rules, tools.SearchGuidance, "More skills: "+tools.SearchName+". "+suggestedNames, 1)
	default:
		rules += " " + suggestedNames
	}
	return rules
}

// suggestedNames says what a note of package turn means.
const suggestedNames = "<skills_suggested> names likely ones."

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
