package librarychattest

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/tools"
)

// running returns a setup whose skills can run commands, without a sandbox.
func running(t *testing.T) setup {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	by, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	return setup{plain: true, options: []satchel.Option{satchel.WithRunner(satchel.Runner{Executor: by})}}
}

// tool adds or replaces a skill with a script and a doc that contain the name of their edition.
func (w *world) tool(name string, private bool, owner library.Actor) library.Outcome {
	w.t.Helper()
	out, err := w.library.Import(w.t.Context(), owner, name, map[string][]byte{
		"SKILL.md":  []byte("---\nname: " + name + "\ndescription: Says how old it is.\n---\nRun it.\n"),
		"notes.md":  []byte("old notes\n"),
		"old.sh":    []byte("echo old\n"),
		"README.md": []byte("read me\n"),
	}, private, "")
	if err != nil {
		w.t.Fatal(err)
	}
	w.refresh()
	return out
}

func (w *world) says(what, call, says string) {
	w.t.Helper()
	if got := w.chat.Calls(call)[0]; !strings.Contains(got, says) {
		w.t.Errorf("%s: %s gives %q, want %q", what, call, got, says)
	}
}

// loadedRevision checks that runs and reads use the revision that was loaded. Edits have no effect
// on them until the skill is loaded again.
func loadedRevision(t *testing.T, open Open) {
	w := newWorld(t, open, running(t))
	made := w.tool("age", false, host)
	w.says("a load", "skill_load age", "loaded: age")
	view := w.chat.View()
	next := w.replaced(made.ID, made.VersionRef, "old.sh", "echo new\n")
	next = w.replaced(made.ID, next.VersionRef, "notes.md", "new notes\n")
	w.replaced(made.ID, next.VersionRef, "more.md", "more\n")
	w.refresh()
	const run = `skill_run {"skill":"age","command":"sh old.sh"}`
	w.says("after edits", run, `"stdout":"old\n"`)
	w.says("after edits", `skill_read {"skill":"age","path":"notes.md"}`, "old notes")
	if docs := w.chat.Calls(`skill_list_docs {"skill":"age"}`)[0]; strings.Contains(docs, "more.md") {
		t.Errorf("docs are %s", docs)
	}
	w.says("after edits", `skill_select_docs {"skill":"age","docs":["notes.md"]}`, "docs of age: notes.md")
	for i, m := range w.chat.View()[:len(view)] {
		if m.Text != view[i].Text {
			t.Errorf("an edit has changed message %d: %q, was %q", i, m.Text, view[i].Text)
		}
	}
	w.restart()
	w.chat.View()
	w.says("rebuilt from receipts", run, `"stdout":"old\n"`)
	w.says("rebuilt from receipts", `skill_read {"skill":"age","path":"notes.md"}`, "old notes")
	w.says("loaded anew", "skill_load age", "age")
	w.says("loaded anew", run, `"stdout":"new\n"`)
	w.says("loaded anew", `skill_read {"skill":"age","path":"notes.md"}`, "new notes")
	w.restart()
	w.chat.View()
	w.says("rebuilt from both receipts", run, `"stdout":"new\n"`)

	both := running(t)
	both.plain, both.edit = false, library.Allow
	both.tools.Names = []string{"runSkill", "updateSkill", "skill_run"}
	w = newWorld(t, open, both)
	made = w.tool("age", false, host)
	want(t, w.run("age"), "status=loaded")
	w.replaced(made.ID, made.VersionRef, "old.sh", "echo new\n")
	w.refresh()
	w.says("after an edit", run, `"stdout":"old\n"`)
	w.restart()
	w.chat.View()
	w.says("rebuilt from receipts", run, `"stdout":"old\n"`)
	want(t, w.run("age"), "status=loaded")
	w.says("started anew", run, `"stdout":"new\n"`)
}

// privateSkills checks that private skills are in the overview of their owner and run there. They
// are unknown to other actors.
func privateSkills(t *testing.T, open Open) {
	w := newWorld(t, open, running(t))
	w.tool("mine", true, library.Actor{Tenant: "acme", Subject: "eve", Roles: []library.Role{"author"}})
	w.tool("theirs", true, library.Actor{Tenant: "acme", Subject: "mia", Roles: []library.Role{"author"}})
	w.tool("shared", false, host)
	w.private("lister", "---\nname: lister\ndescription: Lists.\nallowed-tools: measure\n---\nX.\n", "eve")
	w.shared("reader", "---\nname: reader\ndescription: Reads.\nallowed-tools: Read\n---\nX.\n")
	w.refresh()
	overviews := map[string]string{}
	for _, session := range []string{"chat", "other"} {
		chat := chattest.NewChat(t, w.chat.Runtime)
		chat.Key = core.SessionKey{Session: session, Agent: "main"}
		chat.Say(core.User, "Hello.")
		overviews[session] = chattest.Shown(chat.View())
		for _, call := range []string{"skill_load mine", `skill_read {"skill":"mine","path":"notes.md"}`, `skill_run {"skill":"mine","command":"sh old.sh"}`, "skill_list_docs mine"} {
			if got := chat.Calls(call)[0]; strings.Contains(got, "unknown skill") != (session == "other") {
				t.Errorf("session %s: %s gives %q", session, call, got)
			}
		}
		chattest.Same(t, "a tool that a list of eve's names, to "+session, chat.Gate("skill_load reader", "measure {}"), "skill_load",
			map[string]string{"chat": "!measure", "other": "measure"}[session])
	}
	for session, names := range map[string]string{"chat": "mine shared lister", "other": "shared"} {
		for _, name := range []string{"mine", "theirs", "shared", "lister"} {
			if there := strings.Contains(overviews[session], "<name>"+name+"</name>"); there != strings.Contains(names, name) {
				t.Errorf("the overview of %s has %s: %t\n%s", session, name, there, overviews[session])
			}
		}
	}
}

// notes checks that a note at the next user turn announces a new description. Earlier messages must
// not change.
func notes(t *testing.T, open Open) {
	for _, plain := range []bool{true, false} {
		s := setup{plain: plain, edit: library.Allow, files: fstest.MapFS{}}
		if plain {
			s.tools.Profile = tools.KnowledgeOnly
		}
		w := newWorld(t, open, s)
		made := w.shared("forms", form)
		w.refresh()
		w.chat.View()
		stranger := chattest.NewChat(t, w.chat.Runtime)
		stranger.Key = core.SessionKey{Session: "stranger", Agent: "main"}
		stranger.Say(core.User, "Hello.").View()
		if !plain {
			want(t, w.run(`{"action":"list"}`), "total=1")
		}
		first := w.chat.View()
		w.chat.Answer("Done.")
		stranger.Answer("Done.")
		if _, err := w.library.Edit(t.Context(), host, library.Edit{Action: "metadata", Skill: made.ID, Expected: made.VersionRef, Description: textOf("Fill in any form.")}); err != nil {
			t.Fatal(err)
		}
		w.shared("notes", "---\nname: notes\ndescription: Take notes.\n---\nX.\n")
		w.refresh()
		view := w.chat.Say(core.User, "Next.").View()
		for i, m := range first {
			if m.Text != view[i].Text {
				t.Errorf("message %d has changed: %q, was %q", i, view[i].Text, m.Text)
			}
		}
		if last := lastOf(view); !strings.Contains(last, "<skills_changed>") || !strings.Contains(last, "Fill in any form.") || !strings.Contains(last, "<name>notes</name>") {
			t.Errorf("default vocabulary %t: the next turn begins with %q", plain, last)
		}
		if last := lastOf(stranger.Say(core.User, "Next.").View()); strings.Contains(last, "forms") != plain {
			t.Errorf("default vocabulary %t: who has not asked for skills is told %q", plain, last)
		}
	}
}

func textOf(s string) *string { return &s }

// history checks that History has author, time, reason and files of each version. Restoring a
// version adds a new one.
func history(t *testing.T, open Open) {
	w := newWorld(t, open, setup{edit: library.Allow})
	made := w.shared("forms", form)
	done := w.update(args{"action": "patch", "skill": made.ID, "expectedVersionRef": made.VersionRef, "patch": "-Then save it.\n+Save it.\n", "reason": "shorter"})
	want(t, done, "status=applied")
	restored, err := w.library.Restore(t.Context(), host, library.Ref{Skill: made.ID, Version: "v1"}, "as before")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for r, err := range w.library.History(t.Context(), host, library.Ref{Skill: made.ID}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.At.IsZero() {
			t.Errorf("version %d has no time", r.Version)
		}
		lines = append(lines, fmt.Sprint(r.Ref(), " ", r.Subject, " ", r.Action, " ", r.Reason))
	}
	chattest.Same(t, "versions", lines,
		restored.VersionRef+" mia restore as before", fmt.Sprint(done["versionRef"], " eve patch shorter"), made.VersionRef+" mia import ")
	d, err := w.library.Diff(t.Context(), host, library.Ref{Skill: made.ID, Version: "v1"}, library.Ref{Skill: made.ID, Version: "v2"})
	if err != nil || !strings.Contains(d.Unified, "-Then save it.\n+Save it.\n") {
		t.Errorf("the difference is %q, %v", d.Unified, err)
	}
}
