package skillmd_test

import (
	"testing"

	"github.com/satchel-go/satchel/skillmd"
)

// TestShortDescription checks that short_description replaces a missing description in the
// Lenient mode only.
func TestShortDescription(t *testing.T) {
	const short, both = "---\nname: a\nshort_description: Short.\n---\n", "---\nname: a\ndescription: Long.\nshort_description: Short.\n---\n"
	for text, want := range map[string]string{short: "Short.", both: "Long."} {
		doc, diags, err := skillmd.Parse([]byte(text))
		if err != nil || doc.Skill.Description != want {
			t.Errorf("%q: %q, %v", text, doc.Skill.Description, err)
		}
		if told := len(diags) == 1 && diags[0].Code == "short-description" && diags[0].Severity == skillmd.Info && diags[0].Line == 3; told != (want == "Short.") {
			t.Errorf("%q: %v", text, diags)
		}
	}
	for _, text := range []string{short, "---\nname: a\nshort_description: \" \"\n---\n", "---\nname: a\nshort_description: [a]\n---\n"} {
		mode := skillmd.Lenient
		if text == short {
			mode = skillmd.Strict
		}
		if _, _, err := skillmd.Parse([]byte(text), skillmd.WithMode(mode)); err == nil {
			t.Errorf("%q is a skill", text)
		}
	}
}
