// Package demo tells one small conversation: what a scripted model does in it,
// and what each of its requests contained, printed for people.
package demo

import (
	"strings"

	"github.com/satchel-go/satchel/internal/wire"
)

// The doc that the story selects while it works.
const sections = "references/sections.md"

// Prompts are the user turns of the story.
func Prompts() []string {
	return []string{
		"Write the release notes for 1.4.0: exports keep time zones (#81), login no longer hangs on an empty password (#85), the default export format is now CSV (#90).",
		"Now a commit message for #90, please.",
	}
}

// Script is the model of the story. It loads release-notes when its text is not
// in front of it, asks for one doc, and answers only if both were sent; in the
// second turn it needs another skill. Whatever does not come as it should is
// answered with an HTTP error.
func Script() wire.Script {
	return wire.Plan(
		wire.Turn{
			Steps: []wire.Step{
				wire.Load("release-notes"),
				{
					Needs: []string{wire.SkillOpen("release-notes")},
					Calls: []wire.Call{wire.To("skill_select_docs", map[string]any{
						"skill": "release-notes", "docs": []string{sections}, "mode": "add",
					})},
				},
			},
			Needs: []string{wire.SkillOpen("release-notes"), docOpen("release-notes", sections)},
			Answer: strings.Join([]string{
				"## 1.4.0",
				"",
				"### Breaking",
				"- `export` writes CSV unless `--format` says otherwise (#90)",
				"",
				"### Fixed",
				"- `export` keeps time zones (#81)",
				"- Login answers an empty password at once (#85)",
			}, "\n"),
		},
		wire.Turn{
			Steps:  []wire.Step{wire.Load("commit-style")},
			Needs:  []string{wire.SkillOpen("commit-style")},
			Answer: "export: write CSV unless a format is named\n\nUpdates #90",
		},
	)
}

// docOpen is the tag with which a doc's text begins in a request.
func docOpen(skill, doc string) string {
	return `<skill_doc skill="` + skill + `" path="` + doc + `">`
}
