package librarychattest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/permission"
)

func edits(t *testing.T, open Open) {
	w := newWorld(t, open, setup{})
	made := w.shared("forms", form)
	patch := args{"action": "patch", "skill": made.ID, "expectedVersionRef": made.VersionRef, "patch": "@@ -9,9 +9,1 @@\n-Use the form tool.\n+Use a form tool.\n Then save it.\n", "reason": "said so"}
	dry := args{"dryRun": true}
	for k, v := range patch {
		dry[k] = v
	}
	tried := w.update(dry)
	want(t, tried, "status=dry_run", "added=1", "removed=1")
	if len(w.asked) != 0 {
		t.Error("a dry run was asked about")
	}
	done := w.update(patch)
	want(t, done, "status=applied", "diff="+tried["diff"].(string), "versionRef="+tried["versionRef"].(string), "previousVersionRef="+made.VersionRef,
		"warnings=[conversations that have loaded it keep the text that they have; run it again for the new one]")
	if len(w.asked) != 1 || !strings.Contains(w.asked[0].Detail, "- Use the form tool.\n") || w.asked[0].Bound == "" {
		t.Errorf("asked %+v", w.asked)
	}
	if len(w.events) != 1 || w.events[0].Kind != core.LibraryChanged || w.events[0].Skill != "forms" ||
		w.events[0].Detail != fmt.Sprintf("patch of %s from %s to %s by %q", made.ID, made.VersionRef, done["versionRef"], "eve") {
		t.Errorf("events are %+v", w.events)
	}
	want(t, w.update(patch), "status=unchanged")
	patch["patch"] = "-Then save it.\n+Save it.\n"
	conflict := w.update(patch)
	want(t, conflict, "error=conflict")
	if last := w.events[len(w.events)-1]; len(w.events) != 2 || last.Kind != core.LibraryRefused || !strings.HasPrefix(last.Detail, `patch by "eve": conflict: the skill is at v2-`) {
		t.Errorf("events are %+v", w.events)
	}
	if !strings.Contains(fmt.Sprint(conflict["changedSince"]), "+ Use a form tool.") {
		t.Errorf("conflict is %v", conflict)
	}
	delete(patch, "expectedVersionRef")
	want(t, w.update(patch), "error=invalid", "message=expectedVersionRef is missing: inspect the skill and send the versionRef that you saw")
	want(t, w.update(args{"action": "create", "name": "notes", "description": "Take notes.", "content": "# Notes\n\n- {{x}}\n"}), "status=applied", "name=notes")
	want(t, w.run("notes"), "status=loaded")
	want(t, w.update(args{"action": "create", "name": "notes", "description": "Again.", "content": "x"}), "error=refused")
	if s, err := w.library.Serve(t.Context(), w.actor, library.Ref{Skill: made.ID}); err != nil || !s.Reviewed {
		t.Errorf("an edit that a person has seen whole is %+v, %v", s, err)
	}
}

func asking(t *testing.T, open Open) {
	w := newWorld(t, open, setup{})
	made := w.shared("forms", form)
	patch := args{"action": "patch", "skill": made.ID, "expectedVersionRef": made.VersionRef, "patch": "-Then save it.\n+Save it.\n"}
	w.answer = core.AnswerDeny
	if got := w.update(patch); got["error"] != "denied" || !strings.HasPrefix(fmt.Sprint(got["message"]), "denied: this call of updateSkill was not approved") {
		t.Errorf("a refusal is %v", got)
	}
	w.answer = core.AnswerAllow
	w.before = func() {
		w.before = nil
		if _, err := w.library.Edit(t.Context(), host, library.Edit{Action: "replace", Skill: made.ID, Expected: made.VersionRef, Target: "body", Content: "Other.\n"}); err != nil {
			t.Error(err)
		}
	}
	want(t, w.update(patch), "error=conflict")
	if s, err := w.library.Inspect(t.Context(), host, library.Ref{Skill: made.ID}); err != nil || s.Version != 2 {
		t.Errorf("head is %+v, %v", s, err)
	}
	alone := newWorld(t, open, setup{nobody: true})
	made = alone.shared("forms", form)
	patch["skill"], patch["expectedVersionRef"] = made.ID, made.VersionRef
	want(t, alone.update(patch), "error=denied", "message=denied: skills are edited only with approval, and nobody can be asked; dryRun shows the change")
	never := newWorld(t, open, setup{edit: library.Never})
	for _, tool := range never.chat.Runtime.Tools() {
		if tool.Name == "updateSkill" {
			t.Error("updateSkill is offered with Never")
		}
	}
}

func listsOfTools(t *testing.T, open Open) {
	for _, policy := range []permission.Policy{permission.Restrict, permission.RestrictAll} {
		for _, mode := range []library.EditMode{library.Allow, library.Ask} {
			w := newWorld(t, open, setup{edit: mode, options: []satchel.Option{satchel.WithPermissions(satchel.Permissions{Policy: policy})}})
			made := w.shared("forms", form)
			w.shared("reader", "---\nname: reader\ndescription: Reads.\nallowed-tools: Read\n---\nRead.\n")
			loaded := w.run("reader")
			want(t, loaded, "status=loaded")
			if strings.Contains(fmt.Sprint(loaded), "not available") {
				t.Errorf("%v: the load says %v", policy, loaded)
			}
			w.answer = core.AnswerAllow
			want(t, w.update(args{"action": "patch", "skill": made.ID, "expectedVersionRef": made.VersionRef, "patch": "-Then save it.\n+Save it.\n"}), "status=applied")
			if asked := len(w.asked); asked != map[library.EditMode]int{library.Ask: 1}[mode] {
				t.Errorf("%v: %d questions", policy, asked)
			}
			want(t, w.run("forms"), "status=loaded")
		}
	}
}

// matching checks that inexact edits apply with a warning, or fail with the reason.
func matching(t *testing.T, open Open) {
	w := newWorld(t, open, setup{edit: library.Allow, role: "maintainer"})
	body := "# Forms\n\nUse “the” form tool.\n\tOpen it.\n\tThen save it.\nUse it.\nUse it.\nUse it.\n"
	made := w.shared("forms", "---\nname: forms\ndescription: Fill in forms.\n---\n"+body)
	ref := made.VersionRef
	edit := func(changes args) map[string]any {
		t.Helper()
		changes["action"], changes["skill"], changes["expectedVersionRef"] = "patch", made.ID, ref
		got := w.update(changes)
		if got["status"] == "applied" {
			ref = got["versionRef"].(string)
		}
		return got
	}
	use := []args{{"oldText": "Use it.", "newText": "Take it."}}
	want(t, edit(args{"edits": use}), "error=not_unique", "message=edit 1: oldText is there 3 times, at lines 10, 11 and 12: add lines around it, or set replaceAll")
	use[0]["replaceAll"] = true
	want(t, edit(args{"edits": use}), "status=applied", "added=3", "removed=3")
	for _, tt := range []struct{ patch, says string }{
		{"-# Forms   \n+# All forms\n", "after ignoring white space at line ends"},
		{"-Use \"the\" form tool.\n+Use “a” form tool.\n", "after folding punctuation"},
		{"-    Open it.\n+    Open it first.\n     Then save it.\n", "at another indentation"},
	} {
		got := edit(args{"patch": tt.patch})
		want(t, got, "status=applied")
		if !strings.Contains(fmt.Sprint(got["warnings"]), tt.says) {
			t.Errorf("%q: %v", tt.patch, got)
		}
	}
	got := edit(args{"patch": "-\tThen keep it.\n+\tThen close it.\n Take it.\n"})
	want(t, got, "error=no_match")
	if !strings.Contains(fmt.Sprint(got["message"]), "hunk 1 does not match. Nearest are lines ") || !strings.Contains(fmt.Sprint(got["message"]), "and the hunk has") {
		t.Errorf("no match is %v", got)
	}
	before := ref
	want(t, edit(args{"patch": "@@ -5 @@\n-# All forms\n+# Forms\n@@ -9 @@\n-Nothing like it.\n+X.\n"}), "error=no_match", "message=hunk 2 does not match: none of its lines is in the text")
	want(t, edit(args{"edits": []args{{"from": 5, "to": 7, "newText": "x"}, {"from": 7, "to": 8, "newText": "y"}}}), "error=invalid", "message=edits 1 and 2 overlap at lines 7 to 7")
	if s, err := w.library.Inspect(t.Context(), host, library.Ref{Skill: made.ID}); err != nil || s.VersionRef != before {
		t.Errorf("a failed patch has made %+v, %v", s, err)
	}
	for _, tt := range []struct {
		edit    args
		changes string
	}{ // white space is a text too, and numbers may come as texts
		{args{"from": 7, "newText": "\n"}, "added=1 removed=1"}, {args{"oldText": "\n\n", "newText": "\n"}, "added=0 removed=1"}, {args{"after": "6", "newText": "\n"}, "added=1 removed=0"},
	} {
		want(t, edit(args{"edits": []args{tt.edit}}), append([]string{"status=applied"}, strings.Fields(tt.changes)...)...)
	}
	crlf := w.shared("crlf", "---\r\nname: crlf\r\ndescription: Lines.\r\n---\r\nOne.\r\nTwo.")
	want(t, w.update(args{"action": "patch", "skill": crlf.ID, "expectedVersionRef": crlf.VersionRef, "patch": "-One.\n+First.\n Two.\n"}), "status=applied")
	want(t, w.run(`{"action":"inspect","skill":"crlf"}`), "content=---\r\nname: crlf\r\ndescription: Lines.\r\n---\r\nFirst.\r\nTwo.")
}

// refusals checks the changes that no model may make, whatever the actor's role.
func refusals(t *testing.T, open Open) {
	w := newWorld(t, open, setup{edit: library.Allow, role: "maintainer"})
	made := w.shared("forms", form)
	for what, patch := range map[string]string{
		"allowed-tools":    "-description: Fill in PDF forms.\n+description: Fill in PDF forms.\n+allowed-tools: Bash\n",
		"metadata.secrets": "-description: Fill in PDF forms.\n+description: Fill in PDF forms.\n+metadata:\n+  secrets: TOKEN\n",
	} {
		want(t, w.update(args{"action": "patch", "skill": made.ID, "expectedVersionRef": made.VersionRef, "patch": patch}),
			"error=refused", "message=an edit may not change "+what+"; ask a person to do it")
	}
	early := w.update(args{"action": "patch", "skill": made.ID, "expectedVersionRef": made.VersionRef, "patch": "-# how it is found\n+---\n"})
	want(t, early, "error=refused")
	if last := w.events[len(w.events)-1]; last.Kind != core.LibraryRefused {
		t.Errorf("events are %+v", w.events)
	}
}

// replacing checks the warning to use a patch if a "replace" keeps most lines.
func replacing(t *testing.T, open Open) {
	w := newWorld(t, open, setup{edit: library.Allow})
	made := w.shared("forms", form)
	body := form[strings.LastIndex(form, "---\n")+len("---\n"):]
	for _, test := range []struct {
		target, content string
		warned          bool
	}{
		{"docs/new.md", "A new doc.\n", false},
		{"body", "Quite another text.\n", false},
		{"body", body + "One more line.\n", true},
		{"SKILL.md", form + "One more line.\n", true},
	} {
		got := w.update(args{"action": "replace", "skill": made.ID, "expectedVersionRef": made.VersionRef, "target": test.target, "content": test.content, "dryRun": true})
		want(t, got, "status=dry_run")
		if warned := strings.Contains(fmt.Sprint(got["warnings"]), "use patch"); warned != test.warned {
			t.Errorf("%s %q: warnings are %v", test.target, test.content, got["warnings"])
		}
	}
}

// metadata checks that a "metadata" edit changes only the lines of its keys.
func metadata(t *testing.T, open Open) {
	w := newWorld(t, open, setup{})
	made := w.shared("forms", form)
	want(t, w.update(args{"action": "metadata", "skill": made.ID, "expectedVersionRef": made.VersionRef, "description": "Fill in forms of any kind."}), "status=applied", "added=1", "removed=1")
	described := strings.Replace(form, "Fill in PDF forms.", "Fill in forms of any kind.", 1)
	want(t, w.run(`{"action":"inspect","skill":"forms"}`), "content="+described)
	for _, values := range []args{{"level": "", "of": "people"}, {"level": nil, "of": nil}} { // null removes a key
		seen := w.run(args{"action": "inspect", "skill": "forms"})
		want(t, w.update(args{"action": "metadata", "skill": made.ID, "expectedVersionRef": seen["versionRef"], "metadata": values}), "status=applied")
	}
	want(t, w.run(`{"action":"inspect","skill":"forms"}`), "content="+strings.Replace(described, "any kind.\n", "any kind.\nmetadata: {}\n", 1))
}

// writersOnOneBase checks that of sixteen agents that edit one version exactly one succeeds.
func writersOnOneBase(t *testing.T, open Open) {
	w := newWorld(t, open, setup{edit: library.Allow})
	made := w.shared("forms", form)
	w.other = library.Actor{Subject: "bob", Roles: []library.Role{"maintainer"}}
	answers := make([]string, 16)
	var all sync.WaitGroup
	for n := range answers {
		all.Go(func() {
			call := core.ToolCall{ID: "id", Name: "updateSkill", Arguments: fmt.Sprintf(`{"action":"replace","skill":%q,"expectedVersionRef":%q,"target":"body","content":"Text %d.\n"}`, made.ID, made.VersionRef, n)}
			answer, err := w.chat.Runtime.CallTool(t.Context(), core.SessionKey{Session: fmt.Sprint("writer ", n)}, call)
			if answers[n] = answer; err != nil {
				answers[n] = err.Error()
			}
		})
	}
	all.Wait()
	applied, conflicts := 0, 0
	for _, answer := range answers {
		switch {
		case strings.Contains(answer, `"status":"applied"`):
			applied++
		case strings.Contains(answer, `"error":"conflict"`):
			conflicts++
		}
	}
	if applied != 1 || conflicts != 15 {
		t.Errorf("%d applied and %d conflicts: %q", applied, conflicts, answers)
	}
	var versions []int
	for r, err := range w.library.History(t.Context(), host, library.Ref{Skill: made.ID}) {
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, r.Version)
	}
	if fmt.Sprint(versions) != "[2 1]" {
		t.Errorf("versions are %v", versions)
	}
}
