package satchel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

func TestToolsAreConstant(t *testing.T) {
	for _, profile := range []tools.Profile{tools.Full, tools.KnowledgeOnly} {
		t.Run(string(profile), func(t *testing.T) {
			w := newWorld(4)
			r := open(t, w.files, satchel.WithProfile(profile))
			first, err := json.Marshal(r.Tools())
			if err != nil {
				t.Fatal(err)
			}
			c := newChat(t, r).say(core.User, "hi")
			c.calls("skill_load s0", "skill_load s1")
			w.add("s9")
			if err := r.Refresh(c.ctx); err != nil {
				t.Fatal(err)
			}
			c.say(core.User, "next")
			c.view()
			last, err := json.Marshal(r.Tools())
			if err != nil || string(last) != string(first) {
				t.Errorf("tools were\n%s\nand are\n%s, %v", first, last, err)
			}
			for name := range w.skills {
				if strings.Contains(string(last), name) {
					t.Errorf("tools name %s", name)
				}
			}
		})
	}
}

func TestSessionWithoutSkills(t *testing.T) {
	messages := []core.Message{{Role: core.System, Text: "You help."}, {Role: core.User, Text: "hi"}}
	check := func(t *testing.T, r *satchel.Runtime, id string) {
		t.Helper()
		v, err := r.Prepare(t.Context(), core.Request{Key: core.SessionKey{Session: id}, Messages: messages})
		if err != nil || !v.NoSkills || !reflect.DeepEqual(v.Messages, messages) {
			t.Errorf("view %+v, %v", v, err)
		}
	}
	t.Run("none", func(t *testing.T) {
		r := open(t, fstest.MapFS{})
		check(t, r, "s")
		if len(r.Tools()) == 0 || !r.Owns("skill_load") {
			t.Error("an agent that is built now has no tools for sessions that will see skills")
		}
		if text := r.UnknownTool("x"); strings.Contains(text, "skill_") {
			t.Errorf("a tool that no session is offered is named: %s", text)
		}
	})
	t.Run("the first skill comes later", func(t *testing.T) {
		w := newWorld(0)
		w.files["empty"] = &fstest.MapFile{}
		r := open(t, w.files)
		check(t, r, "old")
		w.add("s0")
		if err := r.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(t, r, "old")
		c := newChat(t, r).say(core.User, "hi")
		if view := c.view(); !strings.Contains(view[0].Text, "<available_skills>") {
			t.Errorf("view of a new session: %s", shown(view))
		}
		c.calls("skill_load s0")
		same(t, "loaded", c.loadedNames(), "s0[]")
	})
	t.Run("the host loads a hidden one", func(t *testing.T) {
		r := open(t, fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: Hidden.\ndisable-model-invocation: true\n---\nDo it.\n")}})
		check(t, r, "without")
		ctx := satchel.WithLoads(t.Context(), satchel.Load{Skill: "a"})
		v, err := r.Prepare(ctx, core.Request{Key: core.SessionKey{Session: "with"}, Messages: messages})
		if err != nil || !v.NoSkills || len(v.Messages) != 2 || v.Messages[0].Added != "" || !strings.Contains(v.Messages[1].Added, "Do it.") {
			t.Errorf("view %+v, %v", v, err)
		}
	})
	t.Run("the last skill goes", func(t *testing.T) {
		w := newWorld(1)
		c := newChat(t, open(t, w.files, satchel.WithLoadMode(loadmode.Session))).say(core.User, "hi")
		c.calls("skill_load s0")
		body := where(c.view())
		turn := func() core.View {
			c.answer("done")
			c.say(core.User, fmt.Sprint("next ", len(c.messages)))
			if err := c.runtime.Refresh(c.ctx); err != nil {
				t.Fatal(err)
			}
			c.view()
			v, err := c.runtime.Prepare(c.ctx, core.Request{Key: c.key, Messages: c.messages})
			if err != nil || v.NoSkills {
				t.Errorf("NoSkills %v, %v", v.NoSkills, err)
			}
			return v
		}
		w.describe("s0")
		turn()
		w.remove("s0")
		same(t, "shown", where(turn().Messages), body...)
		c.messages = c.messages[len(c.messages)-1:] // with the notes
		turn()
	})
}

// A note of the catalog's change that the host has cut from its history is not
// told again, so the next turn gets an overview that has it.
func TestCutNoteRenewsTheOverview(t *testing.T) {
	w := newWorld(2)
	c := newChat(t, open(t, w.files)).say(core.User, "one")
	c.answer("done")
	w.add("s9")
	if err := c.runtime.Refresh(c.ctx); err != nil {
		t.Fatal(err)
	}
	c.say(core.User, "two")
	if view := c.view(); strings.Contains(view[0].Text, "s9") || strings.Count(view[3].Added, "s9") != 1 {
		t.Errorf("view %s", shown(view))
	}
	c.answer("done")
	c.messages = c.messages[3:]
	c.say(core.User, "three")
	if view := c.view(); strings.Count(shown(view), "s9") != 1 || !strings.Contains(view[0].Text, "s9") {
		t.Errorf("view %s", shown(view))
	}
}

// forgetful loses pins.
type forgetful struct{ session.Store }

func (forgetful) Pinned(_ context.Context, _, digest string) (string, error) {
	return "", fmt.Errorf("%w: %s", session.ErrNotPinned, digest)
}

func TestLostPins(t *testing.T) {
	w, store := newWorld(2), session.NewMemory()
	c := newChat(t, open(t, w.files, satchel.WithStore(store), satchel.WithLoadMode(loadmode.Session))).say(core.User, "one")
	c.calls("skill_load s0")
	c.answer("done")
	c.runtime = open(t, w.files, satchel.WithStore(forgetful{store}), satchel.WithLoadMode(loadmode.Session))
	w.describe("s1")
	if err := c.runtime.Refresh(c.ctx); err != nil {
		t.Fatal(err)
	}
	c.say(core.User, "two")
	view := c.view()
	if !strings.Contains(view[0].Text, "Purpose 2 of it.") || strings.Contains(shown(view), "<skills_changed>") {
		t.Errorf("the overview is %s", view[0].Text)
	}
	if !strings.Contains(view[3].Added, "Load it again") {
		t.Errorf("the lost body is %q", view[3].Added)
	}
}

// What a newer text supersedes stays in the message for content without a
// place until a break, because it stands before the whole history.
func TestSupersededFallbackStays(t *testing.T) {
	w := newWorld(2)
	c := newChat(t, open(t, w.files)).say(core.User, "hi")
	c.calls("skill_load s0", "skill_load s1")
	c.messages = nil
	c.say(core.Assistant, "…")
	before := c.view()
	w.editBody("s0")
	c.calls("skill_load s0")
	after := c.view()
	if !reflect.DeepEqual(after[:len(before)], before) {
		t.Errorf("the view was\n%s\nand is\n%s", shown(before), shown(after))
	}
	c.calls("skill_unload s1")
	same(t, "shown", where(c.view()), "2: "+bodyMark("s0", w.skills["s0"].body))
}

func TestInSystemShowsNewestTextsOnly(t *testing.T) {
	w := newWorld(1)
	c := newChat(t, open(t, w.files, satchel.WithPlacement(processors.InSystem))).say(core.User, "hi")
	c.calls(`skill_load {"skill":"s0","docs":["d0.md","d1.md"]}`)
	w.editDoc("s0", "d0.md")
	c.calls(`skill_select_docs {"skill":"s0","docs":["d0.md"],"mode":"add"}`)
	s := w.skills["s0"]
	same(t, "shown", where(c.view()), "inserted: "+strings.Join([]string{
		bodyMark("s0", s.body), docMark("s0", "d1.md", s.docs["d1.md"]), docMark("s0", "d0.md", s.docs["d0.md"])}, " "))
}

// Equal messages of the user are told apart in a history that was cut.
func TestNotesStayAtTheirMessage(t *testing.T) {
	w := newWorld(2)
	c := newChat(t, open(t, w.files))
	for i, text := range []string{"first", "go on", "go on", "go on", "other"} {
		if i == 2 {
			w.describe("s0")
			if err := c.runtime.Refresh(c.ctx); err != nil {
				t.Fatal(err)
			}
		}
		if i == 3 {
			c.messages = c.messages[2:]
		}
		c.say(core.User, text)
		for at, m := range c.view()[1:] {
			want := i == 2 && at == 4 || i > 2 && at == 2
			if got := strings.Contains(m.Added, "<skills_changed>"); got != want {
				t.Errorf("turn %d, message %d has a note: %v, want %v", i, at, got, want)
			}
		}
		c.answer("done")
	}
}

// Loads that the host declares evict without a receipt. A record that is built
// from a transcript has no more skills than the cap all the same.
func TestRebuiltRecordKeepsTheCap(t *testing.T) {
	w := newWorld(3)
	opts := []satchel.Option{satchel.WithMaxLoaded(1), satchel.WithLoadMode(loadmode.Session)}
	c := newChat(t, open(t, w.files, opts...)).say(core.User, "hi")
	c.calls("skill_load s0")
	c.answer("done")
	c.say(core.User, "next")
	c.ctx = satchel.WithLoads(c.ctx, satchel.Load{Skill: "s1"})
	c.view()
	c.ctx = t.Context()
	c.calls("skill_unload s1")
	c.calls("skill_load s2")
	same(t, "loaded", c.loadedNames(), "s2[]")
	c.runtime = open(t, w.files, opts...)
	c.view()
	same(t, "loaded", c.loadedNames(), "s2[]")
}

// Where a turn is not one message of the user, content that the host declared
// stays where it was all the same.
func TestTurnWithoutMessage(t *testing.T) {
	w := newWorld(1)
	c := newChat(t, open(t, w.files, satchel.WithLoadMode(loadmode.Session))).say(core.User, "go on")
	for i, ctx := range []context.Context{satchel.WithLoads(c.ctx, satchel.Load{Skill: "s0"}), c.ctx, c.ctx} {
		c.ctx = satchel.BeginTurn(ctx, fmt.Sprint("approval ", i))
		same(t, "shown", where(c.view()), "0: "+bodyMark("s0", w.skills["s0"].body))
		c.calls("search x")
	}
}

// Loads are declared once more where the store was lost in the middle of a turn;
// in mode once the model has had its showing of them.
func TestOnceIsOnceAfterALoss(t *testing.T) {
	for _, placement := range []processors.Placement{processors.InToolResult, processors.InSystem} {
		w := newWorld(1)
		opts := []satchel.Option{satchel.WithLoadMode(loadmode.Once), satchel.WithPlacement(placement)}
		c := newChat(t, open(t, w.files, opts...)).say(core.User, "hi")
		c.ctx = satchel.WithLoads(c.ctx, satchel.Load{Skill: "s0"})
		if got := where(c.view()); len(got) != 1 {
			t.Errorf("placement %d: shown are %q", placement, got)
		}
		c.calls("search x")
		c.runtime = open(t, w.files, opts...)
		same(t, "shown", where(c.view()))
		same(t, "loaded", c.loadedNames(), "s0[]")
	}
}
