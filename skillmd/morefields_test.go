package skillmd

import (
	"slices"
	"strings"
	"testing"
)

func TestDisallowedTools(t *testing.T) {
	for front, want := range map[string][]string{
		"disallowed-tools: Bash(rm:*), Write":            {"Bash(rm:*)", "Write"},
		"disallowed-tools: Bash(rm *) Write":             {"Bash(rm *)", "Write"},
		"disallowed-tools: [Write, Bash(rm:*)]":          {"Write", "Bash(rm:*)"},
		"disallowed_tools: Write":                        {"Write"},
		"disallowedTools: Write":                         {"Write"},
		"disallowed-tools: {a: b}":                       nil,
		"disallowed-tools:":                              nil,
		"disallowed-tools:\n  - Write\n  - [a]":          {"Write"},
		"disallowed-tools: Write\nlicense: a: b":         {"Write"},
		"license: a: b\ndisallowed-tools: [Write, Bash]": {"Write", "Bash"},
		"license: MIT":                                   nil,
	} {
		doc, _, err := Parse([]byte("---\nname: a\ndescription: A.\n" + front + "\n---\n"))
		if err != nil || !slices.Equal(doc.Skill.DisallowedTools, want) || doc.Skill.AllowedTools != nil {
			t.Errorf("%q: %q, %q, %v, want %q", front, doc.Skill.DisallowedTools, doc.Skill.AllowedTools, err, want)
		}
		again, _, err := Parse(doc.Render())
		if err != nil || !slices.Equal(again.Skill.DisallowedTools, want) {
			t.Errorf("%q rendered: %q, %v", front, again.Skill.DisallowedTools, err)
		}
	}
}

func TestWhenToUse(t *testing.T) {
	for front, want := range map[string]string{
		"description: Reads PDFs.\nwhen_to_use: Use it for forms.":       "Reads PDFs. Use it for forms.",
		"when_to_use: Use it for forms.\ndescription: Reads PDFs.":       "Reads PDFs. Use it for forms.",
		"description: Reads PDFs.\nwhen-to-use: Use it for forms.":       "Reads PDFs. Use it for forms.",
		"description: Reads PDFs.\nwhen_to_use: [For forms, For tables]": "Reads PDFs. For forms; For tables",
		"description: Reads PDFs.\nwhen_to_use: {a: b}":                  "Reads PDFs.",
		"description: Reads PDFs.\nwhen_to_use: ":                        "Reads PDFs.",
		"description: Reads PDFs. For forms.\nwhen_to_use: For forms.":   "Reads PDFs. For forms.",
		"description: Reads PDFs.\nwhen_to_use: >\n  For\n  forms.\n":    "Reads PDFs. For forms.",
		"description: Reads PDFs.\nwhen_to_use: \"For\\u200b forms.\"":   "Reads PDFs. For forms.",
		"description: Reads PDFs.\nwhen_to_use: Use: for forms\nx: y: z": "Reads PDFs. Use: for forms",
	} {
		doc, _, err := Parse([]byte("---\nname: a\n" + front + "\n---\n"))
		if err != nil || doc.Skill.Description != want {
			t.Errorf("%q: %q, %v, want %q", front, doc.Skill.Description, err, want)
		}
		again, _, err := Parse(doc.Render())
		if err != nil || again.Skill.Description != want {
			t.Errorf("%q rendered: %q, %v", front, again.Skill.Description, err)
		}
	}
	if doc, _, err := Parse([]byte("---\nname: a\nwhen_to_use: For forms.\n---\n")); err == nil || strings.Contains(doc.Skill.Description, "forms") {
		t.Errorf("without a description: %q, %v", doc.Skill.Description, err)
	}
}
