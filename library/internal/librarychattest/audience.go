package librarychattest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/tools"
)

// audiences checks that skills which an audience hides are unknown to its agents in every call.
func audiences(t *testing.T, open Open) {
	secret := func(name string) string {
		return "---\nname: " + name + "\ndescription: Secret things.\nmetadata: {category: secret}\n---\nSecret.\n"
	}
	for _, plain := range []bool{false, true} {
		p, _ := plugin(t, "secret-plugin", secret("secret-plugin"))
		files := fstest.MapFS{"secret-folder/SKILL.md": {Data: []byte(secret("secret-folder"))}, "web/SKILL.md": {Data: []byte("---\nname: web\ndescription: Look.\n---\nLook.\n")}}
		allowed := []string{"forms", "web"}
		key := 0
		w := newWorld(t, open, setup{plain: plain, edit: library.Allow, role: "maintainer", files: files, plugins: []library.Plugin{p}, tools: satchel.Tools{Profile: tools.KnowledgeOnly}, options: []satchel.Option{
			satchel.WithAudience(func(context.Context, core.SessionKey) satchel.Audience {
				key++
				return satchel.Audience{Key: fmt.Sprint(key), Allow: func(s core.Skill) bool {
					return slices.Contains(allowed, s.Name) || slices.Contains(allowed, s.Qualified)
				}}
			}),
		}})
		made := w.shared("forms", form)
		hidden := w.shared("secret-db", secret("secret-db"))
		own := w.private("secret-own", secret("secret-own"), "eve")
		if _, err := w.library.Edit(t.Context(), host, library.Edit{Action: "replace", Skill: "plugin:office:secret-plugin", Expected: packagedRef(t, w, "plugin:office:secret-plugin"), Target: "body", Content: "Secret overlay.\n"}); err != nil {
			t.Fatal(err)
		}
		w.refresh()
		w.chat.Say(core.User, "Go on.")
		refs := []string{"secret-db", hidden.ID, "secret-own", own.ID, "secret-plugin", "plugin:office:secret-plugin", "secret-folder", "user:secret-db"}
		for _, s := range w.chat.Runtime.Catalog().Snapshot().Skills() {
			if s.Name == "secret-folder" {
				refs = append(refs, s.ID)
			}
		}
		update := "updateSkill"
		if plain {
			update = "skill_update"
		}
		for _, ref := range refs {
			stranger := "no-such-skill"
			if i := strings.LastIndexAny(ref, ":/"); i >= 0 {
				stranger = ref[:i+1] + "no-such-skill"
			}
			for _, call := range []struct {
				tool string
				args args
			}{
				{"runSkill", args{"skill": "?"}}, {"runSkill", args{"action": "inspect", "skill": "?"}}, {"runSkill", args{"action": "inspect", "skill": "?", "version": "v1"}},
				{"skill_load", args{"skill": "?"}},
				{update, args{"action": "patch", "skill": "?", "expectedVersionRef": hidden.VersionRef, "patch": "-Secret.\n+Open.\n", "dryRun": true}},
				{update, args{"action": "replace", "skill": "?", "expectedVersionRef": "v1", "target": "body", "content": "x"}},
				{update, args{"action": "metadata", "skill": "?", "expectedVersionRef": "v9-000000000000", "description": "x"}},
				{update, args{"action": "copy", "skill": "?", "name": "stolen"}}, {update, args{"action": "archive", "skill": "?", "expectedVersionRef": "v1"}},
			} {
				if plain == (call.tool == "runSkill" || call.tool == "updateSkill") {
					continue
				}
				answer := func(ref string) string {
					call.args["skill"] = ref
					return strings.ReplaceAll(fmt.Sprint(w.call(call.tool, call.args)), ref, "?")
				}
				got, want := answer(ref), answer(stranger)
				if got != want || strings.Contains(strings.ToLower(got), "secret") {
					t.Errorf("%s %v is answered\n%s\n, and a skill that does not exist\n%s", call.tool, call.args, got, want)
				}
			}
		}
		if plain {
			continue
		}
		for _, arguments := range []string{`{"action":"list"}`, `{"action":"list","activeOnly":false}`, `{"action":"list","query":"secret things"}`, `{"action":"list","source":"plugin"}`, `{"skill":"secre"}`, `{"skill":"secret-d"}`} {
			if got := fmt.Sprint(w.run(arguments)); strings.Contains(strings.ReplaceAll(got, "secret-d\"", ""), "ecret") && !strings.Contains(arguments, `"secre`) || strings.Contains(got, "did you mean") {
				t.Errorf("%s is answered %s", arguments, got)
			}
		}
		if got := names(w.run(`{"action":"list","activeOnly":false}`)); got != "forms web" {
			t.Errorf("listed are %s", got)
		}
		// The name of a hidden skill is taken, but the error does not say by which skill.
		want(t, w.update(args{"action": "create", "name": "secret-db", "description": "x", "content": "x", "private": false}), "error=refused", `message=the name "secret-db" cannot be used: choose another one`)
		want(t, w.update(args{"action": "create", "name": "secret-own", "description": "x", "content": "x", "dryRun": true}), "error=refused", `message=the name "secret-own" cannot be used: choose another one`)
		want(t, w.update(args{"action": "create", "name": "forms", "description": "x", "content": "x", "private": false}), "error=refused", `message=the name "forms" is taken: choose another one, or change that skill`)
		// A name is not ambiguous if only one of its two skills is visible.
		w.private("forms", strings.Replace(form, "Fill in", "Secret", 1), "eve")
		want(t, w.run(args{"skill": "forms"}), "error=ambiguous")
		allowed = []string{"user:web", "web"}
		w.chat.Say(core.User, "Go on.")
		want(t, w.run(args{"skill": made.ID}), "error=unknown")
		want(t, w.run(args{"skill": "web"}), "status=loaded")
		allowed = append(allowed, "secret-plugin")
		w.chat.Say(core.User, "Go on.")
		want(t, w.run(args{"action": "inspect", "skill": "secret-plugin"}), "content="+strings.Replace(secret("secret-plugin"), "\nSecret.", "\nSecret overlay.", 1))
	}
}

// packagedRef returns the versionRef of a skill that a maintainer sees.
func packagedRef(t *testing.T, w *world, id string) string {
	t.Helper()
	s, err := w.library.Inspect(t.Context(), host, library.Ref{Skill: id})
	if err != nil {
		t.Fatal(err)
	}
	return s.VersionRef
}
