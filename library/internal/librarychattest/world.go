// Package librarychattest runs conversations of agents with a library. Every store must give the
// same answers.
package librarychattest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/tools"
)

// Open opens an empty store. It is closed at the end of the test.
type Open func(t *testing.T) library.Store

// Run runs all conversations, each with a store of its own.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, tt := range []struct {
		name string
		run  func(*testing.T, Open)
	}{
		{"list", list},
		{"run delivers", runDelivers},
		{"long texts", longTexts},
		{"largest text", largestText},
		{"parameters", parameters},
		{"ambiguous", ambiguous},
		{"edits", edits},
		{"line numbers", lineNumbers},
		{"strict fields", strict},
		{"errors are JSON", errorsAreJSON},
		{"descriptors", described},
		{"matching", matching},
		{"refusals", refusals},
		{"replacing", replacing},
		{"metadata", metadata},
		{"asking", asking},
		{"lists of tools", listsOfTools},
		{"writers on one base", writersOnOneBase},
		{"overlay", overlay},
		{"copy of a folder", copyOfAFolder},
		{"tenants", tenants},
		{"loaded revision", loadedRevision},
		{"private skills", privateSkills},
		{"audiences", audiences},
		{"notes", notes},
		{"history", history},
		{"audit", auditing},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open) })
	}
}

const form = "---\nname: forms\n# how it is found\ndescription: Fill in PDF forms.\n---\n\n# Forms\n\nUse the form tool.\nThen save it.\n"

// world is a library with a runtime, for one test.
type world struct {
	t       *testing.T
	library *library.Library
	actor   library.Actor // of the session "chat"
	other   library.Actor // of all other sessions
	mu      sync.Mutex
	events  []core.Event // of the library
	asked   []core.Ask
	answer  core.Answer
	before  func() // before an answer
	chat    *chattest.Chat
	restart func() // of the process, which has no sessions then
}

type setup struct {
	plain   bool // the default vocabulary
	edit    library.EditMode
	nobody  bool
	role    library.Role
	files   fstest.MapFS
	plugins []library.Plugin
	budget  tools.Budget // none by default
	tools   satchel.Tools
	options []satchel.Option
}

func newWorld(t *testing.T, open Open, s setup) *world {
	t.Helper()
	w := &world{t: t, answer: core.AnswerAllow, other: library.Actor{Subject: "bob"}}
	var err error
	if w.library, err = library.New(open(t), library.WithPlugins(s.plugins...)); err != nil {
		t.Fatal(err)
	}
	if s.role == "" {
		s.role = "editor"
	}
	w.actor = library.Actor{Tenant: "acme", Subject: "eve", Roles: []library.Role{s.role}}
	options := append([]satchel.Option{
		library.With(w.library, library.AgentOptions{Tenant: "acme", Edit: s.edit, Actor: w.acts}),
		satchel.WithLoading(satchel.Loading{Budget: cmp.Or(s.budget, tools.Budget{Warn: -1, Max: -1})}), satchel.WithEvents(w.happened),
	}, s.options...)
	if !s.plain {
		s.tools.Vocabulary = library.Vocabulary()
	}
	options = append(options, satchel.WithTools(s.tools))
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
	w.restart = func() { w.chat.Runtime = chattest.Open(t, s.files, options...) }
	w.chat.Say(core.User, "Hello.")
	return w
}

func (w *world) acts(_ context.Context, key core.SessionKey) (library.Actor, error) {
	if key.Session == "chat" {
		return w.actor, nil
	}
	return w.other, nil
}

func (w *world) happened(_ context.Context, e core.Event) {
	if e.Kind == core.LibraryChanged || e.Kind == core.LibraryRefused {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, e)
	}
}

// refresh makes the runtime see changes of the library at once.
func (w *world) refresh() {
	w.t.Helper()
	if err := w.chat.Runtime.Refresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// replaced edits a skill as a person.
func (w *world) replaced(id, expected, target, content string) library.Outcome {
	w.t.Helper()
	out, err := w.library.Edit(w.t.Context(), host, library.Edit{Action: "replace", Skill: id, Expected: expected, Target: target, Content: content})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

var host = library.Actor{Tenant: "acme", Subject: "mia", Roles: []library.Role{"maintainer"}}

// shared adds a skill as a person.
func (w *world) shared(name, text string) library.Outcome {
	w.t.Helper()
	return w.imported(host, name, text, false)
}

// private adds a private skill of an owner.
func (w *world) private(name, text, owner string) library.Outcome {
	w.t.Helper()
	return w.imported(library.Actor{Tenant: "acme", Subject: owner, Roles: []library.Role{"author"}}, name, text, true)
}

func (w *world) imported(by library.Actor, name, text string, private bool) library.Outcome {
	w.t.Helper()
	out, err := w.library.Import(w.t.Context(), by, name, map[string][]byte{"SKILL.md": []byte(text)}, private, "")
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

func lastOf(view []core.Message) string { return view[len(view)-1].Text }
