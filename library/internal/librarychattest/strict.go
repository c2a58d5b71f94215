package librarychattest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
)

// strict checks calls with a field that is unknown, misspelt, repeated or of another action. They
// change nothing and ask no approver.
func strict(t *testing.T, open Open) {
	for _, edit := range []library.EditMode{library.Ask, library.Allow} {
		w := newWorld(t, open, setup{edit: edit, role: "maintainer"})
		made := w.shared("forms", form)
		call := func(tool string, more args, says string) {
			t.Helper()
			arguments := args{"action": "patch", "skill": made.ID, "expectedVersionRef": made.VersionRef, "edits": []args{{"oldText": "Then save it.", "newText": "Save it."}}}
			if tool == "runSkill" {
				arguments = args{"action": "run", "skill": made.ID}
			}
			maps.Copy(arguments, more)
			got := w.call(tool, arguments)
			want(t, got, "error=invalid")
			if !strings.Contains(fmt.Sprint(got["message"]), says) {
				t.Errorf("%v: %v, want %q", more, got["message"], says)
			}
		}
		for _, name := range []string{"dryrun", "DryRun", "dry-run", "dry_Run", "DRYRUN"} {
			call("updateSkill", args{name: true}, fmt.Sprintf(`unknown field %q: did you mean "dryRun"?`, name))
		}
		for name, value := range (args{"preview": true, "dry": nil, "dryRun ": false, "expectedVersion": "x", "__arg1": "x"}) {
			call("updateSkill", args{name: value}, fmt.Sprintf("unknown field %q; the fields are skill, action, ", name))
		}
		call("updateSkill", args{"dryRun": true, "dry_run": false}, `fields "dryRun" and "dry_run" are the same`)
		call("updateSkill", args{"patch": "-Then save it.\n+Save it.\n"}, "patch and edits are both there: send one of them")
		call("updateSkill", args{"patchFormat": "unifiedDiff"}, "patchFormat is unifiedDiff, but the change is of the other format")
		for name, value := range (args{"content": "x", "description": "x", "name": "x", "status": "draft", "triggers": []string{"x"}, "private": false, "draft": true, "metadata": args{"x": 1}}) {
			call("updateSkill", args{name: value}, fmt.Sprintf("patch has no field %q; it has skill, expectedVersionRef, target, patchFormat, patch, edits", name))
		}
		for _, edits := range []args{
			{"preview": nil}, {"OldText": "x"}, {"new-text": "x"}, {"replaceall": true}, {"lines": 3},
		} {
			name := slices.Collect(maps.Keys(edits))[0]
			edits["oldText"], edits["newText"] = "Then save it.", "Save it."
			says := fmt.Sprintf("unknown field %q in edits, element 2; it has after, from, ", name)
			call("updateSkill", args{"edits": []args{{"oldText": "Use", "newText": "Take"}, edits}}, says)
		}
		call("updateSkill", args{"edits": []args{{"oldText": "Then save it.", "old": "Use", "newText": "x"}}}, "edit 1: oldText is there twice, in other words")
		call("updateSkill", args{"edits": `[{"oldText":"Use","oldText":"Then save it.","newText":"x"}]`}, `field "oldText" is there twice`)
		for name, value := range (args{"newText": 5, "oldText": true, "old_text": 2.5}) { // no number is text
			edit := args{"oldText": "Use", "newText": "Take"}
			if name == "old_text" {
				delete(edit, "oldText")
			}
			edit[name] = value
			call("updateSkill", args{"edits": []args{edit}}, fmt.Sprintf(`field "edits": element 1, %s: want text, found `, name))
			call("updateSkill", args{"edits": edit}, fmt.Sprintf(`field "edits": %s: want text, found `, name))
		}
		for _, other := range []args{{"action": "metadata", "description": 5}, {"action": "replace", "content": 5}, {"action": "patch", "patch": false}} {
			other["skill"], other["expectedVersionRef"] = made.ID, made.VersionRef
			want(t, w.update(other), "error=invalid")
		}
		for _, raw := range []string{
			`{"action":"patch","skill":%q,"expectedVersionRef":%q,"dryRun":true,"patch":"-Then save it.\n+Save it.\n","dryRun":false}`,
			`{"action":"patch","skill":%q,"expectedVersionRef":%q,"edits":[{"oldText":"Use","newText":"Take","oldText":"Then save it."}]}`,
		} {
			want(t, w.update(fmt.Sprintf(raw, made.ID, made.VersionRef)), "error=invalid")
		}
		for name, value := range (args{"Parameters": args{"x": 1}, "doc": "x", "skills": []string{"x"}}) {
			call("runSkill", args{name: value}, fmt.Sprintf("unknown field %q", name))
		}
		for name, value := range (args{"path": "SKILL.md", "version": "v1", "query": "x", "limit": 0, "cursor": "x", "view": "raw", "source": "db", "activeOnly": false}) {
			call("runSkill", args{name: value}, fmt.Sprintf("run has no field %q; it has skill, parameters, docs, part", name))
		}
		for _, raw := range []string{`{"action":"inspect","skill":"forms","parameters":{"x":1}}`, `{"action":"list","skill":"forms"}`, `{"skill":"forms","name":"forms"}`} {
			want(t, w.run(raw), "error=invalid")
		}
		seen := w.run(args{"action": "inspect", "skill": made.ID})
		if want(t, seen, "content="+form, "versionRef="+made.VersionRef); len(w.asked) > 0 {
			t.Errorf("asked %+v", w.asked)
		}
		if slices.ContainsFunc(w.events, func(e core.Event) bool { return e.Kind == core.LibraryChanged }) {
			t.Errorf("events are %+v", w.events)
		}
		// Models send empty values for fields that they leave out; such fields are ignored.
		blank := args{"content": "", "patch": "", "triggers": []string{}, "metadata": args{}, "draft": false, "description": nil, "private": nil, "dry_run": "true"}
		maps.Copy(blank, args{"action": "patch", "skillRef": made.ID, "expected_version_ref": made.VersionRef, "edits": []args{{"old_text": "Then save it.", "new_text": "Save it."}}})
		want(t, w.update(blank), "status=dry_run")
	}
}

// errorsAreJSON checks that every error of a call is a JSON answer of the vocabulary.
func errorsAreJSON(t *testing.T, open Open) {
	w := newWorld(t, open, setup{})
	w.shared("forms", form)
	codes := []string{"unknown", "ambiguous", "blocked", "refused", "conflict", "invalid", "no_match", "not_unique", "too_large", "unavailable", "denied"}
	for _, tool := range []string{"runSkill", "updateSkill"} {
		for _, arguments := range []string{
			`[1]`, `{"action":`, `{'action':'list'}`, `{"action":5}`, `{"action":"remove"}`, `{"action":["run","list"]}`, `"\ud800"`, `{"skill":{}}`, `{"action":"inspect"}`, `{"action":"run"}`,
			`{"action":"archive"}`, `{"action":"patch","dryRun":"perhaps"}`, `{"action":"patch","edits":"x"}`, `{"action":"patch","edits":[[]]}`, `{"action":"create","private":"x"}`,
			`{"action":"create","triggers":[{}]}`, `{"action":"list","limit":-1}`, `{"action":"list","cursor":7}`, `{"action":"list","source":"all"}`, `{"action":"inspect","skill":"forms","view":"x"}`,
			`{"action":"inspect","skill":"forms","part":1.5}`, `{"action":"run","skill":"forms","parameters":[1]}`, `{"skill":"` + strings.Repeat("x", 1<<20) + `"}`, strings.Repeat("x", 2<<20), `{"action":"run","skill":"fo rms` + "\u202e" + `"}`,
		} {
			got := w.call(tool, arguments)
			if code, _ := got["error"].(string); !slices.Contains(codes, code) || got["message"] == "" {
				t.Errorf("%s %.60s is answered %.200v", tool, arguments, got)
			}
		}
	}
	want(t, w.run(`{"action":"run"}`), "error=invalid", "message=skill is missing: name the skill to run")
	for _, arguments := range []string{`{}`, ``, `change the skill`, `{"skill":"forms"}`} {
		want(t, w.update(arguments), "error=invalid", `message="action" is missing: it is one of create, patch, replace, metadata, copy, archive; send an object such as {"action":"create"}`)
	}
	seen := w.run(`{"action":"inspect","skill":"forms"}`)
	want(t, w.update(args{"action": "patch", "skill": "forms", "expectedVersionRef": seen["versionRef"], "target": "nope", "patch": "-a\n+b\n"}),
		"error=invalid", `message=there is no file "nope"; files are SKILL.md`)
}

// described checks that inspect and list say what an actor may do, and show metadata unchanged.
func described(t *testing.T, open Open) {
	p, _ := plugin(t, "pdf", "---\nname: pdf\ndescription: Read PDF files.\n---\nRead.\n")
	w := newWorld(t, open, setup{plugins: []library.Plugin{p}, role: "viewer"})
	w.shared("forms", `---
name: forms
description: Forms.
metadata:
  triggers: [a, b]
  owner: {team: "x", since: 1.50}
  note: '["as written"]'
  level: 2
  parameters: [{name: region, required: true}]
---
Forms.
`)
	w.private("own", strings.Replace(form, "name: forms", "name: own", 1), "eve")
	for _, tt := range []struct {
		role library.Role
		want string
	}{{"viewer", ""}, {"author", "own"}, {"editor", "forms own"}, {"maintainer", "forms own pdf"}} {
		w.actor.Roles = []library.Role{tt.role}
		var editable []string
		for _, s := range w.run(`{"action":"list"}`)["skills"].([]any) {
			skill := s.(map[string]any)
			want(t, w.run(args{"action": "inspect", "skill": skill["canonicalId"]}), fmt.Sprint("editable=", skill["editable"]))
			if skill["editable"] == true {
				editable = append(editable, fmt.Sprint(skill["name"]))
			}
		}
		if got := strings.Join(editable, " "); got != tt.want {
			t.Errorf("%s may edit %q, want %q", tt.role, got, tt.want)
		}
	}
	want(t, w.run(`{"action":"inspect","skill":"forms"}`), `metadata=map[level:2 note:["as written"] owner:map[since:1.5 team:x] parameters:[map[name:region required:true]] triggers:[a b]]`)
	never := newWorld(t, open, setup{edit: library.Never, role: "maintainer"})
	never.shared("forms", form)
	want(t, never.run(`{"action":"inspect","skill":"forms"}`), "editable=false")
	for _, tool := range w.chat.Runtime.Tools() {
		if tool.Name == "runSkill" && !strings.Contains(string(tool.Schema), `"activeOnly":{"description":`) {
			t.Errorf("the schema is %s", tool.Schema)
		}
	}
}
