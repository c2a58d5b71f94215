// Package library_test plays conversations of agents whose skills are in a library.
package library_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/chattest"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/tools/unified"
)

const form = "---\nname: forms\n# how it is found\ndescription: Fill in PDF forms.\n---\n\n# Forms\n\nUse the form tool.\nThen save it.\n"

// world is a library with its host.
type world struct {
	t       *testing.T
	library *library.Library
	store   *failing
	actor   library.Actor
	asked   []core.Ask
	answer  core.Answer
	before  func() // before an answer
	chat    *chattest.Chat
}

// failing is a store that can be made to fail.
type failing struct {
	*library.Memory
	down atomic.Bool
}

var errDown = errors.New("connection refused to db.internal:5432")

func (f *failing) Heads(ctx context.Context, tenant string, after int64) ([]library.Head, int64, error) {
	if f.down.Load() {
		return nil, 0, errDown
	}
	return f.Memory.Heads(ctx, tenant, after)
}

func (f *failing) Grants(ctx context.Context, tenant, subject string) ([]library.Role, error) {
	if f.down.Load() {
		return nil, errDown
	}
	return f.Memory.Grants(ctx, tenant, subject)
}

type setup struct {
	edit    unified.Mode
	nobody  bool
	role    library.Role
	files   fstest.MapFS
	plugins []library.Plugin
	options []satchel.Option
}

func newWorld(t *testing.T, s setup) *world {
	t.Helper()
	w := &world{t: t, store: &failing{Memory: library.NewMemory()}, answer: core.AnswerAllow}
	var err error
	if w.library, err = library.New(w.store, library.WithPlugins(s.plugins...)); err != nil {
		t.Fatal(err)
	}
	if s.role == "" {
		s.role = library.Editor
	}
	w.actor = library.Actor{Tenant: "acme", Subject: "eve", Roles: []library.Role{s.role}}
	options := append([]satchel.Option{
		satchel.WithLibrary(w.library, satchel.LibraryOptions{Tenant: "acme", Edit: s.edit, Actor: func(context.Context, core.SessionKey) (library.Actor, error) { return w.actor, nil }}),
		satchel.WithVocabulary(unified.New()), satchel.WithContentBudget(0, 0),
	}, s.options...)
	if !s.nobody {
		options = append(options, satchel.WithApprover(func(_ context.Context, ask core.Ask) (core.Answer, error) {
			w.asked = append(w.asked, ask)
			if w.before != nil {
				w.before()
			}
			return w.answer, nil
		}))
	}
	w.chat = chattest.NewChat(t, chattest.Open(t, s.files, options...))
	w.chat.Say(core.User, "Hello.")
	return w
}

var host = library.Actor{Tenant: "acme", Subject: "mia", Roles: []library.Role{library.Maintainer}}

// shared adds a skill as a person.
func (w *world) shared(name, text string) library.Outcome {
	w.t.Helper()
	out, err := w.library.Import(w.t.Context(), host, name, map[string][]byte{"SKILL.md": []byte(text)}, false, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// call makes one call and returns its answer as JSON.
func (w *world) call(tool string, arguments any) map[string]any {
	w.t.Helper()
	raw, ok := arguments.(string)
	if !ok {
		b, err := json.Marshal(arguments)
		if err != nil {
			w.t.Fatal(err)
		}
		raw = string(b)
	}
	text := w.chat.Calls(tool + " " + raw)[0]
	if len(text) > 64<<10 {
		w.t.Errorf("an answer has %d bytes", len(text))
	}
	var answer map[string]any
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return map[string]any{"text": text}
	}
	return answer
}

func (w *world) run(arguments any) map[string]any { w.t.Helper(); return w.call("runSkill", arguments) }
func (w *world) update(arguments any) map[string]any {
	w.t.Helper()
	return w.call("updateSkill", arguments)
}

// want compares fields of an answer, "name=value".
func want(t *testing.T, answer map[string]any, fields ...string) {
	t.Helper()
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		if got := fmt.Sprint(answer[name]); got != value {
			t.Errorf("%s is %s, want %s (in %v)", name, got, value, answer)
		}
	}
}

type args map[string]any

func names(answer map[string]any) string {
	var out []string
	skills, _ := answer["skills"].([]any)
	for _, s := range skills {
		m, _ := s.(map[string]any)
		out = append(out, fmt.Sprint(m["name"]))
	}
	return strings.Join(out, " ")
}

// plugin installs a plugin with a skill of the name.
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
	p, err := library.OpenPlugin(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p, filepath.Join(dir, "skills", name, "SKILL.md")
}

func TestList(t *testing.T) {
	p, _ := plugin(t, "pdf", "---\nname: pdf\ndescription: Read PDF files.\n---\nRead.\n")
	w := newWorld(t, setup{plugins: []library.Plugin{p}, files: fstest.MapFS{"web/SKILL.md": {Data: []byte("---\nname: web\ndescription: Look.\n---\nLook.\n")}}})
	w.shared("forms", form)
	w.shared("hidden", "---\nname: hidden\ndescription: Hidden.\ndisable-model-invocation: true\n---\nX.\n")
	for range 2 {
		got := w.run(`{"action":"list"}`)
		if names(got) != "forms pdf web" {
			t.Errorf("list is %v", got)
		}
		want(t, got, "action=list", "total=3", "nextCursor=<nil>")
	}
	if got := w.run(`{}`); names(got) != "forms pdf web" {
		t.Errorf("{} lists %v", got)
	}
	got := w.run(`{"action":"list","source":"plugin","query":"pdf","limit":1}`)
	if names(got) != "pdf" {
		t.Errorf("plugins are %v", got)
	}
	seen := ""
	for cursor, n := "", 0; n < 10; n++ {
		page := w.run(args{"action": "list", "limit": 1, "cursor": cursor})
		seen += names(page) + " "
		if page["nextCursor"] == nil {
			break
		}
		cursor = page["nextCursor"].(string)
		if n == 0 {
			w.shared("aaa", "---\nname: aaa\ndescription: First.\n---\nX.\n")
			w.shared("forms-2", "---\nname: forms-2\ndescription: Next.\n---\nX.\n")
		}
	}
	if seen != "forms forms-2 pdf web " {
		t.Errorf("pages are %s", seen)
	}
	want(t, w.run(`{"skill":"hidden"}`), "error=blocked", `message=skill "hidden" may not be started by a model (disable-model-invocation); ask the user to start it`)
	want(t, w.run(`form`), "error=unknown", `message=unknown skill "form": did you mean "forms" or "forms-2"?`)
}

func TestRunDelivers(t *testing.T) {
	w := newWorld(t, setup{})
	w.shared("forms", form)
	for _, m := range w.chat.View() {
		if strings.Contains(m.Text, "forms") {
			t.Errorf("a request names a skill before anybody asked: %q", m.Text)
		}
	}
	got := w.run("forms")
	want(t, got, "action=run", "status=loaded", "name=forms", "part=1", "parts=1")
	if last := lastOf(w.chat.View()); !strings.Contains(last, "Use the form tool.\nThen save it.") {
		t.Errorf("the request after it shows %q", last)
	}
	first := w.chat.View()
	inspected := w.run(`{"action":"inspect","skill":"forms"}`)
	sum := sha256.Sum256([]byte(form))
	want(t, inspected, "content="+form, "sha256="+hex.EncodeToString(sum[:]), "reviewed=true", "firstLine=1", "totalLines=10")
	for i, line := range strings.Split(strings.TrimSuffix(inspected["contentWithLineNumbers"].(string), "\n"), "\n") {
		if want := fmt.Sprintf("%6d\t%s", i+1, strings.Split(form, "\n")[i]); line != want {
			t.Errorf("numbered line is %q, want %q", line, want)
		}
	}
	ref := inspected["versionRef"].(string)
	w.update(args{"action": "patch", "skill": "forms", "expectedVersionRef": ref, "edits": []args{{"oldText": "the form tool", "newText": "a form tool"}}})
	for i, m := range w.chat.View()[:len(first)] {
		if m.Text != first[i].Text {
			t.Errorf("an edit has changed message %d: %q, was %q", i, m.Text, first[i].Text)
		}
	}
	again := w.run("forms")
	if last := lastOf(w.chat.View()); !strings.Contains(last, "Use a form tool.") {
		t.Errorf("the new text is not shown: %v %q", again, last)
	}
}

func lastOf(view []core.Message) string { return view[len(view)-1].Text }

func TestLongTexts(t *testing.T) {
	w := newWorld(t, setup{})
	var b strings.Builder
	for n := 0; b.Len() < 100<<10; n++ {
		fmt.Fprintf(&b, "Line %d of a long “text”.\n", n)
	}
	b.WriteString(strings.Repeat("x", 100<<10) + "\n")
	for n := 0; b.Len() < 300<<10; n++ {
		fmt.Fprintf(&b, "Line %d again.\n", n)
	}
	body := strings.TrimSpace(b.String())
	text := "---\nname: long\ndescription: Long.\n---\n" + body + "\n"
	w.shared("long", text)
	for _, view := range []string{"raw", "numbered", "both"} {
		whole := ""
		for part, parts := 1, 1; part <= parts; part++ {
			got := w.run(args{"action": "inspect", "skill": "long", "view": view, "part": part})
			if got["error"] != nil {
				t.Fatal(got)
			}
			parts = int(got["parts"].(float64))
			if c, ok := got["content"].(string); ok {
				whole += c
				if len(c) > 48<<10 {
					t.Errorf("a part has %d bytes", len(c))
				}
			}
			if (part < parts) != (got["next"] != nil) {
				t.Errorf("part %d of %d says %v", part, parts, got["next"])
			}
		}
		if view != "numbered" && whole != text {
			t.Errorf("parts of view %s do not give the text", view)
		}
	}
	want(t, w.run(`{"action":"inspect","skill":"long","part":400}`), "error=invalid")
	got := w.run(args{"skill": "long"})
	parts := int(got["parts"].(float64))
	view := w.chat.View()
	first := lastOf(view)
	whole := ""
	for part := 2; part <= parts; part++ {
		if got := w.run(args{"skill": "long", "part": part}); got["error"] != nil || got["text"] != nil {
			t.Fatal(got)
		}
	}
	for i, m := range w.chat.View() {
		if i < len(view) && m.Text != view[i].Text {
			t.Errorf("message %d has changed", i)
		}
		whole += m.Text
	}
	for _, piece := range []string{"Line 0 of a long “text”.", strings.Repeat("x", 40<<10), "Line 0 again.", strings.TrimSpace(body[len(body)-200:])} {
		if !strings.Contains(whole, piece) {
			t.Errorf("the view lacks %.60q", piece)
		}
	}
	if strings.Contains(whole, "truncated") || !strings.Contains(first, "Line 0 of a long “text”.") {
		t.Error("part 1 is not whole")
	}
}

func TestParameters(t *testing.T) {
	w := newWorld(t, setup{})
	w.shared("report", `---
name: report
description: Write a report.
metadata:
  parameters: [{name: region, required: true}, {name: format, type: enum, values: [csv, pdf], default: csv}]
---
For {{region}} as {{format}}, not {{other}}.
`)
	want(t, w.run(`{"skill":"report"}`), "error=invalid", `message=parameter "region" is missing; parameters are region (required), format (default "csv")`)
	want(t, w.run(`{"skill":"report","parameters":{"region":"x","format":"doc"}}`), "error=invalid")
	got := w.run(`{"skill":"report","parameters":{"region":"{{format}}","more":1}}`)
	want(t, got, "status=loaded", `warnings=[the skill has no parameter "more"]`)
	if last := lastOf(w.chat.View()); !strings.Contains(last, "For {{format}} as csv, not {{other}}.") {
		t.Errorf("rendered as %q", last)
	}
}

func TestAmbiguous(t *testing.T) {
	p, file := plugin(t, "forms", form)
	w := newWorld(t, setup{plugins: []library.Plugin{p}, role: library.Maintainer})
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

func TestEdits(t *testing.T) {
	w := newWorld(t, setup{})
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
	want(t, w.update(patch), "status=unchanged")
	patch["patch"] = "-Then save it.\n+Save it.\n"
	conflict := w.update(patch)
	want(t, conflict, "error=conflict")
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

func TestAsking(t *testing.T) {
	w := newWorld(t, setup{})
	made := w.shared("forms", form)
	patch := args{"action": "patch", "skill": made.ID, "expectedVersionRef": made.VersionRef, "patch": "-Then save it.\n+Save it.\n"}
	w.answer = core.AnswerDeny
	if got := w.update(patch); !strings.HasPrefix(fmt.Sprint(got["text"]), "denied: this call of updateSkill was not approved") {
		t.Errorf("a refusal is %v", got)
	}
	w.answer = core.AnswerAllow
	w.before = func() {
		w.before = nil
		if _, err := w.library.Edit(t.Context(), host, library.Edit{Action: library.Replace, Skill: made.ID, Expected: made.VersionRef, Target: "body", Content: "Other.\n"}); err != nil {
			t.Error(err)
		}
	}
	want(t, w.update(patch), "error=conflict")
	if s, err := w.library.Inspect(t.Context(), host, library.Ref{Skill: made.ID}); err != nil || s.Version != 2 {
		t.Errorf("head is %+v, %v", s, err)
	}
	alone := newWorld(t, setup{nobody: true})
	made = alone.shared("forms", form)
	patch["skill"], patch["expectedVersionRef"] = made.ID, made.VersionRef
	want(t, alone.update(patch), "text=denied: skills are edited only with approval, and nobody can be asked; dryRun shows the change")
	never := newWorld(t, setup{edit: unified.Never})
	for _, tool := range never.chat.Runtime.Tools() {
		if tool.Name == "updateSkill" {
			t.Error("updateSkill is offered with Never")
		}
	}
}

func TestListsOfTools(t *testing.T) {
	w := newWorld(t, setup{edit: unified.Allow})
	made := w.shared("forms", form)
	w.shared("reader", "---\nname: reader\ndescription: Reads.\nallowed-tools: Read\n---\nRead.\n")
	want(t, w.run("reader"), "status=loaded")
	got := w.update(args{"action": "patch", "skill": made.ID, "expectedVersionRef": made.VersionRef, "patch": "-Then save it.\n+Save it.\n"})
	if !strings.HasPrefix(fmt.Sprint(got["text"]), "denied:") {
		t.Errorf("updateSkill under a list is %v", got)
	}
	want(t, w.run("forms"), "status=loaded")
}

func TestCopyOfAFolder(t *testing.T) {
	w := newWorld(t, setup{files: fstest.MapFS{
		"web/SKILL.md":     {Data: []byte("---\nname: web\ndescription: Look.\nallowed-tools: Bash\n---\nLook.\n")},
		"web/scripts/a.sh": {Data: []byte("echo\n")},
	}})
	seen := w.run(`{"action":"inspect","skill":"web"}`)
	want(t, seen, "source=file", "editable=false")
	got := w.update(args{"action": "patch", "skill": "web", "expectedVersionRef": seen["versionRef"], "patch": "-Look.\n+See.\n"})
	if !strings.Contains(fmt.Sprint(got["message"]), "copy it first") {
		t.Errorf("an edit of a folder is %v", got)
	}
	want(t, w.update(args{"action": "copy", "skill": "web", "name": "my-web"}), "status=applied")
	want(t, w.run(`{"action":"inspect","skill":"my-web"}`), "editable=true", "source=db")
}

func TestStoreThatFails(t *testing.T) {
	w := newWorld(t, setup{})
	made := w.shared("forms", form)
	w.store.down.Store(true)
	for _, got := range []map[string]any{w.run("forms"), w.run("{}"), w.update(args{"action": "archive", "skill": made.ID, "expectedVersionRef": "v1"})} {
		want(t, got, "error=unavailable", "message=the skill library does not answer; try again later")
	}
	w.store.down.Store(false)
	want(t, w.run("forms"), "status=loaded")
}

func TestTenants(t *testing.T) {
	w := newWorld(t, setup{role: library.Maintainer})
	other, err := w.library.Import(t.Context(), library.Actor{Tenant: "b", Subject: "bob", Roles: []library.Role{library.Maintainer}}, "secret", map[string][]byte{"SKILL.md": []byte("---\nname: secret\ndescription: X.\n---\nX.\n")}, false, "")
	if err != nil {
		t.Fatal(err)
	}
	a, b := w.run(args{"skill": other.ID}), w.run(`db:01ARZ3NDEKTSV4RRFFQ69G5FAV`)
	if strings.ReplaceAll(fmt.Sprint(a["message"]), other.ID, "") != strings.ReplaceAll(fmt.Sprint(b["message"]), "db:01ARZ3NDEKTSV4RRFFQ69G5FAV", "") || a["error"] != "unknown" {
		t.Errorf("another tenant's id gives %v, a random one %v", a, b)
	}
}

// TestSmall: text and schemas of the vocabulary stay below 700 tokens, at 4 bytes each.
func TestSmall(t *testing.T) {
	w := newWorld(t, setup{})
	size := len(unified.Guidance)
	for _, tool := range w.chat.Runtime.Tools() {
		size += len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	if size > 700*4 {
		t.Errorf("%d bytes", size)
	}
}

func TestDefaultVocabulary(t *testing.T) {
	store := library.NewMemory()
	l, err := library.New(store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Import(t.Context(), host, "forms", map[string][]byte{"SKILL.md": []byte(form)}, false, ""); err != nil {
		t.Fatal(err)
	}
	chat := chattest.NewChat(t, chattest.Open(t, fstest.MapFS{}, satchel.WithProfile("knowledge_only"), satchel.WithLibrary(l, satchel.LibraryOptions{Tenant: "acme"})))
	chat.Say(core.User, "Hello.")
	if got := chat.Calls(`skill_load {"skill":"forms"}`)[0]; !strings.HasPrefix(got, "loaded: forms") {
		t.Errorf("load gives %q", got)
	}
	if last := lastOf(chat.View()); !strings.Contains(last, "Use the form tool.") {
		t.Errorf("shown is %q", last)
	}
}
