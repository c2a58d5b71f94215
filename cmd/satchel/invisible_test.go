package main

import (
	"strings"
	"testing"
)

// Characters that people do not see hide a skill where they are in its name. In
// descriptions and bodies they are warned of, and the model gets descriptions without them.
func TestInvisibleCharacters(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"tags/SKILL.md":   "---\nname: \"tags\U000E0041\"\ndescription: Tags.\n---\nBODY\n",
		"body/SKILL.md":   "---\nname: body\ndescription: Seen.\n---\nLine.\nBO\u200BDY\n",
		"desc/SKILL.md":   "---\nname: desc\ndescription: Re\u2062ads\x1bfiles.\n---\nBODY\n",
		"emoji/SKILL.md":  "---\nname: emoji-❤\uFE0F\ndescription: \"Reads 👩\u200D💻 and می\u200Cخواهم.\"\n---\nBODY 1\uFE0F\u20E3\n",
		"filler/SKILL.md": "---\nname: \"filler\u3164\"\ndescription: Filler.\n---\nBODY\n",
	})
	got := program(t, nil, "", "list", dir)
	for _, want := range []string{
		"tags/SKILL.md:2: warning name-unprintable", "filler/SKILL.md:2: warning name-unprintable",
		"body/SKILL.md: warning invisible-character: the body", "desc/SKILL.md:3: warning invisible-character: description",
	} {
		if !strings.Contains(got.err, want) {
			t.Errorf("list lacks %q:\n%s", want, got.err)
		}
	}
	if strings.Contains(got.err, "emoji/SKILL.md:3") || strings.Contains(got.err, "emoji/SKILL.md: warning inv") || strings.Count(got.out, "(hidden from the model)") != 2 {
		t.Errorf("list: %s%s", got.out, got.err)
	}
	if got := program(t, nil, "", "validate", dir); !strings.Contains(got.out+got.err, "warning invisible-character: line 6: the body") {
		t.Errorf("validate: %s%s", got.out, got.err)
	}
	answers := answersOf(t, `{"tool":"skill_search","args":{"queries":["reads files"]}}`+"\n"+`{"tool":"skill_load","args":{"skill":"tags`+"\U000E0041"+`"}}`+"\n"+`{"tool":"skill_load","args":{"skill":"emoji-❤`+"\uFE0F"+`"}}`,
		"--skills", dir, "--search", "on", "-")
	if len(answers) != 3 || !strings.Contains(answers[0], "<description>Reads files.</description>") || !strings.HasPrefix(answers[1], "error: unknown skill") || !strings.HasPrefix(answers[2], "loaded: emoji-❤\uFE0F") {
		t.Errorf("answers %q", answers)
	}
}
