package satchel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/tools"
)

// manySkills are n skills beside a few that tests look for.
func manySkills(n int) *chattest.Files {
	files := chattest.NewFiles()
	put := func(name, description string) {
		files.Put(name+"/SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: %q\n---\nBody of %s.\n", name, description, name), time.Time{})
	}
	for i := range n {
		put(fmt.Sprintf("filler-%05d", i), fmt.Sprintf("Handles matter %d of the archive in the usual manner and keeps a record of it.", i))
	}
	put("pdf-forms", "Fill in and flatten PDF forms.")
	put("docx-forms", "Fill in forms in Word documents.")
	put("baogao", "生成销售数据报告和图表")
	files.Put("secret-forms/SKILL.md", "---\nname: secret-forms\ndescription: Fill PDF forms in secret.\ndisable-model-invocation: true\n---\n", time.Time{})
	return files
}

func newRuntime(t testing.TB, opts ...satchel.Option) *satchel.Runtime {
	t.Helper()
	rt, err := satchel.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

func toolNames(rt *satchel.Runtime) (names []string) {
	for _, tool := range rt.Tools() {
		names = append(names, tool.Name)
	}
	return names
}

var someone = core.SessionKey{Session: "s", Agent: "a"}

func TestSearchTool(t *testing.T) {
	rt := newRuntime(t, satchel.WithSkillFS("many", manySkills(300)), satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}), satchel.WithOverview(satchel.Overview{Search: satchel.SearchOn}))
	const found = "1 of 303 skills match:\n<skill><name>pdf-forms</name><description>Fill in and flatten PDF forms.</description></skill>\nless likely: docx-forms\n" +
		"Load one with skill_load; if none fits, search again in other words."
	for name, tt := range map[string]struct{ args, want string }{
		"several wordings":      {`{"queries":["flatten pdf form","acroform pdf"]}`, found},
		"one":                   {`{"query":"flatten a pdf form"}`, found},
		"q":                     {`{"q":["flatten a pdf form"]}`, found},
		"bare text":             {`flatten a pdf form`, found},
		"nothing":               {`{"queries":[]}`, `error: "queries" is missing; send an object such as {"queries":["…"]}`},
		"stop words":            {`{"queries":["the of and"]}`, `nothing to search for in "the of and": name the task or the product`},
		"none":                  {`{"queries":["zeppelin repair"]}`, "no skill of 303 matches. Say it in other words: the task, the product, the file type; or go on without a skill."},
		"Chinese":               {`{"queries":["生成销售报告"]}`, "1 of 303 skills match:\n<skill><name>baogao</name>"},
		"named":                 {`{"queries":["docx-forms"]}`, "\n<skill><name>docx-forms</name>"},
		"limit too high":        {`{"queries":["matter of the archive record manner"],"limit":500}`, "\nlimit is 1 to 20: taken as 20"},
		"offset behind the end": {`{"queries":["flatten a pdf form"],"offset":5}`, "no more: 1 match"},
		"more":                  {`{"queries":["matter of the archive record manner"],"limit":2,"offset":2}`, "\nmore: offset 4\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := rt.CallTool(t.Context(), someone, core.ToolCall{ID: name, Name: "skill_search", Arguments: tt.args})
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want && (strings.HasSuffix(tt.want, "words.") || strings.HasPrefix(tt.want, "no") || !strings.Contains(got, tt.want)) {
				t.Errorf("answer\n%s\nwant\n%s", got, tt.want)
			}
			if strings.Contains(got, "secret") {
				t.Errorf("a hidden skill was found:\n%s", got)
			}
		})
	}
}

// A host with few skills sends the same tools as before.
func TestSearchIsOfferedWhereItIsNeeded(t *testing.T) {
	for name, tt := range map[string]struct {
		skills int
		opts   []satchel.Option
		want   bool
	}{
		"few":                  {9, nil, false},
		"many":                 {600, nil, true},
		"many, off":            {600, []satchel.Option{satchel.WithOverview(satchel.Overview{Search: satchel.SearchOff})}, false},
		"few, on":              {9, []satchel.Option{satchel.WithOverview(satchel.Overview{Search: satchel.SearchOn})}, true},
		"many, tools named":    {600, []satchel.Option{satchel.WithTools(satchel.Tools{Names: []string{"skill_load"}})}, false},
		"few, search is named": {9, []satchel.Option{satchel.WithTools(satchel.Tools{Names: []string{"skill_load", "skill_search"}})}, true},
		"own overview":         {600, []satchel.Option{satchel.WithOverview(satchel.Overview{Render: func([]core.Skill) string { return "mine" }})}, false},
	} {
		t.Run(name, func(t *testing.T) {
			rt := newRuntime(t, append([]satchel.Option{satchel.WithSkillFS("many", manySkills(tt.skills))}, tt.opts...)...)
			if got := slices.Contains(toolNames(rt), "skill_search"); got != tt.want {
				t.Errorf("skill_search is offered: %t", got)
			}
		})
	}
}

func TestOverviewOfManySkills(t *testing.T) {
	rt := newRuntime(t, satchel.WithSkillFS("many", manySkills(1_500)), satchel.WithOverview(satchel.Overview{Pinned: []string{"pdf-forms"}}))
	view, err := rt.Prepare(t.Context(), core.Request{Key: someone, Messages: []core.Message{{Role: core.User, Text: "hi"}}})
	if err != nil {
		t.Fatal(err)
	}
	text := view.Messages[0].Text
	if n := prompttext.Estimate(text); n > 4000 {
		t.Errorf("the overview takes %d tokens", n)
	}
	for _, want := range []string{" more skills: find them with skill_search.", "<description>Fill in and flatten PDF forms.</description>", "in several wordings."} {
		if !strings.Contains(text, want) {
			t.Errorf("the overview does not say %q:\n%.2000s", want, text)
		}
	}
	if strings.Contains(text, "exact name") || strings.Count(text, "<description>") != 1 || !strings.Contains(text, " more by name only:") {
		t.Errorf("the overview does not have the pinned skill and as many names as fit:\n%.2000s", text)
	}
}

// With Ranked, the overview describes the skills that match the first message best, although
// most have no room. The conversation keeps that overview.
func TestOverviewRankedByTheFirstMessage(t *testing.T) {
	for _, ranked := range []bool{false, true} {
		rt := newRuntime(t, satchel.WithSkillFS("many", manySkills(1_500)), satchel.WithOverview(satchel.Overview{Ranked: ranked}))
		c := chattest.NewChat(t, rt).Say(core.User, "Please flatten a PDF form.")
		first := c.View()[0].Text
		if has := strings.Contains(first, "<description>Fill in and flatten PDF forms.</description>"); has != ranked {
			t.Errorf("ranked %t: described %t", ranked, has)
		}
		if n := prompttext.Estimate(first); n > 4000 || !strings.Contains(first, " more skills: find them with skill_search.") {
			t.Errorf("ranked %t: %d tokens", ranked, n)
		}
		c.Answer("done")
		if second := c.Say(core.User, "Now fill in forms in Word documents.").View()[0].Text; second != first {
			t.Errorf("ranked %t: the next turn has another overview", ranked)
		}
	}
}

// A search changes no earlier message, and skills that come change no tools.
func TestSearchChangesNothingElse(t *testing.T) {
	files := manySkills(600)
	rt := newRuntime(t, satchel.WithSkillFS("many", files))
	messages := []core.Message{{Role: core.User, Text: "fill the form"}}
	before, err := rt.Prepare(t.Context(), core.Request{Key: someone, Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	tools := rt.Tools()
	call := core.ToolCall{ID: "1", Name: "skill_search", Arguments: `{"queries":["fill pdf form"]}`}
	answer, err := rt.CallTool(t.Context(), someone, call)
	if err != nil {
		t.Fatal(err)
	}
	files.Put("newcomer/SKILL.md", "---\nname: newcomer\ndescription: Feeds zebras.\n---\n", time.Time{})
	if err := rt.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	messages = append(messages, core.Message{Role: core.Assistant, Calls: []core.ToolCall{call}}, core.Message{Role: core.ToolResult, CallID: "1", Tool: call.Name, Text: answer})
	after, err := rt.Prepare(t.Context(), core.Request{Key: someone, Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range before.Messages {
		if after.Messages[i].Text != m.Text {
			t.Errorf("message %d has changed", i)
		}
	}
	if a, _ := json.Marshal(tools); !slices.EqualFunc(tools, rt.Tools(), func(x, y core.Tool) bool { return x.Name == y.Name }) {
		t.Errorf("the tools have changed from %s", a)
	}
	if got, err := rt.CallTool(t.Context(), someone, core.ToolCall{Name: "skill_search", Arguments: "zebra"}); err != nil || !strings.Contains(got, "<name>newcomer</name>") {
		t.Errorf("the new skill is not found: %v\n%s", err, got)
	}
}

// brokenEmbedder has no vectors.
type brokenEmbedder struct{}

func (brokenEmbedder) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("no such model")
}

// If an embedder fails the model gets an answer all the same, and the host gets the error.
func TestSearchWithoutItsEmbedder(t *testing.T) {
	var events []string
	rt := newRuntime(t, satchel.WithSkillFS("many", manySkills(20)), satchel.WithOverview(satchel.Overview{Search: satchel.SearchOn}),
		satchel.WithSkillRoots(nil, catalog.WithSearch(catalog.Search{Embedding: catalog.Embedding{ID: "m", Embedder: brokenEmbedder{}}})), satchel.WithActivation(satchel.Activation{Suggest: true, Most: 3}),
		satchel.WithEvents(func(_ context.Context, e core.Event) {
			if e.Kind == core.SearchByWords && e.Err != nil {
				events = append(events, e.Detail)
			}
		}))
	c := chattest.NewChat(t, rt).Say(core.User, "Fill in and flatten a PDF form")
	view := c.View()
	if last := view[len(view)-1].Text; !strings.Contains(last, "<skills_suggested>pdf-forms</skills_suggested>") {
		t.Errorf("the user's message is %q", last)
	}
	chattest.Same(t, "events of the turn", events, "embed 23 texts: no such model")
	if got := c.Calls(`skill_search {"queries":["fill in a PDF form"]}`)[0]; !strings.Contains(got, "<name>pdf-forms</name>") {
		t.Errorf("found %s", got)
	}
	chattest.Same(t, "events of the call", events[1:], "embed 23 texts: no such model")
}
