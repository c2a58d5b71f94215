package library_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/catalogtest"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
)

func open(t *testing.T, opts ...library.Option) *library.Library {
	t.Helper()
	l, err := library.New(library.NewMemory(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var (
	ann  = library.Actor{Tenant: "t", Subject: "ann", Roles: []library.Role{"author"}}
	eve  = library.Actor{Tenant: "t", Subject: "eve", Roles: []library.Role{"editor"}}
	mia  = library.Actor{Tenant: "t", Subject: "mia", Roles: []library.Role{"maintainer"}}
	vic  = library.Actor{Tenant: "t", Subject: "vic"}
	away = library.Actor{Tenant: "other", Subject: "ann", Roles: []library.Role{"maintainer"}}
)

const text = `---
name: pdf
# how it is found
description: Fill in PDF forms.   # short
license: MIT
metadata:
  category: office
  x-own: {a: [1, 2]}
---

# PDF

Use the form tool.
Then save it.
`

func private(b bool) *bool    { return &b }
func textOf(s string) *string { return &s }
func number(n int) *int       { return &n }
func from(old, with string) []library.TextEdit {
	return []library.TextEdit{{OldText: &old, NewText: with}}
}

// shared imports a skill as a person.
func shared(t *testing.T, l *library.Library, name, text string) library.Outcome {
	t.Helper()
	out, err := l.Import(t.Context(), mia, name, map[string][]byte{"SKILL.md": []byte(text), "references/a.md": []byte("a\n"), "scripts/run.sh": []byte("echo\n")}, false, "")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, l *library.Library, a library.Actor, ref library.Ref, path string) string {
	t.Helper()
	s, err := l.Inspect(t.Context(), a, ref)
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// refusal edits and returns "code: message" of what is refused.
func refusal(t *testing.T, l *library.Library, a library.Actor, e library.Edit) string {
	t.Helper()
	out, err := l.Edit(t.Context(), a, e)
	var own *library.Error
	if !errors.As(err, &own) {
		t.Fatalf("edit gives %+v, %v, want a refusal", out, err)
	}
	return library.CodeOf(own) + ": " + own.Message
}

func edit(t *testing.T, l *library.Library, a library.Actor, e library.Edit) library.Outcome {
	t.Helper()
	out, err := l.Edit(t.Context(), a, e)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestKeepsAsManyVersionsAsWanted(t *testing.T) {
	now := time.Unix(1_000, 0).UTC()
	l := open(t, library.WithKeep(2), library.WithClock(func() time.Time { return now }))
	at := shared(t, l, "pdf", text).VersionRef
	for _, with := range []string{"a form", "that form", "this form"} {
		now = now.Add(time.Hour)
		body := read(t, l, eve, library.Ref{Skill: "pdf"}, "SKILL.md")
		at = edit(t, l, eve, library.Edit{Action: "replace", Skill: "pdf", Expected: at, Content: body + with + "\n"}).VersionRef
	}
	var kept []string
	for r, err := range l.History(t.Context(), eve, library.Ref{Skill: "pdf"}) {
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, fmt.Sprint(r.Version, " ", r.At.Unix()))
	}
	if got := strings.Join(kept, "; "); got != "4 11800; 3 8200" {
		t.Errorf("kept are %s", got)
	}
	if _, err := library.New(library.NewMemory(), library.WithKeep(-1)); !errors.Is(err, library.ErrInvalid) {
		t.Errorf("less than none: %v", err)
	}
}

func TestEditMakesVersions(t *testing.T) {
	l := open(t)
	v1 := shared(t, l, "pdf", text)
	if !strings.HasPrefix(v1.VersionRef, "v1-") || !strings.HasPrefix(v1.ID, "db:") || len(v1.ID) != 3+26 {
		t.Fatalf("import gives %+v", v1)
	}
	e := library.Edit{Action: "patch", Skill: v1.ID, Expected: v1.VersionRef, Edits: from("the form", "a form"), Reason: "said so", Model: true}
	dry := e
	dry.DryRun = true
	tried := edit(t, l, eve, dry)
	done := edit(t, l, eve, e)
	if tried.Status != "dry_run" || done.Status != "applied" || tried.VersionRef != done.VersionRef || tried.Diff != done.Diff || !strings.HasPrefix(done.VersionRef, "v2-") {
		t.Errorf("dry run %+v\nthen %+v", tried, done)
	}
	if want := "   13      - Use the form tool.\n        13 + Use a form tool.\n"; !strings.Contains(done.Diff.Numbered, want) {
		t.Errorf("numbered diff is\n%s", done.Diff.Numbered)
	}
	if got := read(t, l, eve, library.Ref{Skill: "pdf"}, "SKILL.md"); got != strings.Replace(text, "the form", "a form", 1) {
		t.Errorf("text is %q", got)
	}
	if got := read(t, l, eve, library.Ref{Skill: "pdf", Version: "v1"}, "SKILL.md"); got != text {
		t.Errorf("version 1 is %q", got)
	}
	if again := edit(t, l, eve, e); again.Status != "unchanged" || again.VersionRef != done.VersionRef {
		t.Errorf("a retry gives %+v", again)
	}
	e.Edits = from("save it", "keep it")
	_, err := l.Edit(t.Context(), eve, e)
	var conflict *library.Error
	want := fmt.Sprintf(`the skill is at %s, not %s: it was changed by eve ("said so"). Inspect it and make the change anew.`, done.VersionRef, v1.VersionRef)
	if !errors.As(err, &conflict) || !errors.Is(err, library.ErrConflict) || conflict.Message != want || !strings.Contains(conflict.ChangedSince, "+ Use a form tool.") {
		t.Errorf("a stale edit gives %v, want %s", err, want)
	}
	var seen []string
	for r, err := range l.History(t.Context(), eve, library.Ref{Skill: "pdf"}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, fmt.Sprint(r.Version, r.Subject, r.Reason, r.ReviewedBy))
	}
	if got := strings.Join(seen, "; "); got != "2evesaid so; 1miamia" {
		t.Errorf("history is %s", got)
	}
	entries, err := l.Log(t.Context(), mia, library.LogQuery{ID: v1.ID})
	var outcomes []string
	for _, e := range entries {
		outcomes = append(outcomes, e.Outcome)
	}
	if got := strings.Join(outcomes, " "); err != nil || got != "applied dry_run applied unchanged conflict" {
		t.Errorf("audit is %s, %v", got, err)
	}
}

func TestRefusals(t *testing.T) {
	l := open(t)
	v1 := shared(t, l, "pdf", text)
	mine := edit(t, l, ann, library.Edit{Action: "create", Name: "notes", Description: textOf("Notes."), Content: "# Notes\n", Model: true})
	patch := func(to string) library.Edit {
		return library.Edit{Action: "patch", Skill: v1.ID, Expected: v1.VersionRef, Patch: to, Model: true}
	}
	for _, tt := range []struct {
		name  string
		actor library.Actor
		edit  library.Edit
		want  string
	}{
		{"no version", eve, library.Edit{Action: "patch", Skill: "pdf", Edits: from("a", "b")}, "invalid: expectedVersionRef is missing: inspect the skill and send the versionRef that you saw"},
		{"viewer", vic, patch("-a\n"), `refused: editing shared skills needs the role editor; copy it with action "copy" and edit the copy`},
		{"author", ann, patch("-a\n"), `refused: editing shared skills needs the role editor; copy it with action "copy" and edit the copy`},
		{"another tenant", away, patch("-a\n"), `unknown: unknown skill "` + v1.ID + `"`},
		{"another owner", eve, library.Edit{Action: "patch", Skill: mine.ID, Expected: "v1", Patch: "-a\n"}, `unknown: unknown skill "` + mine.ID + `"`},
		{"viewer creates", vic, library.Edit{Action: "create", Name: "x"}, "refused: creating skills needs the role author"},
		{"author shares", ann, library.Edit{Action: "create", Name: "x", Description: textOf("X."), Private: private(false)}, `refused: sharing skills needs the role maintainer; leave "private" out`},
		{"editor archives", eve, library.Edit{Action: "archive", Skill: v1.ID, Expected: v1.VersionRef}, "refused: archiving shared skills needs the role maintainer"},
		{"taken", ann, library.Edit{Action: "create", Name: "notes", Description: textOf("X."), Content: "x"}, `refused: the name "notes" is taken: choose another one, or change that skill`},
		{"bad name", ann, library.Edit{Action: "create", Name: "No Name", Description: textOf("X."), Content: "x"}, `invalid: name "No Name" is not lowercase`},
		{"unknown action", ann, library.Edit{Action: "rename"}, `invalid: action is one of create, patch, replace, metadata, copy and archive, not "rename"`},
		{"allowed-tools", mia, patch("@@\n license: MIT\n+allowed-tools: Bash\n"), "refused: an edit may not change allowed-tools; ask a person to do it"},
		{"secrets", mia, patch("@@\n   category: office\n+  secrets: TOKEN\n"), "refused: an edit may not change metadata.secrets; ask a person to do it"},
		{"hidden", mia, patch("@@\n license: MIT\n+disable-model-invocation: true\n"), "refused: an edit may not change disable-model-invocation; ask a person to do it"},
		{"license", mia, patch("@@\n-license: MIT\n+license: BSD\n"), "refused: an edit may not change license; ask a person to do it"},
		{"license after a carriage return", mia, patch("@@\n-  x-own: {a: [1, 2]}\n+  x-own: 1\rlicense: BSD\n"), "refused: an edit may not change license; ask a person to do it"},
		{"field after a line end of YAML", mia, patch("@@\n-  x-own: {a: [1, 2]}\n+  x-own: 1\u0085context: fork\n"), "refused: an edit may not change context; ask a person to do it"},
		{"field in a key", mia, library.Edit{Action: "metadata", Skill: v1.ID, Expected: v1.VersionRef, Metadata: map[string]any{"a\u2028context": "fork"}, Model: true},
			"invalid: \"a\\u2028context\" cannot be a key of metadata"},
		{"early end", mia, patch("@@\n license: MIT\n+---\n"), "refused: an edit may not end the front matter early; send the whole front matter"},
		{"name", mia, patch("@@\n-name: pdf\n+name: pdf-2\n"), `refused: rename with action "copy"`},
		{"no YAML", mia, patch("@@\n license: MIT\n+x: [\n"), "refused: the front matter of the result cannot be read as YAML"},
		{"no description", mia, patch("@@\n-description: Fill in PDF forms.   # short\n"), "refused: the result would be no usable skill: "},
		{"script", mia, library.Edit{Action: "replace", Skill: v1.ID, Expected: v1.VersionRef, Target: "scripts/run.sh", Content: "rm\n", Model: true}, "refused: an edit may not change scripts/run.sh; ask a person to do it"},
		{"leaves", mia, library.Edit{Action: "replace", Skill: v1.ID, Expected: v1.VersionRef, Target: "../x.md", Content: "x\n", Model: true}, `invalid: "../x.md" is no path within the skill`},
		{"deep", mia, library.Edit{Action: "replace", Skill: v1.ID, Expected: v1.VersionRef, Target: strings.Repeat("a/", 33) + "x.md", Content: "x\n", Model: true}, `invalid: "a/a/`},
		{"no such file", mia, library.Edit{Action: "patch", Skill: v1.ID, Expected: v1.VersionRef, Target: "b.md", Patch: "-x\n"}, `invalid: there is no file "b.md"; files are SKILL.md, references/a.md, scripts/run.sh`},
		{"too large", mia, library.Edit{Action: "replace", Skill: v1.ID, Expected: v1.VersionRef, Target: "body", Content: strings.Repeat("x", 512<<10)}, "too_large: the text would have 524"},
		{"too large by places", mia, library.Edit{Action: "patch", Skill: v1.ID, Expected: v1.VersionRef, DryRun: true,
			Edits: []library.TextEdit{{OldText: textOf("e"), NewText: strings.Repeat("x", 100<<10), ReplaceAll: true}}}, "too_large: the text would have more than the 524288 bytes that it may have"},
		{"both", mia, library.Edit{Action: "patch", Skill: v1.ID, Expected: v1.VersionRef, Edits: []library.TextEdit{{OldText: textOf("x"), From: number(1)}}}, "invalid: edit 1 has none or several of oldText, from and after"},
		{"no version like it", mia, library.Edit{Action: "patch", Skill: v1.ID, Expected: "v9-000000000000", Patch: "-x\n"}, `invalid: there is no version "v9-000000000000" of ` + v1.ID},
		{"second hunk", mia, patch("@@\n-Then save it.\n+Save.\n@@\n-nothing\n+x\n"), "no_match: hunk 2 does not match: none of its lines is in the text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := refusal(t, l, tt.actor, tt.edit); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if got := read(t, l, mia, library.Ref{Skill: v1.ID}, "SKILL.md"); got != text {
		t.Errorf("refused edits have changed the text: %q", got)
	}
}

func TestMetadataTouchesItsLines(t *testing.T) {
	l := open(t)
	v1 := shared(t, l, "pdf", text)
	out := edit(t, l, eve, library.Edit{Action: "metadata", Skill: v1.ID, Expected: v1.VersionRef, Description: textOf("Fill in: PDF “forms”."), Model: true})
	want := strings.Replace(text, "description: Fill in PDF forms.   # short", `description: "Fill in: PDF “forms”."`, 1)
	if got := read(t, l, eve, library.Ref{Skill: v1.ID}, "SKILL.md"); got != want || out.Diff.Added != 1 || out.Diff.Removed != 1 {
		t.Errorf("text is %s, %+v", got, out)
	}
	out = edit(t, l, eve, library.Edit{Action: "metadata", Skill: v1.ID, Expected: out.VersionRef, Triggers: []string{"pdf", "form"}, Metadata: map[string]any{"category": nil}, Model: true})
	want = strings.Replace(want, "  category: office\n  x-own: {a: [1, 2]}\n", "  x-own: {a: [1, 2]}\n  triggers: [\"pdf\",\"form\"]\n", 1)
	if got := read(t, l, eve, library.Ref{Skill: v1.ID}, "SKILL.md"); got != want {
		t.Errorf("text is %s, want %s", got, want)
	}
	if got := refusal(t, l, eve, library.Edit{Action: "metadata", Skill: v1.ID, Expected: out.VersionRef, Metadata: map[string]any{"secrets": "TOKEN"}, Model: true}); got != "refused: an edit may not change metadata.secrets; ask a person to do it" {
		t.Error(got)
	}
}

// TestManyValues: an edit of as many values as front matter has room for takes one pass,
// and one of more is refused before any is written.
func TestManyValues(t *testing.T) {
	l := open(t)
	v1 := shared(t, l, "pdf", text)
	values := map[string]any{"category": nil}
	for n := range 4000 {
		values[fmt.Sprintf("k%04d", n)] = 1
	}
	try := func() (library.Outcome, error, uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := l.Edit(t.Context(), eve, library.Edit{Action: "metadata", Skill: v1.ID, Expected: v1.VersionRef, Metadata: values, DryRun: true})
		runtime.ReadMemStats(&after)
		return out, err, after.TotalAlloc - before.TotalAlloc
	}
	out, err, n := try()
	if err != nil || out.Diff.Added != 4000 || out.Diff.Removed != 1 || n > 100<<20 {
		t.Errorf("+%d -%d, %v, %d MiB were allocated", out.Diff.Added, out.Diff.Removed, err, n>>20)
	}
	for n := range 8000 {
		values[fmt.Sprintf("key-%04d", n)] = 1
	}
	if _, err, n := try(); !errors.Is(err, library.ErrTooLarge) || n > 16<<20 {
		t.Errorf("%v, %d MiB were allocated", err, n>>20)
	}
}

func TestWritersOnOneBase(t *testing.T) {
	l := open(t)
	v1 := shared(t, l, "pdf", text)
	var wg sync.WaitGroup
	results := make([]error, 16)
	for n := range results {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, results[n] = l.Edit(context.WithoutCancel(t.Context()), eve, library.Edit{Action: "patch", Skill: v1.ID, Expected: v1.VersionRef, Edits: from("the form", fmt.Sprint("form ", n)), Model: true})
		}()
	}
	wg.Wait()
	won, lost := 0, 0
	for _, err := range results {
		switch {
		case err == nil:
			won++
		case errors.Is(err, library.ErrConflict):
			lost++
		default:
			t.Error(err)
		}
	}
	if won != 1 || lost != 15 {
		t.Errorf("%d applied and %d in conflict, want 1 and 15", won, lost)
	}
}

// plugin installs a plugin with one skill and returns its directory.
func plugin(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, ".claude-plugin/plugin.json", `{"name":"office","version":"1.2.0"}`)
	write(t, dir, "skills/pdf/SKILL.md", text)
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOverlay(t *testing.T) {
	dir := plugin(t, text)
	p, err := library.OpenPlugin(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	store := library.NewMemory()
	reopen := func() *library.Library { // each new library reads the plugin again
		l, err := library.New(store, library.WithPlugins(p))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := reopen()
	const id = "plugin:office:pdf"
	s, err := l.Inspect(t.Context(), vic, library.Ref{Skill: "pdf"})
	if err != nil || s.ID != id || !strings.HasPrefix(s.VersionRef, "p-") || s.Plugin.Version != "1.2.0" || !s.Reviewed {
		t.Fatalf("packaged skill is %+v, %v", s, err)
	}
	e := library.Edit{Action: "patch", Skill: id, Expected: s.VersionRef, Edits: from("the form", "a form"), Model: true}
	if got := refusal(t, l, eve, e); got != `refused: editing plugin skills needs the role maintainer; copy it with action "copy" and edit the copy` {
		t.Error(got)
	}
	older := e
	older.Expected = "p-000000000000"
	if got, want := refusal(t, l, mia, older), "conflict: the skill is at "+s.VersionRef+", not p-000000000000: it was changed. Inspect it and make the change anew."; got != want {
		t.Errorf("an edit of what was packaged before an upgrade: %s", got)
	}
	v1 := edit(t, l, mia, e)
	edited := strings.Replace(text, "the form", "a form", 1)
	if got := read(t, l, vic, library.Ref{Skill: id}, "SKILL.md"); got != edited || !strings.HasPrefix(v1.VersionRef, "v1-") {
		t.Errorf("overlay is %s %q", v1.VersionRef, got)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "skills/pdf/SKILL.md")); err != nil || string(got) != text {
		t.Errorf("what is installed has changed: %q, %v", got, err)
	}
	upgraded := strings.Replace(text, "Then save it.", "Then save it twice.", 1)
	write(t, dir, "skills/pdf/SKILL.md", upgraded)
	l = reopen()
	s, err = l.Inspect(t.Context(), vic, library.Ref{Skill: id})
	if err != nil || !s.Outdated || len(s.Warnings) != 1 || !strings.HasPrefix(s.Warnings[0], "overlay-outdated") {
		t.Errorf("after an upgrade: %+v, %v", s, err)
	}
	if got := read(t, l, vic, library.Ref{Skill: id, Version: "base"}, "SKILL.md"); got != upgraded {
		t.Errorf("base is %q", got)
	}
	out, err := l.Rebase(t.Context(), mia, library.Ref{Skill: id})
	if err != nil || !strings.HasPrefix(out.VersionRef, "v2-") {
		t.Fatalf("rebase: %+v, %v", out, err)
	}
	if got := read(t, l, vic, library.Ref{Skill: id}, "SKILL.md"); got != strings.Replace(upgraded, "the form", "a form", 1) {
		t.Errorf("rebased text is %q", got)
	}
	out = edit(t, l, mia, library.Edit{Action: "archive", Skill: id, Expected: out.VersionRef, Model: true})
	if got := read(t, l, vic, library.Ref{Skill: id}, "SKILL.md"); got != upgraded {
		t.Errorf("after archive: %q", got)
	}
	s, _ = l.Inspect(t.Context(), mia, library.Ref{Skill: id})
	edit(t, l, mia, library.Edit{Action: "archive", Skill: id, Expected: s.VersionRef, Model: true})
	if list, err := l.List(t.Context(), vic, library.ListQuery{}); err != nil || len(list) != 0 {
		t.Errorf("a plugin skill that is switched off is listed: %+v, %v", list, err)
	}
	back, err := l.Restore(t.Context(), mia, library.Ref{Skill: id, Version: "v1"}, "")
	if err != nil || !strings.HasPrefix(back.VersionRef, "v5-") || read(t, l, vic, library.Ref{Skill: id}, "SKILL.md") != edited {
		t.Errorf("restore: %+v, %v", back, err)
	}
}

func TestCopyAndReview(t *testing.T) {
	l := open(t)
	files := map[string][]byte{"SKILL.md": []byte("---\nname: web\ndescription: Look.\nallowed-tools: Bash\nmetadata:\n  secrets: TOKEN\n---\nLook.\n"), "scripts/a.sh": []byte("echo\n")}
	e := library.Edit{Action: "copy", Skill: "dir:skills/web", Files: files, Name: "my-web", Model: true}
	shown, err := l.Prepare(t.Context(), ann, e)
	if err != nil {
		t.Fatal(err)
	}
	out, err := l.Commit(t.Context(), shown, "mia")
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Serve(t.Context(), ann, library.Ref{Skill: out.ID})
	if err != nil || s.Reviewed || !s.Front.Repaired || s.Front.AllowedTools == nil || s.Front.Metadata["secrets"] != "" || s.Name != "my-web" {
		t.Fatalf("copy is %+v, %v", s, err)
	}
	d, err := l.Review(t.Context(), mia, library.Ref{Skill: out.ID})
	if err != nil || !d.Reviewed || d.Front.Repaired || d.Front.Metadata["secrets"] != "TOKEN" {
		t.Errorf("after review: %+v, %v", d, err)
	}
}

func TestHeldEdits(t *testing.T) {
	l := open(t)
	v1 := shared(t, l, "pdf", text)
	held := edit(t, l, eve, library.Edit{Action: "patch", Skill: v1.ID, Expected: v1.VersionRef, Edits: from("the form", "a form"), Model: true, Held: true})
	served := func(a library.Actor) string {
		s, err := l.Serve(t.Context(), a, library.Ref{Skill: "pdf"})
		if err != nil {
			t.Fatal(err)
		}
		return s.VersionRef
	}
	if got := served(vic); got != v1.VersionRef {
		t.Errorf("a viewer is served %s", got)
	}
	if got := served(eve); got != held.VersionRef {
		t.Errorf("its maker is served %s", got)
	}
	hidden := library.Edit{Action: "metadata", Skill: v1.ID, Expected: held.VersionRef, Status: "draft", Model: true, Held: true}
	if got := refusal(t, l, eve, hidden); got != "refused: making a shared skill a draft needs the role maintainer" {
		t.Errorf("an editor hides a skill from all: %s", got)
	}
	if _, err := l.Review(t.Context(), mia, library.Ref{Skill: "pdf", Version: held.VersionRef}); err != nil {
		t.Fatal(err)
	}
	if got := served(vic); got != held.VersionRef {
		t.Errorf("after review a viewer is served %s", got)
	}
}

// A commit makes exactly the prepared change, once, if the base is unchanged and the actor still has
// the role.
func TestCommit(t *testing.T) {
	l := open(t)
	v1 := shared(t, l, "pdf", text)
	e := library.Edit{Action: "patch", Skill: v1.ID, Expected: v1.VersionRef, Edits: from("the form", "a form"), Model: true}
	prepare := func(e library.Edit) *library.Prepared {
		t.Helper()
		p, err := l.Prepare(t.Context(), eve, e)
		if err != nil || p.Outcome.Status != "dry_run" || p.Outcome.Previous != v1.VersionRef {
			t.Fatalf("%+v, %v", p, err)
		}
		return p
	}
	shown, late := prepare(e), prepare(e)
	out, err := l.Commit(t.Context(), shown, "mia")
	if err != nil || out.Status != "applied" || out.Digest != shown.Outcome.Digest || out.VersionRef != shown.Outcome.VersionRef {
		t.Fatalf("%+v, %v", out, err)
	}
	if s, err := l.Serve(t.Context(), vic, library.Ref{Skill: "pdf"}); err != nil || !s.Reviewed {
		t.Errorf("an approved edit is %+v, %v", s, err)
	}
	for _, p := range []*library.Prepared{shown, late} {
		if out, err := l.Commit(t.Context(), p, "mia"); !errors.Is(err, library.ErrConflict) {
			t.Errorf("a change of another version: %+v, %v", out, err)
		}
	}
	e.Expected = "v9"
	refused, err := l.Prepare(t.Context(), eve, e)
	if refused == nil || !errors.As(err, new(*library.Error)) {
		t.Fatalf("%+v, %v", refused, err)
	}
	if _, again := l.Commit(t.Context(), refused, "mia"); again != err {
		t.Errorf("what was refused: %v, want %v", again, err)
	}
}

// countingStore counts what the library asks of its store.
type countingStore struct {
	library.Store
	heads, loads, blobs, commits int
}

func (c *countingStore) Heads(ctx context.Context, tenant string, after int64) ([]library.Head, int64, error) {
	c.heads++
	return c.Store.Heads(ctx, tenant, after)
}

func (c *countingStore) Load(ctx context.Context, tenant, id string, version int) (library.Revision, error) {
	c.loads++
	return c.Store.Load(ctx, tenant, id, version)
}

func (c *countingStore) Blob(ctx context.Context, tenant, digest string) ([]byte, error) {
	c.blobs++
	return c.Store.Blob(ctx, tenant, digest)
}

func (c *countingStore) Commit(ctx context.Context, change library.Change) (library.Head, error) {
	c.commits++
	return c.Store.Commit(ctx, change)
}

// An edit with a question reads the skill once and commits once, like an edit without one. That also
// holds for a refused edit.
func TestCommitDoesNothingTwice(t *testing.T) {
	cost := func(old string, isShown bool) countingStore {
		t.Helper()
		store := &countingStore{Store: library.NewMemory()}
		l, err := library.New(store)
		if err != nil {
			t.Fatal(err)
		}
		v1 := shared(t, l, "pdf", text)
		*store = countingStore{Store: store.Store}
		e := library.Edit{Action: "patch", Skill: v1.ID, Expected: v1.VersionRef, Edits: from(old, "a form"), Model: true}
		if isShown {
			p, _ := l.Prepare(t.Context(), eve, e)
			_, _ = l.Commit(t.Context(), p, "mia")
		} else {
			_, _ = l.Edit(t.Context(), eve, e)
		}
		done := *store
		done.Store = nil
		return done
	}
	for _, old := range []string{"the form", "nothing"} {
		if shown, plain := cost(old, true), cost(old, false); shown != plain || plain.commits != 1 || plain.blobs == 0 {
			t.Errorf("%q: shown %+v, else %+v", old, shown, plain)
		}
	}
}

// A commit fails if the actor has lost the role, or if the plugin was upgraded, after the change was
// prepared.
func TestCommitChecksAgain(t *testing.T) { synctest.Test(t, commitChecksAgain) }

func commitChecksAgain(t *testing.T) {
	dir := plugin(t, text)
	p, err := library.OpenPlugin(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	l := open(t, library.WithPlugins(p))
	packaged, err := l.Inspect(t.Context(), mia, library.Ref{Skill: "pdf"})
	if err != nil {
		t.Fatal(err)
	}
	e := library.Edit{Action: "patch", Skill: packaged.ID, Expected: packaged.VersionRef, Edits: from("the form", "a form"), Model: true}
	kim := library.Actor{Tenant: mia.Tenant, Subject: "kim"}
	if err := l.Grant(t.Context(), mia, "kim", "maintainer"); err != nil {
		t.Fatal(err)
	}
	shown, err := l.Prepare(t.Context(), kim, e)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Grant(t.Context(), mia, "kim", "viewer"); err != nil {
		t.Fatal(err)
	}
	if out, err := l.Commit(t.Context(), shown, "mia"); !errors.Is(err, library.ErrRole) {
		t.Errorf("a role that is gone: %+v, %v", out, err)
	}
	if shown, err = l.Prepare(t.Context(), mia, e); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "skills/pdf/SKILL.md", strings.ReplaceAll(text, "form", "forms"))
	time.Sleep(time.Second) // the library caches the list of plugins for a moment
	if out, err := l.Commit(t.Context(), shown, "mia"); !errors.Is(err, library.ErrConflict) {
		t.Errorf("another text of the plugin: %+v, %v", out, err)
	}
}

func TestAmbiguousName(t *testing.T) {
	p, err := library.OpenPlugin(t.Context(), plugin(t, text))
	if err != nil {
		t.Fatal(err)
	}
	l := open(t, library.WithPlugins(p))
	shared(t, l, "pdf", text)
	_, err = l.Inspect(t.Context(), vic, library.Ref{Skill: "pdf"})
	var own *library.Error
	if !errors.As(err, &own) || own.Message != `"pdf" is the name of 2 skills; use a canonicalId` || len(own.Candidates) != 2 || own.Candidates[1].ID != "plugin:office:pdf" {
		t.Errorf("got %v", err)
	}
	for _, d := range own.Candidates {
		if s, err := l.Serve(t.Context(), vic, library.Ref{Skill: d.ID}); err != nil || s.ID != d.ID {
			t.Errorf("%s: %v", d.ID, err)
		}
	}
}

// unlistedSource is a source whose skills cannot be listed.
type unlistedSource struct{ catalog.Source }

func (unlistedSource) Scan(context.Context, *source.Listing) (*source.Listing, error) {
	return nil, errors.New("the disk is gone")
}

// A plugin that cannot be listed is in the log, and the other skills are served.
func TestPluginThatCannotBeListed(t *testing.T) {
	var log strings.Builder
	l := open(t, library.WithPlugins(library.Plugin{ID: "office", Source: unlistedSource{}}), library.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	shared(t, l, "pdf", text)
	if list, err := l.List(t.Context(), vic, library.ListQuery{}); err != nil || len(list) != 1 {
		t.Errorf("listed %v, %v", list, err)
	}
	if got := log.String(); !strings.Contains(got, "plugin=office") || !strings.Contains(got, "the disk is gone") {
		t.Errorf("logged %q", got)
	}
}

// replacedStore is a store that gives way to another one.
type replacedStore struct{ library.Store }

// TestOlderDatabase checks that a library uses the skills of a restored backup, and that edits work
// after it.
func TestOlderDatabase(t *testing.T) {
	backup, store := library.NewMemory(), &replacedStore{library.NewMemory()}
	old, err := library.New(backup)
	if err != nil {
		t.Fatal(err)
	}
	kept := shared(t, old, "pdf", text)
	l, err := library.New(store)
	if err != nil {
		t.Fatal(err)
	}
	shared(t, l, "pdf", text)
	shared(t, l, "lost", strings.Replace(text, "name: pdf", "name: lost", 1))
	if skills, err := l.List(t.Context(), vic, library.ListQuery{}); err != nil || len(skills) != 2 {
		t.Fatalf("skills are %+v, %v", skills, err)
	}
	store.Store = backup
	if skills, err := l.List(t.Context(), vic, library.ListQuery{}); err != nil || len(skills) != 1 || skills[0].ID != kept.ID {
		t.Fatalf("skills are %+v, %v", skills, err)
	}
	edit(t, l, mia, library.Edit{Action: "patch", Skill: kept.ID, Expected: kept.VersionRef, Edits: from("the form", "a form")})
}

func TestArchiveFreesTheName(t *testing.T) {
	l := open(t)
	v1 := shared(t, l, "pdf", text)
	edit(t, l, mia, library.Edit{Action: "archive", Skill: v1.ID, Expected: v1.VersionRef, Model: true})
	if _, err := l.Serve(t.Context(), vic, library.Ref{Skill: v1.ID}); !errors.Is(err, library.ErrUnknown) {
		t.Errorf("an archived skill is served: %v", err)
	}
	if s, err := l.Inspect(t.Context(), eve, library.Ref{Skill: v1.ID}); err != nil || s.State != "archived" {
		t.Errorf("inspect of an archived skill: %+v, %v", s, err)
	}
	shared(t, l, "pdf", text)
}

// TestSourceTellsWhatIsUnreviewed checks that a skill which a model has edited grants nothing in a
// catalog until a person has reviewed it.
func TestSourceTellsWhatIsUnreviewed(t *testing.T) {
	l := open(t)
	v1, err := l.Import(t.Context(), mia, "web", map[string][]byte{"SKILL.md": []byte("---\nname: web\ndescription: Look.\nallowed-tools: Bash\nmetadata:\n  secrets: TOKEN\n  network: https://example.com\n---\nLook at it.\n")}, false, "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(t.Context(), []source.Root{source.From("lib", l.Source("t"))})
	if err != nil {
		t.Fatal(err)
	}
	check := func(unreviewed bool, secrets string) {
		t.Helper()
		if _, err := c.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		skill, content, err := c.Body(t.Context(), "web")
		if err != nil || skill.Unreviewed != unreviewed || skill.Repaired != unreviewed || skill.Metadata["secrets"] != secrets || len(skill.AllowedTools) != 1 {
			t.Errorf("%+v %q %v", skill, content.Text, err)
		}
	}
	check(false, "TOKEN")
	out := edit(t, l, mia, library.Edit{Action: "patch", Skill: v1.ID, Expected: v1.VersionRef, Edits: from("Look at it.", "Look twice."), Model: true})
	check(true, "")
	if _, err := l.Review(t.Context(), mia, library.Ref{Skill: out.ID}); err != nil {
		t.Fatal(err)
	}
	check(false, "TOKEN")
}

func TestSource(t *testing.T) {
	catalogtest.Source(t, func(t *testing.T) catalogtest.Library {
		l := open(t, library.WithLimits(library.Limits{SkillFile: 1 << 20}))
		files, gone := map[string]map[string][]byte{}, map[string]bool{}
		ids := map[string]string{}
		return catalogtest.Library{
			Source: l.Source("t"),
			Put: func(t *testing.T, skill, path, text string) {
				t.Helper()
				if files[skill] == nil {
					files[skill] = map[string][]byte{}
				}
				files[skill][path] = []byte(text)
				if path != "SKILL.md" && files[skill]["SKILL.md"] == nil {
					return
				}
				if id := ids[skill]; id != "" {
					if gone[skill] {
						if _, err := l.Restore(t.Context(), mia, library.Ref{Skill: id}, ""); err != nil {
							t.Fatal(err)
						}
						gone[skill] = false
					}
					s, err := l.Inspect(t.Context(), mia, library.Ref{Skill: id})
					if err != nil {
						t.Fatal(err)
					}
					edit(t, l, mia, library.Edit{Action: "replace", Skill: id, Expected: s.VersionRef, Target: path, Content: text})
					return
				}
				out, err := l.Import(t.Context(), mia, skill, files[skill], false, "")
				if err != nil {
					t.Fatal(err)
				}
				ids[skill] = out.ID
			},
			Delete: func(t *testing.T, skill string) {
				t.Helper()
				s, err := l.Inspect(t.Context(), mia, library.Ref{Skill: ids[skill]})
				if err != nil {
					t.Fatal(err)
				}
				edit(t, l, mia, library.Edit{Action: "archive", Skill: ids[skill], Expected: s.VersionRef})
				gone[skill] = true
			},
		}
	})
}

// TestAllow checks that a skill which Actor.Allow hides is unknown in every method.
func TestAllow(t *testing.T) {
	l, err := library.New(library.NewMemory())
	if err != nil {
		t.Fatal(err)
	}
	all := library.Actor{Subject: "mia", Roles: []library.Role{"maintainer"}}
	ids := map[string]string{}
	for _, name := range []string{"open", "closed"} {
		out, err := l.Import(t.Context(), all, name, map[string][]byte{"SKILL.md": []byte("---\nname: " + name + "\ndescription: X.\n---\nX.\n")}, false, "")
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = out.ID
	}
	some := all
	some.Allow = func(s core.Skill) bool { return s.Name == "open" && s.ID == ids["open"] && s.Description == "X." }
	if got, err := l.List(t.Context(), some, library.ListQuery{All: true}); err != nil || len(got) != 1 || got[0].Name != "open" {
		t.Errorf("listed are %+v, %v", got, err)
	}
	for _, ref := range []library.Ref{{Skill: "closed"}, {Skill: ids["closed"]}, {Skill: ids["closed"], Version: "v1"}} {
		for what, do := range map[string]func() error{
			"Inspect": func() error { _, err := l.Inspect(t.Context(), some, ref); return err },
			"Serve":   func() error { _, err := l.Serve(t.Context(), some, ref); return err },
			"Diff":    func() error { _, err := l.Diff(t.Context(), some, library.Ref{Skill: "open"}, ref); return err },
			"Restore": func() error { _, err := l.Restore(t.Context(), some, ref, ""); return err },
			"Rebase":  func() error { _, err := l.Rebase(t.Context(), some, ref); return err },
			"Review":  func() error { _, err := l.Review(t.Context(), some, ref); return err },
			"History": func() error {
				for _, err := range l.History(t.Context(), some, ref) {
					return err
				}
				return nil
			},
			"Edit": func() error {
				_, err := l.Edit(t.Context(), some, library.Edit{Action: "copy", Skill: ref.Skill, Name: "copy"})
				return err
			},
			"Prepare": func() error {
				_, err := l.Prepare(t.Context(), some, library.Edit{Action: "archive", Skill: ref.Skill, Expected: "v1"})
				return err
			},
		} {
			if err := do(); !errors.Is(err, library.ErrUnknown) {
				t.Errorf("%s of %v: %v", what, ref, err)
			}
		}
	}
	if listing, err := l.SourceFor(some).Scan(t.Context(), nil); err != nil || len(listing.Entries) != 1 || listing.Entries[0].ID != ids["open"] {
		t.Errorf("the source has %+v, %v", listing, err)
	}
}

// TestUnknownRole: a misspelt role of the host is an error that names it, and not a viewer.
func TestUnknownRole(t *testing.T) {
	l := open(t)
	typo := library.Actor{Tenant: "t", Subject: "ann", Roles: []library.Role{"author", "Editor"}}
	_, listed := l.List(t.Context(), typo, library.ListQuery{})
	_, logged := l.Log(t.Context(), typo, library.LogQuery{})
	granted := l.Grant(t.Context(), typo, "vic", "author")
	for name, err := range map[string]error{"List": listed, "Log": logged, "Grant": granted} {
		if !errors.Is(err, library.ErrInvalid) || !strings.Contains(err.Error(), `"Editor"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A model may edit a body whose lines end with CR alone.
func TestEditOfABodyWithCRAlone(t *testing.T) {
	l, err := library.New(library.NewMemory())
	if err != nil {
		t.Fatal(err)
	}
	a := library.Actor{Subject: "ann", Roles: []library.Role{"maintainer"}}
	made, err := l.Edit(t.Context(), a, library.Edit{Action: "import", Name: "greeting", Files: map[string][]byte{
		"SKILL.md": []byte("---\rname: greeting\rdescription: How to greet.\r---\rSay Hello.\r"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	old := "Hello"
	done, err := l.Edit(t.Context(), a, library.Edit{
		Action: "patch", Skill: made.ID, Expected: made.VersionRef, Edits: []library.TextEdit{{OldText: &old, NewText: "Ahoy"}}, Model: true,
	})
	if err != nil || done.Status != "applied" {
		t.Errorf("Edit: got %s, error %v, want %s", done.Status, err, "applied")
	}
}
