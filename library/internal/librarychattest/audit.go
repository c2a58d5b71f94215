package librarychattest

import (
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
)

// auditing checks that each edit has one entry, even if a person was asked about it. An edit that
// a person refuses has one entry too.
func auditing(t *testing.T, open Open) {
	w := newWorld(t, open, setup{})
	made := w.shared("forms", form)
	var seen int64
	rows := func() (rows []string) {
		t.Helper()
		entries, err := w.library.Log(t.Context(), host, library.LogQuery{After: seen})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			seen = e.N
			rows = append(rows, strings.Join([]string{e.Subject, string(e.Action), e.Outcome, e.Detail}, " "))
			if e.ID != made.ID && e.Action != "create" && e.Outcome != "invalid" && e.Outcome != "unknown" {
				t.Errorf("an entry is of %q", e.ID)
			}
		}
		return rows
	}
	want := func(what string, want ...string) {
		t.Helper()
		if got := rows(); !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%s: the audit has %q, want %q", what, got, want)
		}
	}
	rows()
	patch := func(old string) args {
		return args{"action": "patch", "skill": "forms", "expectedVersionRef": made.VersionRef, "reason": "why", "edits": []args{{"oldText": old, "newText": "Save it."}}}
	}
	w.answer = core.AnswerDeny
	w.update(patch("Then save it."))
	want("denied", "eve patch denied not approved; the edit says: why")
	w.update(args{"action": "create", "name": "new", "description": "New.", "content": "x"})
	want("denied", `eve create denied "new": not approved`)
	w.update(patch("Nothing."))
	want("not there", "eve patch no_match edit 1")
	dry := patch("Then save it.")
	dry["dryRun"] = true
	w.update(dry)
	want("a dry run", "eve patch dry_run")
	w.answer = core.AnswerAllow
	w.update(patch("Then save it."))
	want("allowed", "eve patch applied why")
	w.update(patch("Then save it."))
	want("again", "eve patch unchanged")
	w.update(patch("Use"))
	want("conflict", "eve patch conflict")
	w.update(args{"action": "patch", "skill": "forms", "dryrun": true})
	want("invalid arguments", `eve unreadable invalid cannot read the arguments: unknown field "dryrun"`)
	w.update(args{"action": "patch", "skill": "firms", "reason": "why", "edits": []args{{"oldText": "x", "newText": "y"}}})
	want("an unknown skill", `eve patch unknown unknown skill "firms"`)
	w.update(args{"action": "delete", "skill": "forms"})
	want("an unknown action", `eve unreadable invalid cannot read the arguments: field "action"`)
	w.update(args{"action": "patch", "skill": "forms", "edits": "no"})
	want("a field of another kind", `eve unreadable invalid cannot read the arguments: field "edits"`)
	w.update(args{"skill": "forms"})
	want("no action", `eve unreadable invalid "forms": `)
	w.update(args{"action": "create", "name": "other", "skill": "forms", "description": "x", "content": "x"})
	want("a field of another action", `eve create invalid `)
	// Refused calls of hosts have entries too.
	for what, act := range map[string]func() error{
		"review refused": func() error {
			_, err := w.library.Review(t.Context(), w.actor, library.Ref{Skill: "forms"})
			return err
		},
		"restore refused": func() error {
			_, err := w.library.Restore(t.Context(), w.actor, library.Ref{Skill: "forms", Version: "v1"}, "")
			return err
		},
		"rebase refused": func() error {
			_, err := w.library.Rebase(t.Context(), w.actor, library.Ref{Skill: "forms"})
			return err
		},
	} {
		if err := act(); err == nil {
			t.Errorf("%s: an editor may", what)
		}
		want(what, "eve "+what+" ")
	}
	var waiting []string
	add := func() {
		waiting = nil
		for p, err := range w.library.Pending(t.Context(), host) {
			if err != nil {
				t.Fatal(err)
			}
			waiting = append(waiting, p.Name+" "+p.From+" "+p.Revision.Subject)
		}
	}
	if add(); len(waiting) > 0 {
		t.Errorf("what a person has approved waits: %q", waiting)
	}
	if _, err := w.library.Edit(t.Context(), w.actor, library.Edit{Action: "create", Name: "notes", Description: new("Notes."), Content: "Notes.", Model: true}); err != nil {
		t.Fatal(err)
	}
	if add(); !slices.Equal(waiting, []string{"notes  eve"}) {
		t.Errorf("waiting are %q", waiting)
	}
	for _, err := range w.library.Pending(t.Context(), w.actor) {
		if err == nil || !strings.Contains(err.Error(), "needs the role maintainer") {
			t.Errorf("an editor gets %v", err)
		}
	}
}
