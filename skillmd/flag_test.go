package skillmd

import "testing"

// TestIndentedListRestricts checks that allowed-tools counts even behind a tab, which makes
// it part of the value above.
func TestIndentedListRestricts(t *testing.T) {
	doc, _, err := Parse([]byte("---\nname: x\ndescription: y\n\tallowed-tools: Bash(echo:*)\n---\nBody.\n"))
	if err != nil || !doc.Skill.Repaired || doc.Skill.AllowedTools == nil {
		t.Errorf("repaired %v, tools %v, %v: a list that was not read must restrict", doc.Skill.Repaired, doc.Skill.AllowedTools, err)
	}
}
