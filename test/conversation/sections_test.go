package conversation_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// writeManual gives s0 a doc with three sections, whose marks have the edition. Parts beyond the
// first two can be left out.
func writeManual(w *chattest.World, edition, parts int) {
	text := "# Manual\n" + chattest.DocMark("s0", "manual.md", edition) + "\n"
	for i := range parts {
		text += fmt.Sprintf("## Part %d\n%s\n### Detail\n%s\n", i, chattest.DocMark("s0", fmt.Sprintf("part%d", i), edition), strings.Repeat("word ", 20))
	}
	w.Write("s0/manual.md", text)
}

func manual(edition, parts int) string {
	marks := chattest.DocMark("s0", "manual.md", edition)
	for i := range parts {
		marks += " " + chattest.DocMark("s0", fmt.Sprintf("part%d", i), edition)
	}
	return marks
}

func part(i, edition int) string { return chattest.DocMark("s0", fmt.Sprintf("part%d", i), edition) }

// sectionsView returns the marks of the docs in a view, and fails if preparing it again gives
// another one.
func sectionsView(t *testing.T, c *chattest.Chat) []string {
	t.Helper()
	view := c.View()
	if again := c.View(); !reflect.DeepEqual(view, again) {
		t.Errorf("the same request has two views:\n%s\n%s", chattest.Shown(view), chattest.Shown(again))
	}
	var where []string
	for _, line := range chattest.Where(view) {
		where = append(where, strings.ReplaceAll(line, chattest.BodyMark("s0", 2)+" ", ""))
	}
	return where
}

// extends fails the test if last is no prefix of the view of c, and returns that view.
func extends(t *testing.T, c *chattest.Chat, last []core.Message) []core.Message {
	t.Helper()
	view := c.View()
	for i, m := range last {
		if i >= len(view) || view[i].Text != m.Text {
			t.Fatalf("message %d has changed:\n%s\nwas\n%s", i, chattest.Shown(view), chattest.Shown(last))
		}
	}
	return view
}

// A section stays at the call that selected it. Its doc supersedes it, without a break.
func TestSectionsInResults(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Turn, loadmode.Session} {
		t.Run(mode.String(), func(t *testing.T) {
			w := chattest.NewWorld(2)
			writeManual(w, 1, 3)
			store := session.NewMemory()
			start := func() *satchel.Runtime {
				return chattest.Open(t, w.Files, satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Mode: mode}))
			}
			c := chattest.NewChat(t, start()).Say(core.User, "one")
			c.Calls(`skill_load {"skill":"s0","docs":["manual.md#Part 1"]}`)
			chattest.Same(t, "after the load", sectionsView(t, c), "2: "+part(1, 1))
			last := extends(t, c, nil)
			c.Calls(`skill_select_docs {"skill":"s0","docs":["manual.md#part-0"],"mode":"add"}`)
			last = extends(t, c, last)
			chattest.Same(t, "after the second section", sectionsView(t, c), "2: "+part(1, 1), "4: "+part(0, 1))
			answers := c.Calls(`skill_select_docs {"skill":"s0","docs":["manual.md#nope"]}`)
			if !strings.Contains(answers[0], `has no heading "nope"`) {
				t.Errorf("answer %q", answers[0])
			}
			last = extends(t, c, last)
			c.Calls(`skill_select_docs {"skill":"s0","docs":["manual.md"]}`)
			last = extends(t, c, last)
			chattest.Same(t, "after the doc", sectionsView(t, c), "2: "+part(1, 1), "4: "+part(0, 1), "8: "+manual(1, 3))
			if added := last[len(last)-1].Added; !strings.Contains(added, "This supersedes the earlier texts of the same docs.") {
				t.Errorf("the doc does not say what it supersedes: %s", added)
			}
			chattest.Same(t, "loaded", c.LoadedNames(), "s0[manual.md]")
			answers = c.Calls(`skill_select_docs {"skill":"s0","docs":["manual.md#part 2"],"mode":"add"}`)
			if !strings.HasPrefix(answers[0], "docs of s0: manual.md\nin view already: manual.md#part-2\n") {
				t.Errorf("answer %q", answers[0])
			}
			last = extends(t, c, last)
			c.Runtime = start()
			last = extends(t, c, last)
			c.Answer("done")
			c.Say(core.User, "two")
			if mode == loadmode.Turn {
				return
			}
			extends(t, c, last)
			chattest.Same(t, "in the next turn", sectionsView(t, c), "2: "+part(1, 1), "4: "+part(0, 1), "8: "+manual(1, 3))
		})
	}
}

// In the system text a superseded section is not shown.
func TestSectionsInSystem(t *testing.T) {
	w := chattest.NewWorld(1)
	writeManual(w, 1, 3)
	c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithLoading(satchel.Loading{Placement: processors.InSystem})))
	c.Say(core.System, "You help.").Say(core.User, "one")
	c.Calls(`skill_load {"skill":"s0","docs":["manual.md#part-1","manual.md#Part 0"]}`)
	chattest.Same(t, "after the load", sectionsView(t, c), "0: "+part(1, 1)+" "+part(0, 1))
	c.Calls(`skill_select_docs {"skill":"s0","docs":["manual.md"],"mode":"add"}`)
	chattest.Same(t, "after the doc", sectionsView(t, c), "0: "+manual(1, 3))
	c.Calls(`skill_select_docs {"skill":"s0","docs":["manual.md#part-1"]}`)
	chattest.Same(t, "after the section", sectionsView(t, c), "0: "+manual(1, 3))
	c.Calls(`skill_select_docs {"skill":"s0","mode":"clear"}`)
	chattest.Same(t, "after the end", sectionsView(t, c), "0: "+chattest.BodyMark("s0", 2))
}

// A lost record is rebuilt from the receipts. Sections have the present text, and those that an
// edit has removed are left out.
func TestRebuiltSections(t *testing.T) {
	for _, tt := range []struct {
		name  string
		calls []string
		parts int // number of parts after the edit
		want  []string
	}{
		{"sections", []string{`skill_select_docs {"skill":"s0","docs":["manual.md#Part 1","manual.md#part-0"]}`}, 2,
			[]string{"4: " + part(1, 2) + " " + part(0, 2)}},
		{"one is gone", []string{`skill_select_docs {"skill":"s0","docs":["manual.md#Part 2","manual.md#part-0"]}`}, 2,
			[]string{"4: " + part(0, 2)}},
		{"the doc supersedes", []string{`skill_select_docs {"skill":"s0","docs":["manual.md#Part 1"]}`, `skill_select_docs {"skill":"s0","docs":["manual.md"],"mode":"add"}`}, 2,
			[]string{"6: " + manual(2, 2)}},
		{"in view with the doc", []string{`skill_select_docs {"skill":"s0","docs":["manual.md"]}`, `skill_select_docs {"skill":"s0","docs":["manual.md#part 1"]}`}, 3,
			[]string{"4: " + manual(2, 3)}},
		{"with the load", []string{`skill_load {"skill":"s0","docs":["manual.md#PART 1"]}`, `skill_load {"skill":"s0","docs":["manual.md"]}`}, 2,
			[]string{"6: " + manual(2, 2)}},
	} {
		for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Session} {
			t.Run(fmt.Sprint(tt.name, "/", mode), func(t *testing.T) {
				w := chattest.NewWorld(1)
				writeManual(w, 1, 3)
				start := func() *satchel.Runtime {
					return chattest.Open(t, w.Files, satchel.WithStore(session.NewMemory()), satchel.WithLoading(satchel.Loading{Mode: mode}))
				}
				c := chattest.NewChat(t, start()).Say(core.User, "one")
				c.Calls(`skill_load {"skill":"s0"}`)
				for _, call := range tt.calls {
					c.Calls(call)
				}
				before := c.View()
				c.Runtime = start()
				if again := c.View(); len(tt.calls) == 1 && !reflect.DeepEqual(before, again) {
					t.Errorf("rebuilt view\n%s\nwant\n%s", chattest.Shown(again), chattest.Shown(before))
				}
				writeManual(w, 2, tt.parts)
				c.Runtime = start()
				want := append([]string{"2: " + chattest.BodyMark("s0", 2)}, tt.want...)
				chattest.Same(t, "rebuilt after an edit", sectionsView(t, c), want...)
			})
		}
	}
}

// The vocabulary of the runtime spec has no docs, and lists no sections.
func TestNoSectionsInRuntimeSpec(t *testing.T) {
	w := chattest.NewWorld(1)
	w.Write("s0/SKILL.md", "---\nname: s0\ndescription: Purpose.\n---\nRead [this](manual.md).\n")
	w.Write("s0/manual.md", "# Manual\n## One\n"+strings.Repeat("word ", 3000)+"\n## Two\n")
	for vocabulary, want := range map[string]bool{tools.RuntimeSpec: false, "": true} {
		r := chattest.Open(t, w.Files, satchel.WithTools(satchel.Tools{Vocabulary: tools.Vocabulary{Name: vocabulary}}),
			satchel.WithOverview(satchel.Overview{References: tools.ReferencesList}))
		c := chattest.NewChat(t, r).Say(core.User, "one")
		if want {
			c.Calls(`skill_load {"skill":"s0"}`)
		} else {
			c.Calls(`skills_load {"names":["s0"]}`)
		}
		if view := chattest.Shown(c.View()); strings.Contains(view, "manual.md#one") != want || !strings.Contains(view, "manual.md") {
			t.Errorf("vocabulary %q:\n%s", vocabulary, view)
		}
	}
}
