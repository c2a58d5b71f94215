package conversation_test

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
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

func TestToolsAreConstant(t *testing.T) {
	for _, profile := range []tools.Profile{tools.Full, tools.KnowledgeOnly} {
		t.Run(string(profile), func(t *testing.T) {
			w := chattest.NewWorld(4)
			r := chattest.Open(t, w.Files, satchel.WithTools(satchel.Tools{Profile: profile}))
			first, err := json.Marshal(r.Tools())
			if err != nil {
				t.Fatal(err)
			}
			c := chattest.NewChat(t, r).Say(core.User, "hi")
			c.Calls("skill_load s0", "skill_load s1")
			w.Add("s9")
			if err := r.Refresh(c.Context); err != nil {
				t.Fatal(err)
			}
			c.Say(core.User, "next")
			c.View()
			last, err := json.Marshal(r.Tools())
			if err != nil || string(last) != string(first) {
				t.Errorf("tools were\n%s\nand are\n%s, %v", first, last, err)
			}
			for name := range w.Skills {
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
		r := chattest.Open(t, fstest.MapFS{})
		check(t, r, "s")
		if len(r.Tools()) == 0 || !r.Hooks().Owns("skill_load") {
			t.Error("an agent that is built now has no tools for sessions that will see skills")
		}
		if text := r.Hooks().UnknownTool("x"); strings.Contains(text, "skill_") {
			t.Errorf("a tool that no session is offered is named: %s", text)
		}
	})
	t.Run("the first skill comes later", func(t *testing.T) {
		w := chattest.NewWorld(0)
		w.Write("empty", "")
		r := chattest.Open(t, w.Files)
		check(t, r, "old")
		w.Add("s0")
		if err := r.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(t, r, "old")
		c := chattest.NewChat(t, r).Say(core.User, "hi")
		if view := c.View(); !strings.Contains(view[0].Text, "<available_skills>") {
			t.Errorf("view of a new session: %s", chattest.Shown(view))
		}
		c.Calls("skill_load s0")
		chattest.Same(t, "loaded", c.LoadedNames(), "s0[]")
	})
	t.Run("the host loads a hidden one", func(t *testing.T) {
		r := chattest.Open(t, fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: Hidden.\ndisable-model-invocation: true\n---\nDo it.\n")}})
		check(t, r, "without")
		ctx := satchel.WithLoads(t.Context(), satchel.Load{Skill: "a"})
		v, err := r.Prepare(ctx, core.Request{Key: core.SessionKey{Session: "with"}, Messages: messages})
		if err != nil || !v.NoSkills || len(v.Messages) != 2 || v.Messages[0].Added != "" || !strings.Contains(v.Messages[1].Added, "Do it.") {
			t.Errorf("view %+v, %v", v, err)
		}
	})
	t.Run("the last skill goes", func(t *testing.T) {
		w := chattest.NewWorld(1)
		c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))).Say(core.User, "hi")
		c.Calls("skill_load s0")
		body := chattest.Where(c.View())
		turn := func() core.View {
			c.Answer("done")
			c.Say(core.User, fmt.Sprint("next ", len(c.Messages)))
			if err := c.Runtime.Refresh(c.Context); err != nil {
				t.Fatal(err)
			}
			c.View()
			v, err := c.Runtime.Prepare(c.Context, core.Request{Key: c.Key, Messages: c.Messages})
			if err != nil || v.NoSkills {
				t.Errorf("NoSkills %v, %v", v.NoSkills, err)
			}
			return v
		}
		w.Describe("s0")
		turn()
		w.Remove("s0")
		chattest.Same(t, "shown", chattest.Where(turn().Messages), body...)
		c.Messages = c.Messages[len(c.Messages)-1:] // keeps only the last message, which carries the notes
		turn()
	})
}

// A note of the catalog's change that the host has cut from its history is not
// told again, so the next turn gets an overview that has it.
func TestCutNoteRenewsTheOverview(t *testing.T) {
	w := chattest.NewWorld(2)
	c := chattest.NewChat(t, chattest.Open(t, w.Files)).Say(core.User, "one")
	c.Answer("done")
	w.Add("s9")
	if err := c.Runtime.Refresh(c.Context); err != nil {
		t.Fatal(err)
	}
	c.Say(core.User, "two")
	if view := c.View(); strings.Contains(view[0].Text, "s9") || strings.Count(view[3].Added, "s9") != 1 {
		t.Errorf("view %s", chattest.Shown(view))
	}
	c.Answer("done")
	c.Messages = c.Messages[3:]
	c.Say(core.User, "three")
	if view := c.View(); strings.Count(chattest.Shown(view), "s9") != 1 || !strings.Contains(view[0].Text, "s9") {
		t.Errorf("view %s", chattest.Shown(view))
	}
}

// lossyStore loses pins.
type lossyStore struct{ session.Store }

func (lossyStore) Pinned(_ context.Context, _, digest string) (string, error) {
	return "", fmt.Errorf("%w: %s", session.ErrNotPinned, digest)
}

func TestLostPins(t *testing.T) {
	w, store := chattest.NewWorld(2), session.NewMemory()
	c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))).Say(core.User, "one")
	c.Calls("skill_load s0")
	c.Answer("done")
	c.Runtime = chattest.Open(t, w.Files, satchel.WithStore(lossyStore{store}), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
	w.Describe("s1")
	if err := c.Runtime.Refresh(c.Context); err != nil {
		t.Fatal(err)
	}
	c.Say(core.User, "two")
	view := c.View()
	if !strings.Contains(view[0].Text, "Purpose 2 of it.") || strings.Contains(chattest.Shown(view), "<skills_changed>") {
		t.Errorf("the overview is %s", view[0].Text)
	}
	if !strings.Contains(view[3].Added, "Load it again") {
		t.Errorf("the lost body is %q", view[3].Added)
	}
}

// What a newer text supersedes stays in the message for content without a
// place until a break, because it stands before the whole history.
func TestSupersededFallbackStays(t *testing.T) {
	w := chattest.NewWorld(2)
	c := chattest.NewChat(t, chattest.Open(t, w.Files)).Say(core.User, "hi")
	c.Calls("skill_load s0", "skill_load s1")
	c.Messages = nil
	c.Say(core.Assistant, "…")
	before := c.View()
	w.EditBody("s0")
	c.Calls("skill_load s0")
	after := c.View()
	if !reflect.DeepEqual(after[:len(before)], before) {
		t.Errorf("the view was\n%s\nand is\n%s", chattest.Shown(before), chattest.Shown(after))
	}
	c.Calls("skill_unload s1")
	chattest.Same(t, "shown", chattest.Where(c.View()), "2: "+chattest.BodyMark("s0", w.Skills["s0"].Body))
}

func TestInSystemShowsNewestTextsOnly(t *testing.T) {
	w := chattest.NewWorld(1)
	c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithLoading(satchel.Loading{Placement: processors.InSystem}))).Say(core.User, "hi")
	c.Calls(`skill_load {"skill":"s0","docs":["d0.md","d1.md"]}`)
	w.EditDoc("s0", "d0.md")
	c.Calls(`skill_select_docs {"skill":"s0","docs":["d0.md"],"mode":"add"}`)
	s := w.Skills["s0"]
	chattest.Same(t, "shown", chattest.Where(c.View()), "inserted: "+strings.Join([]string{
		chattest.BodyMark("s0", s.Body), chattest.DocMark("s0", "d1.md", s.Docs["d1.md"]), chattest.DocMark("s0", "d0.md", s.Docs["d0.md"])}, " "))
}

// Equal messages of the user are distinguished in a history that was cut.
func TestNotesStayAtTheirMessage(t *testing.T) {
	w := chattest.NewWorld(2)
	c := chattest.NewChat(t, chattest.Open(t, w.Files))
	for i, text := range []string{"first", "go on", "go on", "go on", "other"} {
		if i == 2 {
			w.Describe("s0")
			if err := c.Runtime.Refresh(c.Context); err != nil {
				t.Fatal(err)
			}
		}
		if i == 3 {
			c.Messages = c.Messages[2:]
		}
		c.Say(core.User, text)
		for at, m := range c.View()[1:] {
			want := i == 2 && at == 4 || i > 2 && at == 2
			if got := strings.Contains(m.Added, "<skills_changed>"); got != want {
				t.Errorf("turn %d, message %d has a note: %v, want %v", i, at, got, want)
			}
		}
		c.Answer("done")
	}
}

// Loads that the host declares evict without a receipt. A record that is built
// from a transcript has no more skills than the cap all the same.
func TestRebuiltRecordKeepsTheCap(t *testing.T) {
	w := chattest.NewWorld(3)
	opts := []satchel.Option{satchel.WithLoading(satchel.Loading{Max: 1, Mode: loadmode.Session})}
	c := chattest.NewChat(t, chattest.Open(t, w.Files, opts...)).Say(core.User, "hi")
	c.Calls("skill_load s0")
	c.Answer("done")
	c.Say(core.User, "next")
	c.Context = satchel.WithLoads(c.Context, satchel.Load{Skill: "s1"})
	c.View()
	c.Context = t.Context()
	c.Calls("skill_unload s1")
	c.Calls("skill_load s2")
	chattest.Same(t, "loaded", c.LoadedNames(), "s2[]")
	c.Runtime = chattest.Open(t, w.Files, opts...)
	c.View()
	chattest.Same(t, "loaded", c.LoadedNames(), "s2[]")
}

// The host chooses which skill makes room: here the one that was loaded last.
func TestVictim(t *testing.T) {
	last := func(loaded []loadmode.Candidate) string { return loaded[len(loaded)-1].Skill }
	for _, tc := range []struct {
		victim loadmode.Victim
		loaded []string
	}{{last, []string{"s0[]", "s2[]"}}, {nil, []string{"s1[]", "s2[]"}}} {
		r := chattest.Open(t, chattest.NewWorld(3).Files, satchel.WithLoading(satchel.Loading{Max: 2, Victim: tc.victim}))
		c := chattest.NewChat(t, r).Say(core.User, "hi")
		for _, skill := range []string{"s0", "s1", "s2"} {
			c.Calls("skill_load " + skill)
		}
		chattest.Same(t, "loaded", c.LoadedNames(), tc.loaded...)
	}
}

// Where a turn is not one message of the user, content that the host declared
// stays where it was all the same.
func TestTurnWithoutMessage(t *testing.T) {
	w := chattest.NewWorld(1)
	c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))).Say(core.User, "go on")
	for i, ctx := range []context.Context{satchel.WithLoads(c.Context, satchel.Load{Skill: "s0"}), c.Context, c.Context} {
		c.Context = satchel.BeginTurn(ctx, fmt.Sprint("approval ", i))
		chattest.Same(t, "shown", chattest.Where(c.View()), "0: "+chattest.BodyMark("s0", w.Skills["s0"].Body))
		c.Calls("search x")
	}
}

// Loads are declared once more where the store was lost in the middle of a turn;
// in mode once the model has had its showing of them.
func TestOnceIsOnceAfterALoss(t *testing.T) {
	for _, placement := range []processors.Placement{processors.InToolResult, processors.InSystem} {
		w := chattest.NewWorld(1)
		opts := []satchel.Option{satchel.WithLoading(satchel.Loading{Mode: loadmode.Once, Placement: placement})}
		c := chattest.NewChat(t, chattest.Open(t, w.Files, opts...)).Say(core.User, "hi")
		c.Context = satchel.WithLoads(c.Context, satchel.Load{Skill: "s0"})
		if got := chattest.Where(c.View()); len(got) != 1 {
			t.Errorf("placement %d: shown are %q", placement, got)
		}
		c.Calls("search x")
		c.Runtime = chattest.Open(t, w.Files, opts...)
		chattest.Same(t, "shown", chattest.Where(c.View()))
		chattest.Same(t, "loaded", c.LoadedNames(), "s0[]")
	}
}
