package librarychattest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/library"
)

// lineNumbers checks that line numbers of an edit are those that inspect has shown, for every target
// and every part of a text.
func lineNumbers(t *testing.T, open Open) {
	const front = "---\nname: steps\ndescription: Steps.\n# a comment\n---\n"
	var body strings.Builder
	body.WriteString("\n")
	for n := range 3000 {
		fmt.Fprintf(&body, "Step %d of a long text that comes in parts.\n", n)
	}
	w := newWorld(t, open, setup{edit: library.Allow, role: "maintainer"})
	unix := w.shared("steps", front+body.String())
	windows := w.shared("steps-crlf", strings.ReplaceAll(strings.Replace(front+body.String(), "name: steps", "name: steps-crlf", 1), "\n", "\r\n"))
	bare := w.shared("bare", "---\nname: bare\ndescription: Bare.\n---")
	for _, skill := range []string{unix.ID, windows.ID} {
		for _, target := range []string{"promptTemplate", "body", "SKILL.md", ""} {
			last := w.run(args{"action": "inspect", "skill": skill, "part": 3})
			first, shown := int(last["firstLine"].(float64)), strings.Split(last["contentWithLineNumbers"].(string), "\n")
			line := first + 7
			number, text, _ := strings.Cut(shown[7], "\t")
			if strings.TrimSpace(number) != fmt.Sprint(line) {
				t.Fatalf("line %d of part 3 is numbered %q", line, number)
			}
			for what, change := range map[string]args{
				"from":           {"edits": []args{{"from": line, "to": line, "newText": "Changed.\n"}}},
				"hunk":           {"patch": fmt.Sprintf("@@ -%d,1 +%d,1 @@\n-%s\n+Changed.\n", line, line, strings.TrimSuffix(text, "\r"))},
				"after":          {"edits": []args{{"after": line - 1, "newText": "Changed.\n"}}},
				"only new lines": {"patch": fmt.Sprintf("@@ -%d,0 +%d,1 @@\n+Changed.\n", line-1, line)},
			} {
				change["action"], change["skill"], change["expectedVersionRef"], change["dryRun"] = "patch", skill, last["versionRef"], true
				if target != "" {
					change["target"] = target
				}
				got := w.update(change)
				want(t, got, "status=dry_run")
				if diff := fmt.Sprint(got["numberedDiff"]); !strings.Contains(diff, fmt.Sprintf("     %5d + Changed.\n", line)) {
					t.Errorf("target %q, %s of line %d: %v", target, what, line, diff)
				}
			}
		}
	}
	edit := func(skill, ref, target string, edits ...args) map[string]any {
		t.Helper()
		return w.update(args{"action": "patch", "skill": skill, "expectedVersionRef": ref, "target": target, "edits": edits, "dryRun": true})
	}
	for _, e := range []args{{"from": 2, "newText": ""}, {"from": 4, "to": 8, "newText": ""}, {"after": 3, "newText": "x"}} {
		got := edit(unix.ID, unix.VersionRef, "body", e)
		want(t, got, "error=invalid")
		if !strings.Contains(fmt.Sprint(got["message"]), "is not part of the target, which begins after line 5") {
			t.Errorf("%v of the body: %v", e, got)
		}
	}
	want(t, edit(unix.ID, unix.VersionRef, "body", args{"oldText": "Steps.", "newText": "x"}), "error=no_match")
	want(t, edit(unix.ID, unix.VersionRef, "SKILL.md", args{"from": 3, "newText": "description: Other steps.\n"}, args{"from": 7, "newText": "First.\n"}), "status=dry_run", "added=2", "removed=2")
	want(t, edit(unix.ID, unix.VersionRef, "body", args{"after": 0, "newText": "First.\n"}, args{"after": 5, "newText": "Second.\n"}), "status=dry_run",
		"diff=--- a/SKILL.md\n+++ b/SKILL.md\n@@ -3,6 +3,8 @@\n description: Steps.\n # a comment\n ---\n+First.\n+Second.\n \n Step 0 of a long text that comes in parts.\n Step 1 of a long text that comes in parts.\n")
	want(t, edit(unix.ID, unix.VersionRef, "body", args{"oldText": "Step 1 of", "newText": "x"}, args{"from": 7, "to": 8, "newText": "x\n"}), "message=edits 1 and 2 overlap at lines 8 to 8")
	want(t, edit(unix.ID, unix.VersionRef, "body", args{"from": 3000, "to": 9000, "newText": "x\n"}), "message=edit 1: lines 3000-9000 are not there: the text has 3006 lines")
	for _, e := range []args{{"oldText": "Step 1 of", "to": 3, "newText": "x"}, {"after": 7, "to": 9, "newText": "x"}, {"from": 7, "replaceAll": true, "newText": "x"}} {
		want(t, edit(unix.ID, unix.VersionRef, "body", e), "error=invalid", "message=edit 1: to needs from, and replaceAll needs oldText")
	}

	// After a "replace" the body is exactly the new content.
	replaced := w.update(args{"action": "replace", "skill": unix.ID, "expectedVersionRef": unix.VersionRef, "target": "body", "content": "Only this.\n"})
	want(t, replaced, "status=applied")
	want(t, w.run(args{"action": "inspect", "skill": unix.ID}), "content="+front+"Only this.\n")
	want(t, w.update(args{"action": "replace", "skill": bare.ID, "expectedVersionRef": bare.VersionRef, "target": "body", "content": "\n\nTwo lines down."}), "status=applied")
	want(t, w.run(args{"action": "inspect", "skill": bare.ID}), "content=---\nname: bare\ndescription: Bare.\n---\n\n\nTwo lines down.\n")
	if texts := []string{w.events[len(w.events)-1].Skill, w.events[len(w.events)-2].Skill}; !slices.Equal(texts, []string{"bare", "steps"}) {
		t.Errorf("changed are %q", texts)
	}
}
