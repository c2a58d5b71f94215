// Package measure holds the commands that show and measure what models are sent: demo,
// cache-report and token-report.
package measure

import (
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// sections is the doc that the story selects while it works.
const sections = "references/sections.md"

// Prompts are the user turns of the story.
func Prompts() []string {
	return []string{
		"Write the release notes for 1.4.0: exports keep time zones (#81), login no longer hangs on an empty password (#85), the default export format is now CSV (#90).",
		"Now a commit message for #90, please.",
		"And why did the export fail last night? The log is night.log.",
		"(an hour later) 1.4.0 is out and the disk is larger. What do I tell the others, in one sentence?",
	}
}

// Script plays the model of the story. In the first turn it loads release-notes and asks
// for one doc. It answers only if both texts were sent. In the second turn it needs another
// skill, and in the third it runs the script of a skill over the log. The last
// turn comes an hour later and needs no skill. log is the host:// reference of a file with
// the text NightLog. A request that lacks what the model needs gets an HTTP error.
func Script(log string) satcheltest.Script {
	return satcheltest.Plan(
		satcheltest.Turn{
			Steps: []satcheltest.Step{
				satcheltest.Load("release-notes"),
				{
					Unless: docOpen("release-notes", sections),
					Needs:  []string{satcheltest.SkillOpen("release-notes")},
					Calls: []core.ToolCall{satcheltest.ToolCall("skill_select_docs", map[string]any{
						"skill": "release-notes", "docs": []string{sections}, "mode": "add",
					})},
				},
			},
			Needs: []string{satcheltest.SkillOpen("release-notes"), docOpen("release-notes", sections)},
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
		satcheltest.Turn{
			Steps:  []satcheltest.Step{satcheltest.Load("commit-style")},
			Needs:  []string{satcheltest.SkillOpen("commit-style")},
			Answer: "export: write CSV unless a format is named\n\nUpdates #90",
		},
		satcheltest.Turn{
			Steps: []satcheltest.Step{
				satcheltest.Load("log-triage"),
				{
					Needs: []string{satcheltest.SkillOpen("log-triage"), "scripts/top_errors.py"},
					// The arguments are raw text, because an encoder would escape > and &.
					Calls: []core.ToolCall{satcheltest.ToolCall("skill_run", fmt.Sprintf(
						`{"skill":"log-triage","inputs":[{"from":%q}],"command":%q,"output_files":["$OUTPUT_DIR/*"]}`, log, triage))},
				},
			},
			Needs:  []string{`"exit_code":0`, `"name":"` + groupsFile + `"`, `"name":"` + beforeFile + `"`, firstGroup},
			Answer: "The disk was full from 02:00:41 on; both exports and then the scheduler failed of it. Next check: df -h /var/lib/export.",
		},
		satcheltest.Turn{
			Answer: "1.4.0 is out, and last night's exports run again: the disk had been full.",
		},
	)
}

// docOpen is the tag with which a doc's text begins in a request.
func docOpen(skill, doc string) string {
	return `<skill_doc skill="` + skill + `" path="` + doc + `">`
}
