package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/satcheltest"
)

// TestMissingSkillsAreTold looks at agents without their skills. Each command that works with
// skills prints one line with what to do, nothing twice. list fails where a place could not
// be read.
func TestMissingSkillsAreTold(t *testing.T) {
	base := skillDir(t, map[string]string{
		"p/.git/HEAD":                     "",
		"p/.claude/skills/pdf/SKILL.md":   described("pdf", "Of the project."),
		"broken/a/SKILL.md":               "---\nname: a\n---\n",
		"plain/a/SKILL.md":                "# No front matter\n",
		"folder/a/SKILL.md/x":             "",
		"hidden/a/SKILL.md":               "---\nname: a\ndescription: A.\ndisable-model-invocation: true\n---\n",
		"plug/.claude-plugin/plugin.json": `{"name":"plug"}`,
		"toml/a/skill.toml":               "",
		"junk.zip":                        "junk",
		"good/b/SKILL.md":                 described("b", "Good."),
		"none.json":                       `{"key":"k","allow":["a"]}`,
		"some.json":                       `{"key":"k","allow":["b"]}`,
	})
	at := func(name string) string { return filepath.Join(base, name) }
	for _, dir := range []string{"empty", "home", "nothing", "lostplug"} {
		if err := os.Mkdir(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("gone"), at("good/lost")); err != nil {
		if runtime.GOOS != "windows" { // on Windows, links require a privilege
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for name, to := range map[string]string{"good/second": "lost", "lostplug/skills": "gone"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	model, err := satcheltest.Open(func(satcheltest.Request) satcheltest.Response { return satcheltest.Response{Text: "done"} })
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	tests := []struct {
		name   string
		in     string
		flags  []string
		lines  int
		want   string
		failed bool
	}{
		{"refused", "", []string{"--skills", "http://example.com/s.zip"}, 1, "address not allowed: only https: is, unless the host allows another; --allow-url PREFIX allows", true},
		{"dead", "", []string{"--skills", "http://127.0.0.1:1/s.zip", "--allow-url", "http://127.0.0.1:1/"}, 1, "connection refused; correct the address, or leave it out", true},
		{"another fragment", "", []string{"--skills", "https://127.0.0.1:1/s.zip#sha256=00"}, 3, "behind # there may only be sha256= and the 64 hex digits of the archive", false},
		{"damaged", "", []string{"--skills", at("junk.zip")}, 1, "archive refused: it is neither zip nor tar nor a SKILL.md; ", true},
		{"empty", "", []string{"--skills", at("empty")}, 1, "no skills found in " + at("empty") + "; a skill is a folder with a SKILL.md", false},
		{"broken", "", []string{"--skills", at("broken")}, 1, "description is missing; satchel inspect says more", false},
		{"plain", "", []string{"--skills", at("plain")}, 1, "text does not begin with front matter; satchel inspect says more", false},
		{"folder", "", []string{"--skills", at("folder")}, 2, "not a regular file: a directory; put something there", false},
		{"hidden", "", []string{"--skills", at("hidden")}, 1, "the model sees no skill: all 1 are hidden from it", false},
		{"plugin", "nothing", []string{"--plugin", at("plug")}, 1, "the plugin has no folder skills/; give it one, or leave it out", true},
		{"toml", "", []string{"--skills", at("toml")}, 2, "there is a skill.toml and no SKILL.md", false},
		{"links", "", []string{"--skills", at("good")}, 2, "the link to lost is not followed: nothing is there; remove the link", false},
		{"untrusted", "p", []string{"--discover"}, 1, "are not trusted: not searched; run satchel trust .", false},
		{"nowhere", "nothing", []string{"--discover"}, 1, "there are no skills: none of these is there: ", false},
		{"audience", "", []string{"--skills", at("good/b"), "--audience", at("none.json")}, 1, "none.json allows none of the 1; name skills under \"allow\"", false},
		{"lost link", "", []string{"--skills", at("good/lost")}, 1, "the link to " + at("gone") + " leads nowhere; remove it, or put back what it leads to: file does not exist", true},
		{"missing", "", []string{"--skills", at("missing")}, 1, "no such file or directory; make it, or name another", true},
		{"no plugin", "", []string{"--plugin", at("missing")}, 1, "no such file or directory; make it, or name another", true},
		{"lost plugin", "nothing", []string{"--plugin", at("lostplug")}, 1, "the link to gone leads nowhere; remove it, or put back what it leads to\n", true},
		{"server", "", []string{"--mcp", "x=http://127.0.0.1:1/mcp"}, 1, "connection refused; start the server or correct the place, or leave --mcp out", true},
		{"program", "", []string{"--mcp", "x=false"}, 1, "; start the server or correct the place, or leave --mcp out", true},
		{"allowed", "", []string{"--skills", at("good/b"), "--audience", at("some.json")}, 0, "", false},
		{"good", "", []string{"--skills", at("good/b")}, 0, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.in != "" {
				t.Chdir(at(tt.in))
			}
			env := map[string]string{
				"HOME": at("home"), "USERPROFILE": at("home"), "SKILLS_CACHE_DIR": at("cache"),
				"OPENAI_BASE_URL": model.URL(), "OPENAI_MODEL": "m",
			}
			for command, rest := range map[string][]string{
				"chat": {"--profile", "knowledge_only", "hi"}, "tool": {"--profile", "knowledge_only", "skill_load", `{"skill":"zz"}`},
				"search": {"zz"}, "show": {"zz"}, "token-report": {"--profile", "knowledge_only", "hi"},
			} {
				got := program(t, env, "", append(append([]string{command}, tt.flags...), rest...)...)
				told := strings.ReplaceAll(got.err, "satchel: there is no skill \"zz\"; satchel list shows which there are\n", "")
				told = strings.ReplaceAll(told, ": satchel inspect", "")
				if n := strings.Count(told, "\n"); n != tt.lines || !strings.Contains(told, tt.want) || n > 0 && !strings.HasPrefix(told, "satchel: ") {
					t.Errorf("%s tells in %d lines, want %d:\n%s", command, n, tt.lines, got.err)
				}
			}
			got := program(t, env, "", append([]string{"list"}, tt.flags...)...)
			got.err = strings.Replace(got.err, "satchel: ", "", 1)
			if (got.code == cli.ExitFailed) != tt.failed || !strings.Contains(got.err, tt.want) {
				t.Errorf("list: %d, %s", got.code, got.err)
			}
		})
	}
}

// A root that begins to fail between two turns is reported once, by chat and by tool, and the turns
// go on.
func TestLostSkillsAreToldOnce(t *testing.T) {
	dir := skillDir(t, map[string]string{"s/b/SKILL.md": described("b", "Good.")})
	gone := filepath.Join(dir, "s")
	for _, framework := range []string{"eino", "langchaingo"} {
		if err := os.MkdirAll(filepath.Join(gone, "b"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(gone, "b", "SKILL.md"), []byte(described("b", "Good.")), 0o600); err != nil {
			t.Fatal(err)
		}
		answer := func(satcheltest.Request) satcheltest.Response {
			if err := os.RemoveAll(gone); err != nil {
				t.Error(err)
			}
			return satcheltest.Response{Text: "done"}
		}
		got := converse(t, answer, "one\ntwo\nthree\n", "chat", "--framework", framework, "--profile", "knowledge_only", "--skills", gone)
		if got.code != cli.ExitDone || strings.Count(got.err, "\n") != 1 || !strings.Contains(got.err, "so those listed last are used") || len(got.requests) != 3 {
			t.Errorf("%s: %d after %d requests: %s", framework, got.code, len(got.requests), got.err)
		}
	}
}

// A file of an audience that can no longer be read hides all skills, which is reported once.
func TestLostAudienceIsToldOnce(t *testing.T) {
	dir := skillDir(t, map[string]string{"s/b/SKILL.md": described("b", "Good.")})
	for _, framework := range []string{"eino", "langchaingo"} {
		file := filepath.Join(dir, "who.json")
		if err := os.WriteFile(file, []byte(`{"key":"k","allow":["b"]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		answer := func(satcheltest.Request) satcheltest.Response {
			overwrite(t, file, "{")
			return satcheltest.Response{Text: "done"}
		}
		got := converse(t, answer, "one\ntwo\nthree\n", "chat", "--framework", framework, "--profile", "knowledge_only", "--audience", file, "--skills", filepath.Join(dir, "s"))
		if got.code != cli.ExitDone || strings.Count(got.err, "\n") != 1 || !strings.Contains(got.err, "until it can be read, the model sees no skill") || len(got.requests) != 3 {
			t.Errorf("%s: %d after %d requests: %s", framework, got.code, len(got.requests), got.err)
		}
	}
}

// Each command reports a SKILL.md or a folder that may not be read, and a chat reports it
// once.
func TestSkillsWithoutPermissionAreTold(t *testing.T) {
	if os.Geteuid() < 1 {
		t.Skip("needs a user whom the modes of files bind")
	}
	for name, mode := range map[string]os.FileMode{"s/a/SKILL.md": 0, "s/a": 0, "s/a/": 0o600, "s": 0} {
		dir := skillDir(t, map[string]string{"s/a/SKILL.md": described("a", "Kept away."), "s/b/SKILL.md": described("b", "Good.")})
		root, locked := filepath.Join(dir, "s"), filepath.Join(dir, filepath.FromSlash(name))
		open, err := os.Stat(locked)
		if err != nil {
			t.Fatal(err)
		}
		lock := func(mode os.FileMode) {
			if err := os.Chmod(locked, mode); err != nil {
				t.Error(err)
			}
		}
		t.Cleanup(func() { lock(open.Mode()) })
		lock(mode)
		for _, args := range [][]string{{"list"}, {"search", "zz"}, {"show", "b"}, {"tool", "--profile", "knowledge_only", "skill_load", "b"}} {
			got := program(t, nil, "", append(args, "--skills", root)...)
			if n := strings.Count(got.err, "permission denied"); n != 1 || (got.code != cli.ExitDone) != (name == "s") {
				t.Errorf("%s %o: %s: %d, %s", name, mode, args[0], got.code, got.err)
			}
		}
		for _, framework := range []string{"eino", "langchaingo"} {
			lock(open.Mode())
			answer := func(satcheltest.Request) satcheltest.Response {
				lock(mode)
				return satcheltest.Response{Text: "done"}
			}
			got := converse(t, answer, "one\ntwo\nthree\n", "chat", "--framework", framework, "--profile", "knowledge_only", "--skills", root)
			if got.code != cli.ExitDone || strings.Count(got.err, "\n") != 1 || !strings.Contains(got.err, "permission denied") || len(got.requests) != 3 {
				t.Errorf("%s %o: %s: %d after %d requests: %s", name, mode, framework, got.code, len(got.requests), got.err)
			}
		}
	}
}
