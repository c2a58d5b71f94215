package satchel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

func threeSkills() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"pdf-forms/SKILL.md": file("---\nname: pdf-forms\ndescription: Fill in and flatten PDF forms.\n---\nBody of pdf-forms.\n"),
		"sales-db/SKILL.md":  file("---\nname: sales-db\ndescription: Tables of the sales database.\n---\nBody of sales-db.\n"),
		"secret/SKILL.md":    file("---\nname: secret\ndescription: Only for people.\ndisable-model-invocation: true\n---\nBody of secret.\n"),
	}
}

func chatWith(t *testing.T, opts ...satchel.Option) *chattest.Chat {
	t.Helper()
	return chattest.NewChat(t, chattest.Open(t, threeSkills(), opts...))
}

func TestMentions(t *testing.T) {
	both := satchel.WithActivation(satchel.Activation{Mentions: satchel.Dollar | satchel.Slash})
	words := satchel.WithActivation(satchel.Activation{Mentions: satchel.Words})
	for name, tt := range map[string]struct {
		text string
		opts []satchel.Option
		want string
	}{
		"one":               {"use $pdf-forms, not $HOME", []satchel.Option{both}, "pdf-forms[]"},
		"off":               {"use $pdf-forms", nil, ""},
		"dollar only":       {"/pdf-forms\n$sales-db", []satchel.Option{satchel.WithActivation(satchel.Activation{Mentions: satchel.Dollar})}, "sales-db[]"},
		"slash":             {"please\n/sales-db go\nnot a/pdf-forms", []satchel.Option{both}, "sales-db[]"},
		"in a code block":   {"```\n$pdf-forms\n```", []satchel.Option{both}, ""},
		"in inline code":    {"say `$pdf-forms` and ``$sales-db ` ``", []satchel.Option{both}, ""},
		"hidden":            {"$secret!", []satchel.Option{both}, "secret[]"},
		"order, each once":  {"($sales-db). $pdf-forms; $sales-db", []satchel.Option{both}, "sales-db[] pdf-forms[]"},
		"bold":              {"use **$pdf-forms** and _$sales-db_", []satchel.Option{both}, "pdf-forms[] sales-db[]"},
		"quoted":            {"\"$pdf-forms\" or “$sales-db”", []satchel.Option{both}, "pdf-forms[] sales-db[]"},
		"possessive":        {"$pdf-forms's and $sales-db’s rules", []satchel.Option{both}, "pdf-forms[] sales-db[]"},
		"full width marks":  {"用$pdf-forms。再（$sales-db）", []satchel.Option{both}, "pdf-forms[] sales-db[]"},
		"no space behind":   {"用$pdf-forms把这个填好", []satchel.Option{both}, "pdf-forms[]"},
		"brackets":          {"[$pdf-forms] {$sales-db}", []satchel.Option{both}, "pdf-forms[] sales-db[]"},
		"two in one word":   {"$pdf-forms/$sales-db", []satchel.Option{both}, "pdf-forms[] sales-db[]"},
		"dash and dots":     {"$pdf-forms — yes… $sales-db...", []satchel.Option{both}, "pdf-forms[] sales-db[]"},
		"bold slash":        {"**/sales-db** go", []satchel.Option{both}, "sales-db[]"},
		"bold code":         {"**`$pdf-forms`** \"`$sales-db`\"", []satchel.Option{both}, ""},
		"longer words":      {"$pdf-formsx $pdf-forms/x", []satchel.Option{both}, ""},
		"more than the cap": {"$pdf-forms $sales-db", []satchel.Option{both, satchel.WithLoading(satchel.Loading{Max: 1})}, "pdf-forms[]"},
		"words":             {"use the pdf forms skill, not the sales-db skill", []satchel.Option{words}, "pdf-forms[]"},
		"words off":         {"use the pdf-forms skill", []satchel.Option{both}, ""},
		"words in capitals": {"Der PDF-Forms-Skill und die Fähigkeit `Sales-DB`", []satchel.Option{words}, "pdf-forms[] sales-db[]"},
		"words, hidden":     {"使用secret技能", []satchel.Option{words}, "secret[]"},
		"words and a sign":  {"the pdf-forms skill and $sales-db", []satchel.Option{satchel.WithActivation(satchel.Activation{Mentions: satchel.Words | satchel.Dollar})}, "sales-db[] pdf-forms[]"},
		"words in code":     {"```\nuse the pdf-forms skill\n```", []satchel.Option{words}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := chatWith(t, tt.opts...).Say(core.User, tt.text)
			view := c.View()
			if got := strings.Join(c.LoadedNames(), " "); got != tt.want {
				t.Errorf("loaded %q, want %q", got, tt.want)
			}
			shown := chattest.Shown(view)
			if tt.want != "" && !strings.Contains(shown, "Body of ") {
				t.Errorf("no body in\n%s", shown)
			}
			if name == "more than the cap" && !strings.Contains(shown, "not loaded, at most 1: sales-db") {
				t.Errorf("no note in\n%s", shown)
			}
			if again := chattest.Shown(c.View()); again != shown {
				t.Errorf("a retry shows\n%s\nand not\n%s", again, shown)
			}
		})
	}
}

func TestMentionsAreBounded(t *testing.T) {
	words := steps.Mentions(strings.Repeat("$a ", 1<<16)+strings.Repeat("\n`", 1000), true, true, 64)
	if len(words) != 64 {
		t.Errorf("%d words", len(words))
	}
}

func TestActivation(t *testing.T) {
	const asked = "please fill in and flatten this PDF form"
	c := chatWith(t, satchel.WithActivation(satchel.Activation{Suggest: true, Most: 3})).Say(core.User, asked)
	if shown := chattest.Shown(c.View()); !strings.Contains(shown, asked+"\n\n<skills_suggested>pdf-forms</skills_suggested>") || strings.Contains(shown, "Body of") {
		t.Errorf("suggested\n%s", shown)
	}
	c = chatWith(t, satchel.WithActivation(satchel.Activation{Load: true, Most: 3})).Say(core.User, asked)
	if shown := chattest.Shown(c.View()); !strings.Contains(shown, "Body of pdf-forms.") || len(c.LoadedNames()) != 1 {
		t.Errorf("loaded\n%s", shown)
	}
	small := satchel.WithLoading(satchel.Loading{Budget: tools.Budget{Warn: 1, Max: 2}})
	c = chatWith(t, satchel.WithActivation(satchel.Activation{Load: true, Most: 3}), small).Say(core.User, asked)
	if shown := chattest.Shown(c.View()); !strings.Contains(shown, "<skills_not_loaded>not loaded: pdf-forms (") || len(c.LoadedNames()) != 0 {
		t.Errorf("over the budget\n%s", shown)
	}
	for text, want := range map[string]string{
		strings.Repeat("pasted line\n", 500) + "Please flatten this form.":   "pdf-forms",
		"Please flatten this form:\n" + strings.Repeat("pasted line\n", 500): "pdf-forms",
		"what is the weather": "", "thanks": "",
		"don't use the pdf-forms skill to flatten this form": "", "flatten this form without the pdf-forms skill": "",
	} {
		c := chatWith(t, satchel.WithActivation(satchel.Activation{Suggest: true, Most: 3})).Say(core.User, text)
		view := c.View()
		_, got, _ := strings.Cut(view[len(view)-1].Text, "<skills_suggested>")
		if got, _, _ = strings.Cut(got, "</skills_suggested>"); got != want {
			t.Errorf("%.40q: suggested %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"With the sales-db skill, then":                        "sales-db[]",
		"use the pdf forms skill":                              "pdf-forms[]",
		"use skill pdf-forms, the database is old":             "pdf-forms[]",
		"use the secret skill":                                 "secret[]",
		"flatten this form, but don't use the pdf-forms skill": "",
	} {
		for _, a := range []satchel.Activation{{Suggest: true}, {Load: true}} {
			c := chatWith(t, satchel.WithActivation(a)).Say(core.User, text)
			shown := chattest.Shown(c.View())
			if got := strings.Join(c.LoadedNames(), " "); got != want || strings.Contains(shown, "</skills_suggested>") {
				t.Errorf("%q, suggest %t: loaded %q, want %q\n%s", text, a.Suggest, got, want, shown)
			}
		}
	}
	c = chatWith(t, satchel.WithActivation(satchel.Activation{Suggest: true, Most: 3})).Say(core.User, "how are you?")
	if shown := chattest.Shown(c.View()); strings.Contains(shown, "</skills_suggested>") {
		t.Errorf("small talk\n%s", shown)
	}
}

// The rules explain a suggestion where one can come, and stay short.
func TestGuidanceOfActivation(t *testing.T) {
	const explained = "<skills_suggested> names likely ones."
	for name, tt := range map[string]struct {
		opts []satchel.Option
		want bool
	}{
		"off":           {nil, false},
		"load":          {[]satchel.Option{satchel.WithActivation(satchel.Activation{Load: true, Most: 1})}, false},
		"suggest":       {[]satchel.Option{satchel.WithActivation(satchel.Activation{Suggest: true, Most: 3})}, true},
		"with searches": {[]satchel.Option{satchel.WithActivation(satchel.Activation{Suggest: true, Most: 3}), satchel.WithOverview(satchel.Overview{Search: satchel.SearchOn})}, true},
		"seed":          {[]satchel.Option{satchel.WithActivation(satchel.Activation{Suggest: true, Most: 3}), satchel.WithTools(satchel.Tools{Vocabulary: tools.Vocabulary{Name: tools.RuntimeSpec}})}, true},
		"own":           {[]satchel.Option{satchel.WithActivation(satchel.Activation{Suggest: true, Most: 3}), satchel.WithOverview(satchel.Overview{Guidance: "Mine."})}, false},
	} {
		t.Run(name, func(t *testing.T) {
			shown := chattest.Shown(chatWith(t, tt.opts...).Say(core.User, "hello").View())
			if got := strings.Contains(shown, explained); got != tt.want {
				t.Errorf("explained: %t\n%s", got, shown)
			}
			_, rules, _ := strings.Cut(shown, "</available_skills>")
			if rules, _, _ = strings.Cut(rules, "\n--- "); utf8.RuneCountInString(rules) >= 700 && name != "own" {
				t.Errorf("%d characters: %s", utf8.RuneCountInString(rules), rules)
			}
		})
	}
}

func TestToolActivation(t *testing.T) {
	const denied = `denied: sql_query belongs to skill "sales-db"; load it first`
	c := chatWith(t, satchel.WithPermissions(satchel.Permissions{ToolSkills: map[string][]string{"sql_query": {"sales-db"}}})).Say(core.User, "how much?")
	calls := c.Respond(`sql_query {}`, `skill_load {"skill":"sales-db"}`, `sql_query {}`)
	if d := c.Decide(calls[0]); d.Reason != denied {
		t.Errorf("before: %+v", d)
	}
	c.Execute(calls[1])
	if d := c.Decide(calls[2]); d.Denied {
		t.Errorf("behind the load: %+v", d)
	}
	if d := c.Decide(c.Respond(`sql_query {}`)[0]); d.Denied {
		t.Errorf("after: %+v", d)
	}
}

func TestLifecycle(t *testing.T) {
	var events []string
	rt := chattest.Open(t, threeSkills(), satchel.WithEvents(func(_ context.Context, e core.Event) {
		if e.Phase != "" && e.Skill != "secret" && e.Skill != "sales-db" {
			events = append(events, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Phase, e.Kind, e.Skill, e.Detail)))
		}
	}, core.SkillDiscovered, core.SkillRegistered), satchel.WithOverview(satchel.Overview{Search: satchel.SearchOn}), satchel.WithLoading(satchel.Loading{Mode: loadmode.Turn}))
	c := chattest.NewChat(t, rt).Say(core.User, "fill it")
	c.Calls(`skill_search {"queries":["flatten a pdf form"]}`)
	c.Calls(`skill_load {"skill":"pdf-forms"}`)
	c.View()
	c.Answer("done")
	c.Say(core.User, "thanks")
	c.View()
	c.View()
	chattest.Same(t, "events", events,
		"discovered catalog.scanned  3 skills, 0 diagnostics",
		"discovered skill.discovered pdf-forms world/pdf-forms/SKILL.md",
		"registered skill.registered pdf-forms world/pdf-forms/SKILL.md",
		"activated skill.activated pdf-forms search",
		"loaded skill.loaded pdf-forms",
		"executing skill.executing pdf-forms",
		"completed skill.completed pdf-forms turn")
}

func TestCompletedSaysWhy(t *testing.T) {
	for name, tt := range map[string]struct {
		opts []satchel.Option
		then func(*chattest.Chat)
		want string
	}{
		"answered": {[]satchel.Option{satchel.WithLoading(satchel.Loading{Mode: loadmode.Once})}, func(c *chattest.Chat) { c.Answer("done"); c.Say(core.User, "more").View() }, "answered"},
		"unloaded": {nil, func(c *chattest.Chat) { c.Calls(`skill_unload {"all":true}`) }, "unloaded"},
		"evicted":  {[]satchel.Option{satchel.WithLoading(satchel.Loading{Max: 1})}, func(c *chattest.Chat) { c.Calls(`skill_load sales-db`) }, "evicted"},
		"replaced": {nil, func(c *chattest.Chat) { c.Calls(`skill_load {"skill":"sales-db","mode":"replace"}`) }, "replaced"},
		"session": {nil, func(c *chattest.Chat) {
			if err := c.Runtime.EndSession(c.Context, c.Key.Session); err != nil {
				c.T.Fatal(err)
			}
		}, "session"},
	} {
		t.Run(name, func(t *testing.T) {
			var ends []string
			opts := append(tt.opts, satchel.WithEvents(func(_ context.Context, e core.Event) {
				if e.Kind == core.SkillCompleted {
					ends = append(ends, e.Skill+" "+e.Detail)
				}
			}))
			c := chatWith(t, opts...).Say(core.User, "go")
			c.Calls(`skill_load pdf-forms`)
			c.View()
			tt.then(c)
			chattest.Same(t, "ends", ends, "pdf-forms "+tt.want)
		})
	}
}
