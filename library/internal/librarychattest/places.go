package librarychattest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/library"
)

// plugin installs a plugin with one skill, and returns it with the path of its SKILL.md.
func plugin(t *testing.T, name, text string) (library.Plugin, string) {
	t.Helper()
	dir := t.TempDir()
	for file, text := range map[string]string{".claude-plugin/plugin.json": `{"name":"office","version":"1.0.0"}`, "skills/" + name + "/SKILL.md": text} {
		file = filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := library.OpenPlugin(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return p, filepath.Join(dir, "skills", name, "SKILL.md")
}

func ambiguous(t *testing.T, open Open) {
	p, file := plugin(t, "forms", form)
	w := newWorld(t, open, setup{plugins: []library.Plugin{p}, role: "maintainer"})
	made := w.shared("forms", strings.Replace(form, "the form tool", "our tool", 1))
	got := w.run("forms")
	want(t, got, "error=ambiguous", `message="forms" is the name of 2 skills; use a canonicalId`)
	if len(got["candidates"].([]any)) != 2 {
		t.Errorf("candidates are %v", got["candidates"])
	}
	want(t, w.run(args{"skill": made.ID}), "status=loaded")
	want(t, w.run(args{"skill": "plugin:office:forms"}), "status=loaded")
	seen := w.run(args{"action": "inspect", "skill": "plugin:office:forms"})
	done := w.update(args{"action": "patch", "skill": "plugin:office:forms", "expectedVersionRef": seen["versionRef"], "patch": "-Then save it.\n+Then keep it.\n"})
	want(t, done, "status=applied")
	if !strings.HasPrefix(fmt.Sprint(done["versionRef"]), "v1-") {
		t.Errorf("overlay is %v", done)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != form {
		t.Errorf("what is installed has changed: %q, %v", got, err)
	}
}

func copyOfAFolder(t *testing.T, open Open) {
	web := fstest.MapFS{
		"web/SKILL.md":     {Data: []byte("---\nname: web\ndescription: Look.\nallowed-tools: Bash\n---\nLook.\n")},
		"web/scripts/a.sh": {Data: []byte("echo\n")},
	}
	w := newWorld(t, open, setup{files: web})
	seen := w.run(`{"action":"inspect","skill":"web"}`)
	want(t, seen, "source=file", "editable=false")
	got := w.update(args{"action": "patch", "skill": "web", "expectedVersionRef": seen["versionRef"], "patch": "-Look.\n+See.\n"})
	if !strings.Contains(fmt.Sprint(got["message"]), "copy it first") {
		t.Errorf("an edit of a folder is %v", got)
	}
	want(t, w.update(args{"action": "copy", "skill": "web", "name": "my-web"}), "status=applied")
	want(t, w.run(`{"action":"inspect","skill":"my-web"}`), "editable=true", "source=db", "reviewed=false")
	alone := newWorld(t, open, setup{edit: library.Allow, files: web})
	want(t, alone.update(args{"action": "copy", "skill": "web", "name": "my-web"}), "status=applied")
	want(t, alone.run(`{"action":"inspect","skill":"my-web"}`), "editable=true", "reviewed=false")
	want(t, alone.run("my-web"), "status=loaded")
	want(t, alone.update(args{"action": "create", "name": "more", "description": "More.", "content": "More.\n"}), "status=applied")
	if _, err := alone.library.Review(t.Context(), library.Actor{Tenant: "acme", Subject: "mia", Roles: []library.Role{"maintainer"}}, library.Ref{Skill: fmt.Sprint(alone.run(`{"action":"inspect","skill":"my-web"}`)["canonicalId"])}); err != nil {
		t.Error(err)
	}
	want(t, alone.run(`{"action":"inspect","skill":"my-web"}`), "reviewed=true")
}

func tenants(t *testing.T, open Open) {
	w := newWorld(t, open, setup{role: "maintainer"})
	other, err := w.library.Import(t.Context(), library.Actor{Tenant: "b", Subject: "bob", Roles: []library.Role{"maintainer"}}, "secret", map[string][]byte{"SKILL.md": []byte("---\nname: secret\ndescription: X.\n---\nX.\n")}, false, "")
	if err != nil {
		t.Fatal(err)
	}
	a, b := w.run(args{"skill": other.ID}), w.run(`db:01ARZ3NDEKTSV4RRFFQ69G5FAV`)
	if strings.ReplaceAll(fmt.Sprint(a["message"]), other.ID, "") != strings.ReplaceAll(fmt.Sprint(b["message"]), "db:01ARZ3NDEKTSV4RRFFQ69G5FAV", "") || a["error"] != "unknown" {
		t.Errorf("another tenant's id gives %v, a random one %v", a, b)
	}
}

// overlay checks edits of a plugin skill. They do not change the installed files, survive an
// upgrade, and end when the skill is archived.
func overlay(t *testing.T, open Open) {
	p, file := plugin(t, "forms", form)
	w := newWorld(t, open, setup{edit: library.Allow, plugins: []library.Plugin{p}})
	const id = "plugin:office:forms"
	base := w.run(args{"action": "inspect", "skill": id})
	patch := args{"action": "patch", "skill": id, "expectedVersionRef": base["versionRef"], "patch": "-Then save it.\n+Then keep it.\n"}
	want(t, w.update(patch), "error=refused", `message=editing plugin skills needs the role maintainer; copy it with action "copy" and edit the copy`)
	w.actor.Roles = []library.Role{"maintainer"}
	done := w.update(patch)
	want(t, done, "status=applied")
	if !strings.HasPrefix(fmt.Sprint(done["versionRef"]), "v1-") {
		t.Errorf("the overlay is %v", done)
	}
	want(t, w.run(id), "status=loaded", fmt.Sprint("versionRef=", done["versionRef"]))
	if last := lastOf(w.chat.View()); !strings.Contains(last, "Then keep it.") {
		t.Errorf("shown is %q", last)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != form {
		t.Errorf("what is installed has changed: %q, %v", got, err)
	}
	upgraded := strings.Replace(form, "Use the form tool.", "Use the new form tool.", 1)
	manifest := filepath.Join(filepath.Dir(file), "..", "..", ".claude-plugin", "plugin.json")
	for name, text := range map[string]string{manifest: `{"name":"office","version":"2.0.0"}`, file: upgraded} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var seen map[string]any
	for deadline := time.Now().Add(time.Minute); ; { // plugins are not looked at each time
		if seen = w.run(args{"action": "inspect", "skill": id}); strings.Contains(fmt.Sprint(seen["warnings"]), "overlay-outdated") && strings.Contains(fmt.Sprint(seen["plugin"]), "2.0.0") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after the upgrade: %v", seen)
		}
	}
	want(t, seen, fmt.Sprint("versionRef=", done["versionRef"]), "plugin=map[pluginId:office pluginName:office version:2.0.0]")
	want(t, w.run(args{"action": "inspect", "skill": id, "version": "base"}), "content="+upgraded)
	want(t, w.update(args{"action": "archive", "skill": id, "expectedVersionRef": done["versionRef"]}), "status=applied")
	want(t, w.run(args{"action": "inspect", "skill": id}), "content="+upgraded)
}
