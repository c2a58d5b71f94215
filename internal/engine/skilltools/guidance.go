package skilltools

import (
	"strings"
)

// SearchGuidance is the rule for [Search].
const SearchGuidance = "More skills than are listed: find them with " + SearchName + ", in several wordings."

// goOn keeps models from ending a turn with the news that a skill is loaded.
const goOn = "After loading, go on with the task in the same turn."

// Guidance returns the rules that follow the list of skills. They name only tools of the set and
// have less than 700 characters.
func (s *Set) Guidance() string {
	if !s.Has("skill_load") {
		return ""
	}
	rule := "Load a skill with skill_load before you rely on it, unless its text is in view"
	if s.Has("skill_select_docs") {
		rule += "; take only the docs you need"
	}
	lines := []string{rule + ".", goOn}
	if s.Has("skill_run") { // each sentence costs tokens in every request
		lines = append(lines, "skill_run runs what a skill tells you to; do not explore with it. editor_text answers $EDITOR.")
	}
	if s.Has(SearchName) {
		lines = append(lines, SearchGuidance)
	}
	return strings.Join(lines, " ")
}
