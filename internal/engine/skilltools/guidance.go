package skilltools

import (
	"strings"
)

// SearchGuidance is the rule for [Search].
const SearchGuidance = "More skills than are listed: find them with " + SearchName + ", in several wordings."

// Guidance returns the rules that follow the list of skills. They name only tools of the set and
// have less than 700 characters.
func (s *Set) Guidance() string {
	if !s.Has("skill_load") {
		return ""
	}
	lines := []string{"Load a skill with skill_load before you rely on it; the list only says what it is for. Follow what it says once its text is in view, and load nothing that is in view already."}
	if s.Has("skill_list_docs") && s.Has("skill_select_docs") {
		lines = append(lines, "Docs of a skill come into view with skill_select_docs (names: skill_list_docs); take only what you need.")
	}
	if s.Has("skill_read") {
		lines = append(lines, "Paths in a skill are relative to its folder; skill_read reads them.")
	}
	if s.Has("skill_run") { // where nothing runs they say less: each sentence costs tokens in every request
		lines = append(lines, "skill_run runs what a skill tells you to; do not explore with it. Avoid include_all_docs unless you need all. Use editor_text for $EDITOR, not keystrokes. Files go to $OUTPUT_DIR, and their refs (workspace://…) can be read and staged.")
	}
	if s.Has(SearchName) {
		lines = append(lines, SearchGuidance)
	}
	if s.Has("skill_unload") {
		lines = append(lines, "Unload what you are done with by skill_unload.")
	}
	return strings.Join(lines, " ")
}
