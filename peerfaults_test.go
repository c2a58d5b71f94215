package satchel_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// These tests are named after faults that other implementations have.

func TestUnloadedSkillsDoNotComeBack(t *testing.T) {
	t.Run("unloaded", func(t *testing.T) {
		c := newChat(t, open(t, newWorld(3).files)).say(core.User, "hi")
		c.calls(`skill_load {"skills":["s0","s1"]}`, `skill_unload s0`)
		same(t, "shown", where(c.view()), "2: {body s1 v12}")
	})
	t.Run("evicted", func(t *testing.T) {
		w := newWorld(3)
		c := newChat(t, open(t, w.files, satchel.WithMaxLoaded(1))).say(core.User, "hi")
		c.calls("skill_load s0")
		c.calls("skill_load s1")
		c.calls("skill_load s2")
		same(t, "shown", where(c.view()), "6: "+bodyMark("s2", w.skills["s2"].body))
	})
	t.Run("ended with the turn", func(t *testing.T) {
		c := newChat(t, open(t, newWorld(3).files)).say(core.User, "hi")
		c.calls("skill_load s0")
		c.answer("done")
		c.say(core.User, "and now?")
		same(t, "shown", where(c.view()))
		c.calls("skill_list_docs s0")
		same(t, "shown", where(c.view()))
	})
	t.Run("never loaded", func(t *testing.T) {
		c := newChat(t, open(t, newWorld(3).files)).say(core.User, "hi")
		for _, answer := range c.calls("skill_load s7", `skill_load {"skill":`, `skill_select_docs {"skill":"s0","docs":["d0.md"]}`) {
			if !strings.HasPrefix(answer, "error: ") {
				t.Errorf("answer %q", answer)
			}
		}
		same(t, "shown", where(c.view()))
		same(t, "loaded", c.loadedNames())
	})
}

func TestQuotedResultsLoseNoContent(t *testing.T) {
	w := newWorld(2)
	c := newChat(t, open(t, w.files)).say(core.User, "hi")
	if got := c.calls("skill_load s0")[0]; !strings.HasPrefix(got, "loaded: s0\n[skill#1 +s0@") {
		t.Errorf("the answer %q is not plain text", got)
	}
	quoted, err := json.Marshal(c.messages[2].Text)
	if err != nil {
		t.Fatal(err)
	}
	c.messages[2].Text = string(quoted)
	same(t, "shown", where(c.view()), "inserted: "+bodyMark("s0", w.skills["s0"].body))
}

func TestOnceStillReads(t *testing.T) {
	for name, mode := range map[string]loadmode.Mode{"once": loadmode.Once, "turn": loadmode.Turn} {
		t.Run(name, func(t *testing.T) {
			c := newChat(t, open(t, newWorld(2).files, satchel.WithLoadMode(mode))).say(core.User, "hi")
			answers := c.calls("skill_load s0", "skill_read data.csv")
			answers = append(answers, c.calls("skill_read data.csv")...)
			for _, a := range answers[1:] {
				if !strings.HasPrefix(a, "data.csv, lines 1 to 2") {
					t.Errorf("answer %q", a)
				}
			}
		})
	}
	t.Run("load and read at once", func(t *testing.T) {
		c := newChat(t, open(t, newWorld(2).files, satchel.WithLoadMode(loadmode.Once))).say(core.User, "hi")
		calls := c.respond("skill_load s0", "skill_read data.csv")
		read := make(chan string)
		go func() {
			answer, err := c.runtime.CallTool(c.ctx, c.key, calls[1])
			read <- fmt.Sprint(answer, err)
		}()
		c.execute(calls[0])
		if got := <-read; !strings.HasPrefix(got, "data.csv, lines 1 to 2") {
			t.Errorf("read answers %q", got)
		}
	})
}

func TestRemovedSkillBreaksNothing(t *testing.T) {
	w := newWorld(3)
	c := newChat(t, open(t, w.files, satchel.WithLoadMode(loadmode.Session))).say(core.User, "hi")
	c.calls("skill_load s0", "skill_load s1")
	body := bodyMark("s0", w.skills["s0"].body) // pinned
	w.remove("s0")
	if err := c.runtime.Refresh(c.ctx); err != nil {
		t.Fatal(err)
	}
	c.answer("done")
	c.say(core.User, "next")
	if got := where(c.view()); len(got) != 2 || got[0] != "2: "+body {
		t.Errorf("shown are %q", got)
	}
	answers := c.calls("skill_load s0", "skill_read data.csv", `skill_read {"skill":"s0","path":"data.csv"}`, "skill_unload s0", "skill_load s2")
	for i, want := range []string{"error: unknown skill", "data.csv, lines 1", "error: ", "unloaded: s0", "loaded: s2"} {
		if !strings.HasPrefix(answers[i], want) {
			t.Errorf("call %d answers %q, want %q…", i, answers[i], want)
		}
	}
}

func TestHostTextIsLeftAlone(t *testing.T) {
	texts := []string{
		"Available skills: a, b", "Loaded skill context:", "Loaded skill context:\n\n<skill name=\"s0\">",
		"<available_skills>\n</available_skills>", "<active_skills>", "{{.Name}} {x} {{range}}", "[skill#1 +s0@000000000000(d0.md)]", "",
	}
	for _, placement := range []processors.Placement{processors.InToolResult, processors.InSystem} {
		for _, text := range texts {
			t.Run(fmt.Sprint(placement, " ", text), func(t *testing.T) {
				w := newWorld(2)
				c := newChat(t, open(t, w.files, satchel.WithPlacement(placement)))
				c.say(core.System, text).say(core.User, text)
				c.calls("skill_load s0", "search x")
				c.messages[len(c.messages)-1].Text = text
				view := c.view()
				for i, m := range view {
					if own := m.Text[:len(m.Text)-len(m.Added)]; own != c.messages[i].Text {
						t.Errorf("message %d is %q, was %q", i, own, c.messages[i].Text)
					}
				}
				if n := strings.Count(view[0].Added, "<available_skills>"); n != 1 {
					t.Errorf("%d overviews", n)
				}
				if got := where(view); len(got) != 1 || strings.Count(got[0], bodyMark("s0", w.skills["s0"].body)) != 1 {
					t.Errorf("shown are %q", got)
				}
			})
		}
	}
}

func TestOverviewShowsParsedDescriptions(t *testing.T) {
	r := open(t, fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: \"a\"\ndescription: \"Fills <forms> & 'more'\n  on two lines\"\nmetadata:\n  name: other\n  description: Another.\n---\nBody\n")}})
	c := newChat(t, r).say(core.User, "hi")
	if text := c.view()[0].Text; !strings.Contains(text, "<skill><name>a</name><description>Fills &lt;forms&gt; &amp; 'more' on two lines</description></skill>") {
		t.Errorf("overview %s", text)
	}
}

func TestOverviewDoesNotDependOnTheQuestion(t *testing.T) {
	r := open(t, newWorld(5).files)
	texts := map[string]bool{}
	for i, question := range []string{"s4?", "purpose 1", "ファイル", ""} {
		c := newChat(t, r).say(core.User, question)
		c.key.Session = fmt.Sprint(i)
		texts[c.view()[0].Text] = true
	}
	if len(texts) != 1 {
		t.Errorf("%d overviews", len(texts))
	}
}

func TestRepeatedCallIDs(t *testing.T) {
	w := newWorld(3)
	mark := func(name string) string { return bodyMark(name, w.skills[name].body) }
	t.Run("in every response", func(t *testing.T) {
		c := newChat(t, open(t, w.files)).say(core.User, "hi")
		for _, name := range []string{"s2", "s0", "s1"} {
			c.ids = 0
			c.calls("skill_load " + name)
		}
		for i := range c.messages {
			c.messages[i].Tool = ""
		}
		same(t, "shown", where(c.view()), "2: "+mark("s2"), "4: "+mark("s0"), "6: "+mark("s1"))
	})
	t.Run("in one response, executed backwards", func(t *testing.T) {
		c := newChat(t, open(t, w.files)).say(core.User, "hi")
		c.view()
		calls := []core.ToolCall{{ID: "x", Name: "skill_load", Arguments: "s0"}, {ID: "x", Name: "skill_load", Arguments: "s1"}}
		c.observe(calls)
		answers := inOrder(t, c, calls, []int{1, 0})
		for i, want := range []string{"loaded: s0\n[skill#1 ", "loaded: s1\n[skill#2 "} {
			if !strings.HasPrefix(answers[i], want) {
				t.Errorf("call %d answers %q", i, answers[i])
			}
		}
	})
}

func TestSelectedDocsAreWhatWasAskedFor(t *testing.T) {
	c := newChat(t, open(t, newWorld(2).files)).say(core.User, "hi")
	answers := c.calls("skill_load s0",
		`skill_select_docs {"skill":"s0","docs":["d2.md","./d0.md"]}`,
		`skill_select_docs {"skill":"s0","docs":["d1.md","nope.md"],"mode":"add"}`,
		`skill_select_docs {"skill":"s1","docs":["d1.md"]}`)
	for i, want := range []string{"loaded: s0\n", "docs of s0: d2.md, d0.md\n", `error: skill "s0" has no doc "nope.md"`, `error: skill "s1" is not loaded`} {
		if !strings.HasPrefix(answers[i], want) {
			t.Errorf("call %d answers %q, want %q…", i, answers[i], want)
		}
	}
	same(t, "loaded", c.loadedNames(), "s0[d2.md d0.md]")
}

func TestSummaryDoesNotLoseLoadedSkills(t *testing.T) {
	for rule, want := range map[processors.SummaryRule]bool{processors.SummaryAuto: true, processors.SummaryAttach: true, processors.SummarySkip: false} {
		t.Run(fmt.Sprint(rule), func(t *testing.T) {
			w := newWorld(2)
			c := newChat(t, open(t, w.files, satchel.WithSummaryRule(rule))).say(core.User, "hi")
			c.calls("skill_load s0")
			c.messages = c.messages[:1]
			c.ctx = satchel.WithSummary(c.ctx)
			if got := len(where(c.view())) == 1; got != want {
				t.Errorf("shown: %v, want %v", got, want)
			}
			// What the request does not show must not be said to be in view.
			answer := c.calls("skill_load s0")[0]
			if strings.HasPrefix(answer, "already") != want {
				t.Errorf("loaded again, answers %q", answer)
			}
			if got := where(c.view()); len(got) != 1 {
				t.Errorf("shown are %q", got)
			}
		})
	}
}

func TestNamesDoNotCollide(t *testing.T) {
	r := open(t, newWorld(4).files)
	keys := []core.SessionKey{{Session: "s", Agent: "a/b"}, {Session: "s", Agent: "a%2Fb"}, {Session: "s/a", Agent: "b"}, {Session: "s", Agent: ""}}
	for i, key := range keys {
		c := newChat(t, r).say(core.User, "hi")
		c.key = key
		c.calls(fmt.Sprintf("skill_load s%d", i))
	}
	for i, key := range keys {
		c := newChat(t, r)
		c.key = key
		same(t, "loaded", c.loadedNames(), fmt.Sprintf("s%d[]", i))
	}
}

func TestRecordsDoNotGrow(t *testing.T) {
	store := session.NewMemory()
	r := open(t, newWorld(3).files, satchel.WithStore(store), satchel.WithLoadMode(loadmode.Session))
	c := newChat(t, r)
	size := func() int {
		rec, err := store.Load(t.Context(), c.key)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		return len(data)
	}
	var first int
	for turn := range 200 {
		c.messages = nil
		c.say(core.User, fmt.Sprint("turn ", turn))
		c.calls(`skill_load {"skill":"s0","include_all_docs":true}`, `skill_select_docs {"skill":"s0","docs":["d0.md"]}`, `skill_unload {"all":true}`)
		c.answer("done")
		if turn == 0 {
			first = size()
		}
	}
	if last := size(); last > first+40 {
		t.Errorf("the record has %d bytes, after the first turn %d", last, first)
	}
}
