package conversation_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// These tests are named after faults that other implementations have.

func TestUnloadedSkillsDoNotComeBack(t *testing.T) {
	t.Run("unloaded", func(t *testing.T) {
		c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(3).Files)).Say(core.User, "hi")
		c.Calls(`skill_load {"skills":["s0","s1"]}`, `skill_unload s0`)
		chattest.Same(t, "shown", chattest.Where(c.View()), "2: {body s1 v12}")
	})
	t.Run("evicted", func(t *testing.T) {
		w := chattest.NewWorld(3)
		c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithLoading(satchel.Loading{Max: 1}))).Say(core.User, "hi")
		c.Calls("skill_load s0")
		c.Calls("skill_load s1")
		c.Calls("skill_load s2")
		chattest.Same(t, "loaded", c.LoadedNames(), "s2[]") // the texts of s0 and s1 may stay in view
		c = chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithLoading(satchel.Loading{Max: 1, Placement: processors.InSystem}))).Say(core.User, "hi")
		c.Calls("skill_load s0")
		c.Calls("skill_load s1")
		c.View()
		chattest.Same(t, "loaded", c.LoadedNames(), "s1[]")
	})
	t.Run("ended with the turn", func(t *testing.T) {
		c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(3).Files, satchel.WithLoading(satchel.Loading{Mode: loadmode.Turn}))).Say(core.User, "hi")
		c.Calls("skill_load s0")
		c.Answer("done")
		c.Say(core.User, "and now?")
		chattest.Same(t, "shown", chattest.Where(c.View()))
		c.Calls("skill_list_docs s0")
		chattest.Same(t, "shown", chattest.Where(c.View()))
	})
	t.Run("never loaded", func(t *testing.T) {
		c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(3).Files)).Say(core.User, "hi")
		for _, answer := range c.Calls("skill_load s7", `skill_load {"skill":`, `skill_select_docs {"skill":"s0","docs":["d0.md"]}`) {
			if !strings.HasPrefix(answer, "error: ") {
				t.Errorf("answer %q", answer)
			}
		}
		chattest.Same(t, "shown", chattest.Where(c.View()))
		chattest.Same(t, "loaded", c.LoadedNames())
	})
}

func TestQuotedResultsLoseNoContent(t *testing.T) {
	w := chattest.NewWorld(2)
	c := chattest.NewChat(t, chattest.Open(t, w.Files)).Say(core.User, "hi")
	if got := c.Calls("skill_load s0")[0]; !strings.HasPrefix(got, "loaded: s0\n[skill#1 +s0@") {
		t.Errorf("the answer %q is not plain text", got)
	}
	quoted, err := json.Marshal(c.Messages[2].Text)
	if err != nil {
		t.Fatal(err)
	}
	c.Messages[2].Text = string(quoted)
	chattest.Same(t, "shown", chattest.Where(c.View()), "inserted: "+chattest.BodyMark("s0", w.Skills["s0"].Body))
}

func TestOnceStillReads(t *testing.T) {
	for name, mode := range map[string]loadmode.Mode{"once": loadmode.Once, "turn": loadmode.Turn} {
		t.Run(name, func(t *testing.T) {
			c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(2).Files, satchel.WithLoading(satchel.Loading{Mode: mode}))).Say(core.User, "hi")
			answers := c.Calls("skill_load s0", "skill_read data.csv")
			answers = append(answers, c.Calls("skill_read data.csv")...)
			for _, a := range answers[1:] {
				if !strings.HasPrefix(a, "data.csv, lines 1 to 2") {
					t.Errorf("answer %q", a)
				}
			}
		})
	}
	t.Run("load and read at once", func(t *testing.T) {
		c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(2).Files, satchel.WithLoading(satchel.Loading{Mode: loadmode.Once}))).Say(core.User, "hi")
		calls := c.Respond("skill_load s0", "skill_read data.csv")
		read := make(chan string)
		go func() {
			answer, err := c.Runtime.CallTool(c.Context, c.Key, calls[1])
			read <- fmt.Sprint(answer, err)
		}()
		c.Execute(calls[0])
		if got := <-read; !strings.HasPrefix(got, "data.csv, lines 1 to 2") {
			t.Errorf("read answers %q", got)
		}
	})
}

func TestRemovedSkillBreaksNothing(t *testing.T) {
	w := chattest.NewWorld(3)
	c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))).Say(core.User, "hi")
	c.Calls("skill_load s0", "skill_load s1")
	body := chattest.BodyMark("s0", w.Skills["s0"].Body) // the text that is pinned
	w.Remove("s0")
	if err := c.Runtime.Refresh(c.Context); err != nil {
		t.Fatal(err)
	}
	c.Answer("done")
	c.Say(core.User, "next")
	if got := chattest.Where(c.View()); len(got) != 2 || got[0] != "2: "+body {
		t.Errorf("shown are %q", got)
	}
	answers := c.Calls("skill_load s0", "skill_read data.csv", `skill_read {"skill":"s0","path":"data.csv"}`, "skill_unload s0", "skill_load s2")
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
				w := chattest.NewWorld(2)
				c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithLoading(satchel.Loading{Placement: placement})))
				c.Say(core.System, text).Say(core.User, text)
				c.Calls("skill_load s0", "search x")
				c.Messages[len(c.Messages)-1].Text = text
				view := c.View()
				for i, m := range view {
					if own := m.Text[:len(m.Text)-len(m.Added)]; own != c.Messages[i].Text {
						t.Errorf("message %d is %q, was %q", i, own, c.Messages[i].Text)
					}
				}
				if n := strings.Count(view[0].Added, "<available_skills>"); n != 1 {
					t.Errorf("%d overviews", n)
				}
				if got := chattest.Where(view); len(got) != 1 || strings.Count(got[0], chattest.BodyMark("s0", w.Skills["s0"].Body)) != 1 {
					t.Errorf("shown are %q", got)
				}
			})
		}
	}
}

func TestOverviewShowsParsedDescriptions(t *testing.T) {
	r := chattest.Open(t, fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: \"a\"\ndescription: \"Fills <forms> & 'more'\n  on two lines\"\nmetadata:\n  name: other\n  description: Another.\n---\nBody\n")}})
	c := chattest.NewChat(t, r).Say(core.User, "hi")
	if text := c.View()[0].Text; !strings.Contains(text, "\n<name>a</name>Fills &lt;forms&gt; &amp; 'more' on two lines\n") {
		t.Errorf("overview %s", text)
	}
}

func TestOverviewDoesNotDependOnTheQuestion(t *testing.T) {
	r := chattest.Open(t, chattest.NewWorld(5).Files)
	texts := map[string]bool{}
	for i, question := range []string{"s4?", "purpose 1", "ファイル", ""} {
		c := chattest.NewChat(t, r).Say(core.User, question)
		c.Key.Session = fmt.Sprint(i)
		texts[c.View()[0].Text] = true
	}
	if len(texts) != 1 {
		t.Errorf("%d overviews", len(texts))
	}
}

func TestRepeatedCallIDs(t *testing.T) {
	w := chattest.NewWorld(3)
	mark := func(name string) string { return chattest.BodyMark(name, w.Skills[name].Body) }
	t.Run("in every response", func(t *testing.T) {
		c := chattest.NewChat(t, chattest.Open(t, w.Files)).Say(core.User, "hi")
		for _, name := range []string{"s2", "s0", "s1"} {
			c.IDs = 0
			c.Calls("skill_load " + name)
		}
		for i := range c.Messages {
			c.Messages[i].Tool = ""
		}
		chattest.Same(t, "shown", chattest.Where(c.View()), "2: "+mark("s2"), "4: "+mark("s0"), "6: "+mark("s1"))
	})
	t.Run("in one response, executed backwards", func(t *testing.T) {
		c := chattest.NewChat(t, chattest.Open(t, w.Files)).Say(core.User, "hi")
		c.View()
		calls := []core.ToolCall{{ID: "x", Name: "skill_load", Arguments: "s0"}, {ID: "x", Name: "skill_load", Arguments: "s1"}}
		c.Observe(calls)
		answers := inOrder(t, c, calls, []int{1, 0})
		for i, want := range []string{"loaded: s0\n[skill#1 ", "loaded: s1\n[skill#2 "} {
			if !strings.HasPrefix(answers[i], want) {
				t.Errorf("call %d answers %q", i, answers[i])
			}
		}
	})
}

func TestSelectedDocsAreWhatWasAskedFor(t *testing.T) {
	c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(2).Files)).Say(core.User, "hi")
	answers := c.Calls("skill_load s0",
		`skill_select_docs {"skill":"s0","docs":["d2.md","./d0.md"]}`,
		`skill_select_docs {"skill":"s0","docs":["d1.md","nope.md"],"mode":"add"}`,
		`skill_select_docs {"skill":"s1","docs":["d1.md"]}`)
	for i, want := range []string{"loaded: s0\n", "docs of s0: d2.md, d0.md\n", `error: skill "s0" has no doc "nope.md"`, `error: skill "s1" is not loaded`} {
		if !strings.HasPrefix(answers[i], want) {
			t.Errorf("call %d answers %q, want %q…", i, answers[i], want)
		}
	}
	chattest.Same(t, "loaded", c.LoadedNames(), "s0[d2.md d0.md]")
}

func TestSummaryDoesNotLoseLoadedSkills(t *testing.T) {
	for rule, want := range map[processors.SummaryRule]bool{processors.SummaryAuto: true, processors.SummaryAttach: true, processors.SummarySkip: false} {
		t.Run(fmt.Sprint(rule), func(t *testing.T) {
			w := chattest.NewWorld(2)
			c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithLoading(satchel.Loading{Summary: rule}))).Say(core.User, "hi")
			c.Calls("skill_load s0")
			c.Messages = c.Messages[:1]
			c.Context = satchel.WithSummary(c.Context)
			if got := len(chattest.Where(c.View())) == 1; got != want {
				t.Errorf("shown: %v, want %v", got, want)
			}
			// The answer must not call a text in view that the request does not show.
			answer := c.Calls("skill_load s0")[0]
			if strings.HasPrefix(answer, "already") != want {
				t.Errorf("loaded again, answers %q", answer)
			}
			if got := chattest.Where(c.View()); len(got) != 1 {
				t.Errorf("shown are %q", got)
			}
		})
	}
}

func TestNamesDoNotCollide(t *testing.T) {
	r := chattest.Open(t, chattest.NewWorld(4).Files)
	keys := []core.SessionKey{{Session: "s", Agent: "a/b"}, {Session: "s", Agent: "a%2Fb"}, {Session: "s/a", Agent: "b"}, {Session: "s", Agent: ""}}
	for i, key := range keys {
		c := chattest.NewChat(t, r).Say(core.User, "hi")
		c.Key = key
		c.Calls(fmt.Sprintf("skill_load s%d", i))
	}
	for i, key := range keys {
		c := chattest.NewChat(t, r)
		c.Key = key
		chattest.Same(t, "loaded", c.LoadedNames(), fmt.Sprintf("s%d[]", i))
	}
}

func TestRecordsDoNotGrow(t *testing.T) {
	store := session.NewMemory()
	r := chattest.Open(t, chattest.NewWorld(3).Files, satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
	c := chattest.NewChat(t, r)
	size := func() int {
		v, err := store.Load(t.Context(), c.Key)
		if err != nil {
			t.Fatal(err)
		}
		return len(v.Data)
	}
	var first int
	for turn := range 200 {
		c.Messages = nil
		c.Say(core.User, fmt.Sprint("turn ", turn))
		c.Calls(`skill_load {"skill":"s0","include_all_docs":true}`, `skill_select_docs {"skill":"s0","docs":["d0.md"]}`, `skill_unload {"all":true}`)
		c.Answer("done")
		if turn == 1 {
			first = size()
		}
	}
	if last := size(); last > first+40 {
		t.Errorf("the record has %d bytes, after the second turn %d", last, first)
	}
}
