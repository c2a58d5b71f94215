package main

import (
	"encoding/json"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReviewOnCommandLine lists the edits that wait for a review, with who, when and the
// difference. A changed folder becomes the next version. The audit names the user of the
// system, and each act once.
func TestReviewOnCommandLine(t *testing.T) {
	dir := t.TempDir()
	file, skill := filepath.Join(dir, "library.db"), filepath.Join(dir, "pdf")
	const text = "---\nname: pdf\ndescription: Fill in PDF forms.\n---\n\nUse the form tool.\n"
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(skill, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do := func(args ...string) string {
		t.Helper()
		out, code := withLibrary(t, file, args...)
		if code != cli.ExitDone {
			t.Fatalf("%q ends with %d: %s", args, code, out)
		}
		return out
	}
	write(text)
	made := strings.Fields(do("library", "import", "--update", skill)) // a new version
	if got := do("library", "pending"); got != "" {
		t.Errorf("of what a person has imported waits %q", got)
	}
	if got, code := withLibrary(t, file, "library", "import", skill); code != cli.ExitFailed || !strings.Contains(got, `the name "pdf" is taken`) || !strings.Contains(got, "--update makes a new version") {
		t.Errorf("once more: %d, %s", code, got)
	}
	if got := do("library", "import", "--update", skill); got != made[0]+" "+made[1]+" pdf unchanged\n" {
		t.Errorf("unchanged: %q", got)
	}
	edit := `{"action":"patch","skill":"pdf","expectedVersionRef":"` + made[1] + `","reason":"said so","patch":"-Use the form tool.\n+Use a form tool.\n"}`
	agent := []string{"tool", "--vocabulary", "unified", "--profile", "knowledge_only", "--role", "editor"}
	do(append(agent, "updateSkill", edit)...)                                                                              // there is no person to ask
	do(append(agent, "--edit", "allow", "updateSkill", strings.Replace(edit, "-Use the", "-Use that", 1))...)              // the patch does not match
	do(append(agent, "--edit", "allow", "updateSkill", strings.Replace(edit, `"patch",`, `"patch","dryRun":true,`, 1))...) // a dry run
	if got := do(append(agent, "--edit", "allow", "updateSkill", edit)...); !strings.Contains(got, `\"status\":\"applied\"`) {
		t.Fatalf("the edit is %s", got)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	var waiting struct {
		CanonicalID, Name, VersionRef, ComparedWith, At, Subject, Action, Reason, Diff string
		Shared                                                                         bool
		Added, Removed                                                                 int
	}
	if err := json.Unmarshal([]byte(do("library", "pending", "--json")), &waiting); err != nil {
		t.Fatal(err)
	}
	if w := waiting; w.CanonicalID != made[0] || w.Name != "pdf" || w.ComparedWith != made[1] || w.At == "" || w.Subject != me.Username || w.Action != "patch" || w.Reason != "said so" ||
		!strings.Contains(w.Diff, "-Use the form tool.\n+Use a form tool.\n") || !w.Shared || w.Added != 1 || w.Removed != 1 {
		t.Errorf("waiting is %+v", w)
	}
	if got := do("library", "pending"); !strings.HasPrefix(got, made[0]+"  "+waiting.VersionRef+"  pdf  ") || !strings.Contains(got, me.Username) || !strings.Contains(got, "+Use a form tool.") {
		t.Errorf("waiting is %s", got)
	}
	write(strings.Replace(text, "form tool", "new tool", 1))
	got := do("library", "import", "--update", skill)
	if !strings.Contains(got, " pdf +1 -1\n") || !strings.Contains(got, "satchel: pdf: replaces a patch by "+me.Username+"; satchel library restore "+made[0]+" v2 brings it back\n") {
		t.Errorf("import of a changed folder prints %q", got)
	}
	if got := do("library", "pending"); got != "" {
		t.Errorf("after it waits %q", got)
	}
	var rows []string
	for line := range strings.Lines(do("library", "log", "--json")) {
		var row struct{ Subject, Action, Outcome string }
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Subject != me.Username {
			t.Errorf("an entry is %s, %v", line, err)
		}
		rows = append(rows, row.Action+" "+row.Outcome)
	}
	want := []string{"import applied", "import refused", "import unchanged", "patch denied", "patch no_match", "patch dry_run", "patch applied", "import applied"}
	if !slices.Equal(rows, want) {
		t.Errorf("the audit has %q, want %q", rows, want)
	}
	if got, code := withLibrary(t, file, "library", "pending", "--library", "sqlite:"+dir); code == cli.ExitDone {
		t.Errorf("a library that cannot be opened ends with %d: %s", code, got)
	}
}
