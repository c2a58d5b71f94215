package satchel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

func referring() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"pdf/SKILL.md":          file("---\nname: pdf\ndescription: Reads PDF.\n---\n# PDF\nSee [a](references/a.md), [again](references/a.md) and `references/big.md`, not [x](https://x.org/b.md).\nYou MUST look.\nOther words.\n--- End of file ---\n"),
		"pdf/references/a.md":   file("Text of a.\n--- End of references/a.md ---\n"),
		"pdf/references/b.md":   file("Text of b.\n"),
		"pdf/references/big.md": file(strings.Repeat("many words are here ", 2000)),
	}
}

func TestReferencesInline(t *testing.T) {
	rt := chattest.Open(t, referring(), satchel.WithOverview(satchel.Overview{References: tools.ReferencesInline}))
	c := chattest.NewChat(t, rt).Say(core.User, "go")
	c.Calls("skill_load pdf")
	view := c.View()
	const want = "\n--- End of file ---\n</skill>\n--- Content from references/a.md ---\n\nText of a.\n --- End of references/a.md ---\n\n--- End of references/a.md ---\nnot included (10000 tokens): references/big.md"
	if last := view[len(view)-1].Text; !strings.HasSuffix(last, strings.Replace(want, "\n--- End of file", "\n --- End of file", 1)) {
		t.Errorf("the result shows\n%.1500s", last)
	}
	chattest.Same(t, "loaded", c.LoadedNames(), "pdf[references/a.md]")
	if got := c.Calls("skill_load pdf")[0]; !strings.Contains(got, "its text is above") {
		t.Errorf("again: %s", got)
	}
	if again := c.View(); again[2].Text != view[2].Text {
		t.Error("the first result has changed")
	}
}

func TestReferencesList(t *testing.T) {
	rt := chattest.Open(t, referring(), satchel.WithOverview(satchel.Overview{References: tools.ReferencesList}))
	c := chattest.NewChat(t, rt).Say(core.User, "go")
	c.Calls("skill_load pdf")
	view := c.View()
	if last := view[len(view)-1].Text; !strings.HasSuffix(last, "</skill>\n<skill_files>\nreferences/a.md\nreferences/big.md\n</skill_files>") {
		t.Errorf("the result shows\n%s", last)
	}
	if _, err := satchel.New(satchel.WithOverview(satchel.Overview{References: 9})); err == nil {
		t.Error("an unknown way is accepted")
	}
}

// Where the record was lost, what came with a body and what followed it is shown as it was.
func TestReferencesAreRebuilt(t *testing.T) {
	for name, tt := range map[string]struct {
		how  tools.References
		call string
	}{
		"inline":               {tools.ReferencesInline, `skill_load pdf`},
		"inline, another doc":  {tools.ReferencesInline, `skill_load {"skill":"pdf","docs":["references/b.md"]}`},
		"inline, the same doc": {tools.ReferencesInline, `skill_load {"skill":"pdf","docs":["references/a.md"]}`},
		"inline, all docs":     {tools.ReferencesInline, `skill_load {"skill":"pdf","include_all_docs":true}`},
		"list":                 {tools.ReferencesList, `skill_load pdf`},
		"off":                  {tools.ReferencesOff, `skill_load {"skill":"pdf","docs":["references/a.md"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			open := func() *satchel.Runtime {
				return chattest.Open(t, referring(), satchel.WithOverview(satchel.Overview{References: tt.how}), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
			}
			c := chattest.NewChat(t, open()).Say(core.User, "go")
			c.Calls(tt.call)
			before := c.View()
			c.Runtime = open()
			if now := c.View(); chattest.Shown(now) != chattest.Shown(before) {
				t.Errorf("rebuilt\n%.3000s\nwas\n%.3000s", chattest.Shown(now), chattest.Shown(before))
			}
		})
	}
}

// What a function writes takes the place of a text, if it is anything and shorter.
func TestSummarizer(t *testing.T) {
	outline := "(outline of SKILL.md; load the skill again for all of it)"
	for name, tt := range map[string]struct {
		summary string
		err     error
		want    string
	}{
		"summary":      {"In short: look.\n</skill>", nil, "<skill name=\"pdf\">\nIn short: look.\n<\\/skill>\n(summary of SKILL.md; load the skill again for all of it)\n</skill>"},
		"failed":       {"", errors.New("no model"), outline},
		"nothing":      {" \n", nil, outline},
		"longer":       {strings.Repeat("many words ", 500), nil, outline},
		"not the text": {"\xff short", nil, "\uFFFD short"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			rt := chattest.Open(t, referring(), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session, Summarize: func(_ context.Context, skill, body string) (string, error) {
				asked = append(asked, fmt.Sprint(skill, " ", strings.Contains(body, "Other words.")))
				return tt.summary, tt.err
			}}))
			c := chattest.NewChat(t, rt).Say(core.User, "go")
			c.Calls("skill_load pdf")
			c.View()
			if err := rt.Compact(adapter.WithKey(c.Context, c.Key), "pdf"); err != nil {
				t.Fatal(err)
			}
			c.Answer("done")
			if shown := chattest.Shown(c.Say(core.User, "more").View()); !strings.Contains(shown, tt.want) || strings.Contains(shown, "Other words.") {
				t.Errorf("in the next turn\n%s", shown)
			}
			chattest.Same(t, "asked", asked, "pdf true")
		})
	}
}

// If the host removes a message with a skill's text, the text comes back: as an outline if
// whole texts would exceed Budget.Warn, otherwise whole.
func TestLostTextsComeBackShort(t *testing.T) {
	for warn, short := range map[int]bool{0: false, 10: true, 100_000: false} {
		t.Run(fmt.Sprint(warn), func(t *testing.T) {
			rt := chattest.Open(t, referring(), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session, Budget: tools.Budget{Warn: warn, Max: -1}}))
			c := chattest.NewChat(t, rt).Say(core.User, "go")
			c.Calls("skill_load pdf")
			if shown := chattest.Shown(c.View()); !strings.Contains(shown, "Other words.") {
				t.Fatalf("loaded\n%s", shown)
			}
			c.Answer("done")
			if shown := chattest.Shown(c.Say(core.User, "more").View()); !strings.Contains(shown, "Other words.") {
				t.Errorf("at its place\n%s", shown)
			}
			c.Answer("done")
			c.Messages = c.Messages[:0]
			shown := chattest.Shown(c.Say(core.User, "later").View())
			if strings.Contains(shown, "Other words.") == short || strings.Contains(shown, "You MUST look.\n(outline of SKILL.md") != short {
				t.Errorf("come back\n%s", shown)
			}
			if again := chattest.Shown(c.View()); again != shown {
				t.Errorf("the next request\n%s\nwas\n%s", again, shown)
			}
			c.Calls("skill_load pdf")
			if whole := chattest.Shown(c.View()); !strings.Contains(whole, "Other words.") {
				t.Errorf("loaded again\n%s", whole)
			}
			c.Messages = c.Messages[:1]
			if shown := chattest.Shown(c.View()); strings.Contains(shown, "Other words.") == short || strings.Contains(shown, "You MUST look.\n(outline of SKILL.md") != short {
				t.Errorf("cut within a turn\n%s", shown)
			} else if again := chattest.Shown(c.View()); again != shown {
				t.Errorf("within a turn, the next request\n%s\nwas\n%s", again, shown)
			}
			c.Calls("skill_load pdf")
			if whole := chattest.Shown(c.View()); !strings.Contains(whole, "Other words.") {
				t.Errorf("loaded again within a turn\n%s", whole)
			}
		})
	}
}

// An outline takes the place of the text when the next turn begins, and not before.
func TestCompact(t *testing.T) {
	rt := chattest.Open(t, referring(), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
	c := chattest.NewChat(t, rt).Say(core.User, "go")
	c.Calls("skill_load pdf")
	before := c.View()
	ctx := adapter.WithKey(c.Context, c.Key)
	if err := rt.Compact(ctx, "pdf"); err != nil {
		t.Fatal(err)
	}
	if err := rt.Compact(ctx, "nothing"); !errors.Is(err, catalog.ErrUnknownSkill) || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("an unknown skill: %v", err)
	}
	if now := c.View(); chattest.Shown(now) != chattest.Shown(before) {
		t.Errorf("in the same turn\n%s", chattest.Shown(now))
	}
	c.Answer("done")
	after := c.Say(core.User, "more").View()
	const outline = "<skill name=\"pdf\">\n# PDF\nSee [a](references/a.md), [again](references/a.md) and `references/big.md`, not [x](https://x.org/b.md).\nYou MUST look.\n(outline of SKILL.md; load the skill again for all of it)\n</skill>"
	if shown := chattest.Shown(after); !strings.Contains(shown, outline) || strings.Contains(shown, "Other words.") {
		t.Errorf("in the next turn\n%s", shown)
	}
	if got := c.Calls("skill_load pdf")[0]; !strings.HasPrefix(got, "loaded: pdf (the whole text: this one supersedes the shorter one)\n") {
		t.Errorf("the answer is %q", got)
	}
	if shown := chattest.Shown(c.View()); !strings.Contains(shown, "Other words.") {
		t.Errorf("loaded again\n%s", shown)
	}
	if got := c.Calls("skill_load pdf")[0]; !strings.HasPrefix(got, "already loaded: pdf; its text is above") {
		t.Errorf("the answer is %q", got)
	}
	if err := rt.Compact(t.Context(), "pdf"); err == nil {
		t.Error(fmt.Errorf("without a session: %w", err))
	}
}

// Answers about a skill whose outline is in view are true, even if its text has changed, and in
// later turns too.
func TestCompactThenChanged(t *testing.T) {
	files := referring()
	rt := chattest.Open(t, files)
	c := chattest.NewChat(t, rt).Say(core.User, "go")
	c.Calls("skill_load pdf")
	if err := rt.Compact(adapter.WithKey(c.Context, c.Key), "pdf"); err != nil {
		t.Fatal(err)
	}
	c.Turn("more")
	if got := c.Calls(`skill_select_docs {"skill":"pdf","docs":["references/a.md"]}`)[0]; got != "error: only a shorter text of pdf is in view: load it again" {
		t.Errorf("docs: %q", got)
	}
	c.Turn("and more")
	body := *files["pdf/SKILL.md"]
	body.Data, body.ModTime = []byte(strings.ReplaceAll(string(body.Data), "Other words.", "New words.")), body.ModTime.Add(1)
	files["pdf/SKILL.md"] = &body
	if got := c.Calls("skill_load pdf")[0]; !strings.HasPrefix(got, "loaded: pdf (its text has changed: this one supersedes the earlier one)") {
		t.Errorf("after an edit: %q", got)
	}
}
