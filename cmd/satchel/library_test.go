package main

import (
	"encoding/json"
	"fmt"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withLibrary runs the program with a library in a file and returns its output.
func withLibrary(t *testing.T, file string, args ...string) (out string, code int) {
	t.Helper()
	var stdout, stderr strings.Builder
	code = run(t.Context(), args, cli.Console{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Env: func(name string) string {
		if name == "SATCHEL_LIBRARY" {
			return "sqlite:" + file
		}
		return ""
	}})
	return stdout.String() + stderr.String(), code
}

func TestLibrary(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "library.db")
	skill := filepath.Join(dir, "pdf")
	const text = "---\nname: pdf\ndescription: Fill in PDF forms.\n---\n\nUse the form tool.\n"
	if err := os.MkdirAll(skill, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	do := func(args ...string) string {
		t.Helper()
		out, code := withLibrary(t, file, args...)
		if code != cli.ExitDone {
			t.Fatalf("%q ends with %d: %s", args, code, out)
		}
		return out
	}
	made := strings.Fields(do("library", "import", "--as", "mia", dir))
	if len(made) != 3 || made[2] != "pdf" || !strings.HasPrefix(made[1], "v1-") {
		t.Fatalf("import prints %q", made)
	}
	if got := do("tool", "--vocabulary", "unified", "--profile", "knowledge_only", "runSkill", "{}"); !strings.Contains(got, `\"total\":1`) {
		t.Errorf("list is %s", got)
	}
	edit, err := json.Marshal(map[string]any{
		"action": "patch", "skill": "pdf", "expectedVersionRef": made[1], "reason": "said so", "patch": "-Use the form tool.\n+Use a form tool.\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	agent := []string{"tool", "--vocabulary", "unified", "--profile", "knowledge_only", "--as", "eve", "--role"}
	if got := do(append(agent, "editor", "updateSkill", string(edit))...); !strings.Contains(got, "denied: skills are edited only with approval, and nobody can be asked") {
		t.Errorf("an edit that nobody can be asked about is %s", got)
	}
	if got := do(append(agent, "viewer", "--edit", "allow", "updateSkill", string(edit))...); !strings.Contains(got, `\"error\":\"refused\"`) {
		t.Errorf("an edit of a viewer is %s", got)
	}
	if got := do(append(agent, "editor", "--edit", "allow", "updateSkill", string(edit))...); !strings.Contains(got, `\"status\":\"applied\"`) {
		t.Errorf("the edit is %s", got)
	}
	history := strings.Split(strings.TrimSpace(do("history", "pdf", "--json")), "\n")
	var newest struct {
		VersionRef, Subject, Reason, Action string
		Reviewed                            bool
	}
	if err := json.Unmarshal([]byte(history[0]), &newest); err != nil || len(history) != 2 || newest.Subject != "eve" || newest.Reason != "said so" || newest.Action != "patch" || newest.Reviewed {
		t.Errorf("history is %s, %v", history, err)
	}
	if got := do("diff", "pdf"); !strings.Contains(got, "-Use the form tool.\n+Use a form tool.\n") {
		t.Errorf("diff is %s", got)
	}
	if got := do("library", "review", "pdf", newest.VersionRef); !strings.Contains(got, newest.VersionRef) {
		t.Errorf("review prints %s", got)
	}
	if got := do("history", "pdf"); strings.Contains(got, "unreviewed") {
		t.Errorf("after review: %s", got)
	}
	if got := do("library", "restore", "pdf", "v1"); !strings.Contains(got, " v3-") {
		t.Errorf("restore prints %s", got)
	}
	if got := do("list", "--names"); !strings.HasPrefix(got, "pdf\n") {
		t.Errorf("list prints %q", got)
	}
	if got := do("list", "--json"); !strings.Contains(got, `"name":"pdf"`) || !strings.Contains(got, `"revision":"v3-`) {
		t.Errorf("list prints %s", got)
	}
	if got := do("show", "pdf"); !strings.Contains(got, "Use the form tool.") {
		t.Errorf("show prints %s", got)
	}
	if got := do("search", "fill in forms"); !strings.Contains(got, "pdf: Fill in PDF forms.") {
		t.Errorf("search prints %s", got)
	}
	do("library", "export", "pdf", filepath.Join(dir, "out"))
	if got, err := os.ReadFile(filepath.Join(dir, "out", "SKILL.md")); err != nil || string(got) != text {
		t.Errorf("exported is %q, %v", got, err)
	}
	do("library", "grant", "bob", "editor")
	if got, code := withLibrary(t, file, "library", "grant", "bob", "boss"); code != cli.ExitUsage || !strings.Contains(got, `unknown role "boss"`) || strings.Contains(got, "cannot start") {
		t.Errorf("an unknown role ends with %d: %s", code, got)
	}
	if got := do("library", "log", "--json"); strings.Count(got, "\n") < 5 || !strings.Contains(got, `"outcome":"refused"`) {
		t.Errorf("log is %s", got)
	}
	if got, code := withLibrary(t, file, "history", "nothing"); code != cli.ExitFailed || !strings.Contains(got, `unknown skill "nothing"`) {
		t.Errorf("an unknown skill ends with %d: %s", code, got)
	}
}

// TestPrivateOnCommandLine: commands show private skills to their owner alone, and say
// which overlays are outdated.
func TestPrivateOnCommandLine(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "library.db")
	const skill = "---\nname: %s\ndescription: Does it.\n---\n\nDo it.\n"
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
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
	write("mine/SKILL.md", fmt.Sprintf(skill, "mine"))
	do("library", "import", "--private", "--as", "ann", filepath.Join(dir, "mine"))
	if got := do("list", "--names", "--as", "ann"); !strings.HasPrefix(got, "mine\n") {
		t.Errorf("the owner is shown %q", got)
	}
	if got := do("list", "--names", "--as", "bob"); strings.Contains(got, "mine") {
		t.Errorf("another is shown %q", got)
	}
	plugin := filepath.Join(dir, "office")
	write("office/.claude-plugin/plugin.json", `{"name":"office","version":"1.0.0"}`)
	write("office/skills/pdf/SKILL.md", fmt.Sprintf(skill, "pdf"))
	flags := []string{"--library-plugin", plugin}
	listed := func() string { t.Helper(); return do(append([]string{"list", "--json"}, flags...)...) }
	if got := listed(); !strings.Contains(got, `"revision":"p-`) {
		t.Errorf("what is packaged is listed as %s", got)
	}
	edit := `{"action":"metadata","skill":"plugin:office:pdf","expectedVersionRef":"` + revision(t, listed()) + `","description":"Does more."}`
	if got := do(append([]string{"tool", "--vocabulary", "unified", "--profile", "knowledge_only", "--role", "maintainer", "--edit", "allow", "updateSkill", edit}, flags...)...); !strings.Contains(got, `\"status\":\"applied\"`) {
		t.Fatalf("the edit is %s", got)
	}
	write("office/skills/pdf/SKILL.md", fmt.Sprintf(skill, "pdf")+"Then say so.\n")
	if got := listed(); !strings.Contains(got, `"warnings":["overlay-outdated"]`) || !strings.Contains(got, "Does more.") {
		t.Errorf("after an upgrade: %s", got)
	}
}

// revision finds the revision of the only skill of a list.
func revision(t *testing.T, listed string) string {
	t.Helper()
	var line struct{ Revision string }
	if err := json.NewDecoder(strings.NewReader(listed)).Decode(&line); err != nil {
		t.Fatal(err)
	}
	return line.Revision
}
