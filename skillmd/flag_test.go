package skillmd

import "testing"

// TestIndentedListRestricts: a tab makes the list part of the line before it.
func TestIndentedListRestricts(t *testing.T) {
	doc, _, err := Parse([]byte("---\nname: x\ndescription: y\n\tallowed-tools: Bash(echo:*)\n---\nBody.\n"))
	if err != nil || !doc.Skill.Repaired || doc.Skill.AllowedTools == nil {
		t.Errorf("repaired %v, tools %v, %v: a list that was not read must restrict", doc.Skill.Repaired, doc.Skill.AllowedTools, err)
	}
}
