package conversation_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/tools/run"
)

// skillsOfSizes are skills whose bodies, and docs, have so many estimated tokens.
func skillsOfSizes(bodies map[string]int, docs map[string]int) fstest.MapFS {
	files := fstest.MapFS{}
	for name, tokens := range bodies {
		text := "---\nname: " + name + "\ndescription: x\n---\n" + strings.Repeat("a", 4*tokens)
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, tokens := range docs {
		files[name] = &fstest.MapFile{Data: []byte(strings.Repeat("a", 4*tokens))}
	}
	return files
}

// budgetChat is a chat over skills of these sizes that has begun, and the details of its
// content.budget events.
func budgetChat(t *testing.T, files fs.FS, opts ...satchel.Option) (*chattest.Chat, *[]string) {
	t.Helper()
	var told []string
	opts = append(opts, satchel.WithEvents(func(_ context.Context, e core.Event) {
		if e.Kind == core.ContentBudget {
			told = append(told, e.Detail)
		}
	}))
	return chattest.NewChat(t, chattest.Open(t, files, opts...)).Say(core.User, "one"), &told
}

func lines(text string) []string { return strings.Split(text, "\n") }

func TestCrossingTheWarningIsSaidOnce(t *testing.T) {
	c, told := budgetChat(t, skillsOfSizes(map[string]int{"pdf": 6100, "xlsx": 4000, "docx": 2300}, nil))
	if got := lines(c.Calls("skill_load xlsx")[0]); len(got) != 2 {
		t.Errorf("below the budget: %q", got)
	}
	const line = "skills in view take about 10100 tokens (largest: pdf, 6100); unload what you are done with"
	if got := lines(c.Calls("skill_load pdf")[0]); len(got) != 3 || got[1] != line {
		t.Errorf("the call that crosses says %q", got)
	}
	if got := lines(c.Calls("skill_load docx")[0]); len(got) != 2 {
		t.Errorf("the next call says %q", got)
	}
	chattest.Same(t, "events", *told, line)
	c.Calls("skill_unload pdf")
	if got := c.Calls("skill_load pdf")[0]; !strings.Contains(got, "about 12400 tokens") {
		t.Errorf("crossed once more: %q", got)
	}
}

func TestDocsCountToo(t *testing.T) {
	files := skillsOfSizes(map[string]int{"pdf": 100}, map[string]int{"pdf/a.md": 1000, "pdf/b.md": 3000})
	c, told := budgetChat(t, files, satchel.WithLoading(satchel.Loading{Budget: tools.Budget{Warn: 900, Max: 4000}}))
	c.Calls("skill_load pdf")
	if got := lines(c.Calls(`skill_select_docs {"skill":"pdf","docs":["a.md"]}`)[0]); len(got) != 3 || !strings.HasPrefix(got[1], "skills in view take about 1100 tokens (largest: pdf, ") {
		t.Errorf("a doc that crosses: %q", got)
	}
	const refused = "error: about 4100 tokens of skills would be in view, at most 4000 may be: name fewer docs (largest: pdf, 4100)"
	for _, call := range []string{`skill_select_docs {"skill":"pdf","include_all_docs":true}`, `skill_load {"skill":"pdf","include_all_docs":true}`} {
		if got := c.Calls(call)[0]; got != refused {
			t.Errorf("%s answers %q", call, got)
		}
	}
	chattest.Same(t, "loaded", c.LoadedNames(), "pdf[a.md]")
	if len(*told) != 1 {
		t.Errorf("events %q", *told)
	}
	if got := c.Calls(`skill_select_docs {"skill":"pdf","docs":["b.md"]}`)[0]; !strings.HasPrefix(got, "docs of pdf: b.md") {
		t.Errorf("in place of the other: %q", got)
	}
}

func TestALoadAboveTheBudgetChangesNothing(t *testing.T) {
	files := skillsOfSizes(map[string]int{"one": 18_000, "two": 13_000, "all": 31_000}, nil)
	for name, tt := range map[string]struct {
		opts []satchel.Option
		want string
	}{
		"refused": {[]satchel.Option{satchel.WithLoading(satchel.Loading{Budget: tools.Budget{Warn: -1, Max: 30_000}})},
			"error: about 31000 tokens of skills would be in view, at most 30000 may be: unload one first (largest: one, 18000)"},
		"at the bound": {[]satchel.Option{satchel.WithLoading(satchel.Loading{Budget: tools.Budget{Warn: -1, Max: 31_000}})}, ""},
		"none":         {[]satchel.Option{satchel.WithLoading(satchel.Loading{Budget: tools.Budget{Warn: -1, Max: -1}})}, ""},
		"default":      {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, told := budgetChat(t, files, tt.opts...)
			c.Calls("skill_load one")
			before := c.View()
			got := c.Calls("skill_load two")[0]
			if tt.want == "" {
				chattest.Same(t, "loaded", c.LoadedNames(), "one[]", "two[]")
				return
			}
			if got != tt.want || len(*told) > 0 {
				t.Errorf("answer %q, events %q", got, *told)
			}
			chattest.Same(t, "loaded", c.LoadedNames(), "one[]")
			chattest.Same(t, "what is in view", chattest.Where(c.View()), chattest.Where(before)...)
			if got := c.Calls(`skill_load {"skill":"two","mode":"replace"}`)[0]; !strings.HasPrefix(got, "unloaded: one") {
				t.Errorf("in place of the other: %q", got)
			}
		})
	}
	c, _ := budgetChat(t, files, satchel.WithLoading(satchel.Loading{Budget: tools.Budget{Warn: 10, Max: 30_000}}))
	if got := c.Calls("skill_load all")[0]; !strings.Contains(got, "at most 30000 may be: the text of all alone is longer, so it cannot be loaded here (largest: all, 31000)") {
		t.Errorf("a skill that is too large alone: %q", got)
	}
}

// Texts of ended loads leave first, the latest first and no more than must, in one
// break.
func TestEndedTextsMakeRoom(t *testing.T) {
	files := skillsOfSizes(map[string]int{"a": 1000, "b": 1100, "c": 1200, "d": 900, "e": 3000}, nil)
	for name, loading := range map[string]satchel.Loading{"prices": {Prices: free}, "policy": {Clearing: stays}} {
		t.Run(name, func(t *testing.T) {
			loading.Budget = tools.Budget{Warn: -1, Max: 4000}
			c, _ := budgetChat(t, files, satchel.WithLoading(loading))
			inView := func(want string) {
				t.Helper()
				var got strings.Builder
				for i, m := range c.View() {
					if j := strings.Index(m.Added, "<skill name=\""); i > 0 && j >= 0 {
						got.WriteByte(m.Added[j+len("<skill name=\"")])
					}
				}
				if got.String() != want {
					t.Errorf("in view are %q, want %q", got.String(), want)
				}
			}
			for _, skill := range []string{"a", "b", "c"} {
				c.Calls("skill_load " + skill)
				c.Answer("done")
				c.Say(core.User, "then")
			}
			inView("abc")
			c.Calls("skill_load d") // 4200 tokens of at most 4000
			inView("abd")
			if got := c.Calls("skill_load e")[0]; !strings.HasPrefix(got, "loaded: e") { // 3900 tokens if only d stays
				t.Errorf("answer %q", got)
			}
			inView("de")
			chattest.Same(t, "loaded", c.LoadedNames(), "d[]", "e[]")
			if got := c.Calls("skill_load b")[0]; !strings.HasPrefix(got, "error: about 5000 tokens of skills would be in view") {
				t.Errorf("what is loaded stays: %q", got)
			}
		})
	}
}

func TestDeclaredLoadsKeepTheBudget(t *testing.T) {
	c, told := budgetChat(t, skillsOfSizes(map[string]int{"a": 1000, "b": 1100}, nil), satchel.WithLoading(satchel.Loading{Budget: tools.Budget{Warn: 900, Max: 1500}}))
	req := core.Request{Key: core.SessionKey{Session: "s"}, Messages: []core.Message{{Role: core.User, Text: "hi"}}}
	_, err := c.Runtime.Prepare(satchel.WithLoads(t.Context(), satchel.Load{Skill: "a"}, satchel.Load{Skill: "b"}), req)
	if !errors.Is(err, tools.ErrLoads) || !strings.Contains(err.Error(), "about 2100 tokens of skills would be in view, at most 1500 may be") {
		t.Errorf("error %v", err)
	}
	if _, err := c.Runtime.Prepare(satchel.WithLoads(t.Context(), satchel.Load{Skill: "a"}), req); err != nil || len(*told) != 1 {
		t.Errorf("error %v, events %q", err, *told)
	}
}

// Content that the model has seen once is not in view any more.
func TestModeOnceFreesTheBudget(t *testing.T) {
	c, _ := budgetChat(t, skillsOfSizes(map[string]int{"a": 1000, "b": 1100}, nil), satchel.WithLoading(satchel.Loading{Mode: loadmode.Once, Budget: tools.Budget{Warn: -1, Max: 1500}}))
	c.Calls("skill_load a")
	c.Calls("search x")
	if got := c.Calls("skill_load b")[0]; !strings.HasPrefix(got, "loaded: b") {
		t.Errorf("answer %q", got)
	}
}

func TestBadContentBudget(t *testing.T) {
	for _, b := range [][2]int{{-2, 0}, {0, -2}} {
		if _, err := satchel.New(satchel.WithLoading(satchel.Loading{Budget: tools.Budget{Warn: b[0], Max: b[1]}})); !errors.Is(err, satchel.ErrOption) {
			t.Errorf("%v: error %v", b, err)
		}
	}
}

// big is a skill that is small itself and has files of 3,000 and 1,000 tokens.
func big() fstest.MapFS {
	return skillsOfSizes(map[string]int{"api": 100, "pdf": 1000}, map[string]int{"api/data.csv": 3000, "api/small.csv": 1000, "api/out/own.csv": 1000})
}

func TestFilesThatAreReadCount(t *testing.T) {
	c, told := budgetChat(t, big(), satchel.WithLoading(satchel.Loading{Budget: tools.Budget{Warn: 3500, Max: -1}}))
	c.Calls("skill_load api")
	if got := c.Calls(`skill_read data.csv`)[0]; !strings.HasPrefix(got, "data.csv, lines 1 to 1 of 1\n") {
		t.Errorf("below the budget: %.100q", got)
	}
	const line = "skills in view take about 4100 tokens (largest: files that were read, 4000); unload what you are done with"
	answers := c.Calls("skill_read small.csv", "skill_read small.csv")
	if !strings.HasPrefix(answers[0], line+"\nsmall.csv, lines") || !strings.HasPrefix(answers[1], "small.csv, lines") {
		t.Errorf("crossing by reading: %.150q", answers)
	}
	chattest.Same(t, "events", *told, line)

	// Text that the host has removed from its history is not in view.
	c.Messages = c.Messages[:3]
	c.View()
	if got := c.Calls("skill_load pdf")[0]; strings.Contains(got, "in view") {
		t.Errorf("files that are gone count: %q", got)
	}
}

// A process that has not answered the calls counts what their results in the request hold.
func TestFilesThatAnotherProcessHasReadCount(t *testing.T) {
	for name, edit := range map[string]func(*core.Message){
		"as they are": func(*core.Message) {},
		"unnamed":     func(m *core.Message) { m.Tool = "" },
	} {
		store, loading := session.NewMemory(), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session, Budget: tools.Budget{Warn: 4500, Max: -1}})
		c, _ := budgetChat(t, big(), loading, satchel.WithStore(store))
		c.Calls("skill_load api")
		c.Calls("skill_read data.csv")
		for i := range c.Messages {
			edit(&c.Messages[i])
		}
		next, _ := budgetChat(t, big(), loading, satchel.WithStore(store))
		next.Messages, next.IDs = append(c.Messages, core.Message{Role: core.User, Text: "two"}), c.IDs
		next.View()
		if got := next.Calls("skill_load pdf")[0]; strings.Contains(got, "in view") {
			t.Errorf("%s: below the budget: %q", name, got)
		}
		if got := next.Calls(`skill_read {"skill":"api","path":"small.csv"}`)[0]; !strings.HasPrefix(got, "skills in view take about 5100 tokens") {
			t.Errorf("%s: %.100q", name, got)
		}
	}
}

// Above Max a read is refused, and so is a load because of what the turn has read. What
// earlier turns have read can leave by the host alone, so it refuses nothing.
func TestReadingAboveTheBudget(t *testing.T) {
	c, _ := budgetChat(t, big(), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session, Budget: tools.Budget{Warn: -1, Max: 4500}}))
	c.Calls("skill_load api")
	c.Calls("skill_read data.csv")
	if got := c.Calls("skill_load pdf")[0]; !strings.HasPrefix(got, "loaded: pdf") {
		t.Fatalf("within the budget: %q", got)
	}
	const refused = "error: about 5100 tokens of skills would be in view, at most 4500 may be: read fewer lines, or unload a skill first (largest: files that were read, 4000)"
	if got := c.Calls(`skill_read {"skill":"api","path":"small.csv"}`)[0]; got != refused {
		t.Errorf("a read above the budget: %.250q", got)
	}
	if got := c.Calls(`skill_unload pdf`, `skill_read small.csv`)[1]; !strings.HasPrefix(got, "small.csv") {
		t.Errorf("after an unload: %.250q", got)
	}
	c.View()
	if got := c.Calls("skill_load pdf")[0]; !strings.HasPrefix(got, "error: about 5200 tokens of skills would be in view, at most 4500 may be: unload one first (largest: files that were read, 4100)") {
		t.Errorf("a load beside what was read: %q", got)
	}
	c.Answer("done")
	c.Say(core.User, "two").View()
	if got := c.Calls("skill_load pdf")[0]; !strings.HasPrefix(got, "loaded: pdf") {
		t.Errorf("at the next message: %q", got)
	}
}

// Texts of ended loads leave before a read is refused.
func TestEndedTextsMakeRoomForReads(t *testing.T) {
	c, _ := budgetChat(t, big(), satchel.WithLoading(satchel.Loading{Prices: free, Budget: tools.Budget{Warn: -1, Max: 3800}}))
	c.Calls("skill_load pdf")
	c.Answer("done")
	c.Say(core.User, "two").View()
	c.Calls("skill_load api")
	before := sizeOfSkills(c)
	if got := c.Calls("skill_read data.csv")[0]; !strings.HasPrefix(got, "data.csv, lines") {
		t.Fatalf("%.200q", got)
	}
	if after := sizeOfSkills(c); after >= before || after == 0 {
		t.Errorf("%d bytes of skills in view after the read, %d before: want those of api alone", after, before)
	}
}

// sizeOfSkills returns how many bytes of skills the next request has.
func sizeOfSkills(c *chattest.Chat) (n int) {
	for _, m := range c.View() {
		n += len(m.Added)
	}
	return n
}

// A read that does not fit even without the texts of ended loads changes nothing.
func TestRefusedReadsKeepEndedTexts(t *testing.T) {
	c, _ := budgetChat(t, big(), satchel.WithLoading(satchel.Loading{Prices: free, Budget: tools.Budget{Warn: -1, Max: 2500}}))
	c.Calls("skill_load pdf")
	c.Answer("done")
	c.Say(core.User, "two").View()
	c.Calls("skill_load api")
	before := sizeOfSkills(c)
	if before < 4400 { // the texts of both skills, about 1,100 tokens
		t.Fatalf("%d bytes of skills before the read", before)
	}
	if got := c.Calls("skill_read data.csv")[0]; !strings.HasPrefix(got, "error: about 3100 tokens") {
		t.Errorf("a read above the budget: %.200q", got)
	}
	if after := sizeOfSkills(c); after != before {
		t.Errorf("a refused read left %d of %d bytes of skills", after, before)
	}
}

// Files of the workspace are no text of skills.
func TestFilesOfTheWorkspaceDoNotCount(t *testing.T) {
	commands, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	c, told := budgetChat(t, big(), satchel.WithLoading(satchel.Loading{Budget: tools.Budget{Warn: 500, Max: 900}}),
		satchel.WithRunner(run.Runner{Executor: commands}))
	c.Calls("skill_load api")
	c.Calls(`skill_run {"skill":"api","command":"mkdir -p $OUTPUT_DIR; head -c 8000 /dev/zero | tr '\\0' x > $OUTPUT_DIR/log.txt"}`)
	for _, path := range []string{"out/log.txt", "workspace://out/log.txt"} {
		if got := c.Calls("skill_read " + path)[0]; !strings.Contains(got, "lines 1 to 1 of 1\nxxx") {
			t.Errorf("%s: %.200q", path, got)
		}
	}
	c.View()
	if len(*told) > 0 {
		t.Errorf("events %q", *told)
	}
}
