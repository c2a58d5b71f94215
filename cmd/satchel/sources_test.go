package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/satcheltest"
)

func described(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\nBody.\n"
}

func TestDiscoveredSkillsNeedTrust(t *testing.T) {
	base := skillDir(t, map[string]string{
		"p/.git/HEAD":                      "",
		"p/.claude/skills/pdf/SKILL.md":    described("pdf", "Of the project."),
		"home/.claude/skills/pdf/SKILL.md": described("pdf", "Of the user."),
		"plug/.claude-plugin/plugin.json":  `{"name":"office"}`,
		"plug/skills/xls/SKILL.md":         described("xls", "Of a plugin."),
	})
	t.Chdir(filepath.Join(base, "p"))
	env := map[string]string{"HOME": filepath.Join(base, "home"), "USERPROFILE": filepath.Join(base, "home")}
	got := program(t, env, "", "list", "--names")
	if got.out != "pdf\n" || strings.Count(got.err, "untrusted-root") != 1 {
		t.Errorf("without trust: %q, %s", got.out, got.err)
	}
	if got := program(t, env, "", "list", "--all", "--names"); got.out != "pdf\nuser:pdf\n" {
		t.Errorf("--all: %q, %s", got.out, got.err)
	}
	if got := program(t, env, "", "trust", "."); got.code != cli.ExitDone || !strings.HasPrefix(got.out, "trusted: ") {
		t.Fatalf("trust: %q, %s", got.out, got.err)
	}
	got = program(t, env, "", "list", "--all", "--names")
	if got.out != "pdf\nuser:pdf\n" || strings.Count(got.err, "name-collision") != 1 || strings.Contains(got.err, "untrusted") {
		t.Errorf("with trust: %q, %s", got.out, got.err)
	}
	if got := program(t, env, "", "list", "--scope", "project", "--names"); got.out != "pdf\n" {
		t.Errorf("--scope: %q, %s", got.out, got.err)
	}
	if got := program(t, env, "", "list", "--plugin", filepath.Join(base, "plug"), "--json"); !strings.Contains(got.out, `"scope":"plugin","source":"office","qualified":"plugin:xls"`) {
		t.Errorf("--plugin: %q, %s", got.out, got.err)
	}
	if err := os.Rename(filepath.Join(base, "p"), filepath.Join(base, "away")); err != nil {
		t.Skip("a working directory cannot be moved here:", err)
	}
	if err := os.MkdirAll(filepath.Join(base, "p/.claude/skills/evil"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "p/.claude/skills/evil/SKILL.md"), []byte(described("evil", "Evil.")), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(base, "p"))
	if got := program(t, env, "", "list", "--names"); got.out != "pdf\n" || !strings.Contains(got.err, "untrusted-root") {
		t.Errorf("a swapped folder: %q, %s", got.out, got.err)
	}
}

func TestChatAudience(t *testing.T) {
	for _, framework := range []string{"eino", "langchaingo"} {
		t.Run(framework, func(t *testing.T) {
			base := skillDir(t, map[string]string{
				"s/pdf/SKILL.md": described("pdf", "Reads PDF files."),
				"s/xls/SKILL.md": described("xls", "Reads tables."),
				"a.json":         `{"key":"k","allow":["xls"]}`,
				"bad.json":       `{"allow":["xls"]}`,
			})
			script := func(r satcheltest.Request) satcheltest.Response { return satcheltest.Response{Text: "Done."} }
			got := converse(t, script, "", "chat", "--framework", framework, "--skills", filepath.Join(base, "s"), "--profile", "knowledge_only",
				"--audience", filepath.Join(base, "a.json"), "Hello.")
			if got.code != cli.ExitDone || len(got.requests) != 1 {
				t.Fatalf("%+v", got)
			}
			if text := string(got.requests[0].Raw); strings.Contains(text, "PDF") || !strings.Contains(text, "xls") {
				t.Errorf("request: %s", text)
			}
			if got := converse(t, script, "", "chat", "--skills", filepath.Join(base, "s"), "--audience", filepath.Join(base, "bad.json"), "Hello."); got.code != cli.ExitUsage {
				t.Errorf("a file without key: %+v", got)
			}
		})
	}
}

// What an audience may not see is in no list, no search, and cannot be shown.
func TestAudienceOfCommands(t *testing.T) {
	base := skillDir(t, map[string]string{
		"s/pdf/SKILL.md": described("pdf", "Reads PDF files of a kind."),
		"s/xls/SKILL.md": "---\nname: xls\ndescription: Reads tables of a kind.\nlicence: x\n---\n",
		"a.json":         `{"key":"k","allow":["xls"]}`,
		"bad.json":       `{"allow":["xls"]}`,
	})
	dir, seen := filepath.Join(base, "s"), filepath.Join(base, "a.json")
	for what, want := range map[string]struct {
		code int
		out  string
	}{
		"list --names":               {cli.ExitDone, "xls\n"},
		"show --files xls":           {cli.ExitDone, "SKILL.md\n"},
		"show --files pdf":           {cli.ExitFailed, ""},
		"search --json reading kind": {cli.ExitDone, `"total":1`},
	} {
		args := append(strings.Fields(what), "--skills", dir, "--audience", seen)
		if got := program(t, nil, "", args...); got.code != want.code || !strings.Contains(got.out, want.out) || strings.Contains(got.out, "pdf") {
			t.Errorf("%s: %+v", what, got)
		}
		args[len(args)-1] = filepath.Join(base, "bad.json")
		if got := program(t, nil, "", args...); got.code != cli.ExitUsage {
			t.Errorf("%s, a file without key: %+v", what, got)
		}
	}
	got := program(t, nil, `{"tool":"skill_load","args":{"skill":"pdf"}}`+"\n", "tool", "--watch", "--skills", dir, "--audience", seen, "--profile", "knowledge_only", "-")
	if got.code != cli.ExitDone || !strings.Contains(got.out, "unknown skill") {
		t.Errorf("tool: %+v", got)
	}
}

// Without directories that are named, --locked is about the places that are searched.
func TestLockedPlaces(t *testing.T) {
	home := skillDir(t, map[string]string{".agents/skills/pdf/SKILL.md": described("pdf", "Reads PDF files.")})
	dir := filepath.Join(home, ".agents", "skills")
	t.Chdir(t.TempDir())
	env := map[string]string{"HOME": home, "USERPROFILE": home}
	commands := [][]string{
		{"list", "--locked"}, {"show", "--locked", "pdf"}, {"search", "--locked", "reads pdf files"},
		{"tool", "--locked", "--profile", "knowledge_only", "skill_list_docs", `{"skill":"pdf"}`},
	}
	check := func(what string, code int, said string) {
		t.Helper()
		for _, args := range commands {
			if got := program(t, env, "", args...); got.code != code || !strings.Contains(got.err, said) {
				t.Errorf("%s: %s: %+v", what, args[0], got)
			}
		}
	}
	check("no lock", cli.ExitFailed, "satchel lock writes one")
	if got := program(t, env, "", "lock", dir); got.code != cli.ExitDone {
		t.Fatalf("lock: %+v", got)
	}
	check("locked", cli.ExitDone, "")
	if err := os.WriteFile(filepath.Join(dir, "pdf", "SKILL.md"), []byte(described("pdf", "Reads other files.")), 0o644); err != nil {
		t.Fatal(err)
	}
	check("changed", cli.ExitFailed, "SKILL.md is not what satchel.lock has")
}
