package conversation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// officeSkills are skills with long texts, of which prompts can be about one.
func officeSkills() fstest.MapFS {
	files := fstest.MapFS{}
	for name, description := range map[string]string{
		"pdf": "Fill in and merge forms.", "xlsx": "Edit spreadsheets and charts.", "docx": "Write letters.",
		"slides": "Draw presentations.", "mail": "Sort the inbox.", "calendar": "Plan meetings.",
	} {
		text := "---\nname: " + name + "\ndescription: " + description + "\n---\nText of " + name + ".\n" + strings.Repeat("Do it with care and look twice.\n", 200)
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// inView lists the skills of officeSkills whose text a view shows.
func inView(view []core.Message) (names []string) {
	for _, m := range view {
		for _, name := range []string{"pdf", "xlsx", "docx", "slides"} {
			if strings.Contains(m.Added, "Text of "+name+".") {
				names = append(names, name)
			}
		}
	}
	return names
}

// quietTurns plays turns without calls, until a text is cleared, and returns how many there
// were. Each begins with one of the prompts.
func quietTurns(t *testing.T, restart bool, prompts ...string) (turns int) {
	t.Helper()
	store := session.NewMemory()
	cleared := 0
	opts := []satchel.Option{satchel.WithStore(store), satchel.WithEvents(func(_ context.Context, e core.Event) {
		if e.Kind == core.TextCleared {
			cleared++
			if e.Skill != "pdf" || !strings.Contains(e.Detail, "rent ") || !strings.Contains(e.Detail, "chance ") {
				t.Errorf("event %+v", e)
			}
		}
	})}
	c := chattest.NewChat(t, chattest.Open(t, officeSkills(), opts...)).Say(core.System, "You help.").Say(core.User, "Fill in this form.")
	c.Calls("skill_load pdf")
	c.Answer("done")
	for turns < 20 {
		c.Say(core.User, fmt.Sprintf("%s (%d)", prompts[turns%len(prompts)], turns))
		if restart {
			c.Runtime = chattest.Open(t, officeSkills(), opts...)
		}
		if len(inView(c.View())) == 0 {
			break
		}
		turns++
		c.Answer("done")
	}
	if cleared > 1 || (cleared == 1) != (turns < 20) {
		t.Errorf("%d events after %d turns", cleared, turns)
	}
	return turns
}

// A text that prompts are about is used from view: it stays where chat clears it, in one
// process and in one for each turn.
func TestPromptsAreEvidenceOfUse(t *testing.T) {
	for _, restart := range []bool{false, true} {
		chat := quietTurns(t, restart, "Thank you.")
		about := quietTurns(t, restart, "One more form, please.", "Merge it.")
		other := quietTurns(t, restart, "Draw a presentation.")
		if about <= chat || other > chat {
			t.Errorf("the text stays for %d turns of chat, %d about it, %d about something else", chat, about, other)
		}
	}
}

// The cap ends a load and leaves its text, so nothing that was sent changes. A later turn
// clears the text where that pays.
func TestTheCapBreaksNothing(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Turn, loadmode.Session} {
		t.Run(mode.String(), func(t *testing.T) {
			var breaks []string
			c := chattest.NewChat(t, chattest.Open(t, officeSkills(), satchel.WithLoading(satchel.Loading{Mode: mode, Max: 1}), satchel.WithPrefixGuard(),
				satchel.WithEvents(func(_ context.Context, e core.Event) {
					if e.Kind == core.PrefixBroken {
						breaks = append(breaks, e.Detail)
					}
				}))).Say(core.System, "You help.").Say(core.User, "Fill in this form.")
			for _, name := range []string{"pdf", "xlsx", "docx"} {
				answer := c.Calls("skill_load " + name)[0]
				c.View()
				if name != "pdf" && !strings.Contains(answer, "(its text stays in view for now)") {
					t.Errorf("answer %q", answer)
				}
			}
			chattest.Same(t, "loaded", c.LoadedNames(), "docx[]")
			chattest.Same(t, "in view", inView(c.View()), "pdf", "xlsx", "docx")
			chattest.Same(t, "breaks", breaks)
			if answer := c.Calls("skill_load pdf")[0]; !strings.HasPrefix(answer, "loaded: pdf; its text is above") {
				t.Errorf("loaded again: %q", answer)
			}
			for turn := 0; mode == loadmode.Session && len(inView(c.View())) > 1; turn++ {
				if turn == 40 {
					t.Fatal("the texts of ended loads are never cleared")
				}
				c.Answer("done")
				c.Say(core.User, fmt.Sprint("Thank you ", turn))
			}
			if mode == loadmode.Session {
				chattest.Same(t, "left", inView(c.View()), "pdf")
			}
		})
	}
}

// A break that a call makes takes the texts of ended loads with it that do not pay to be sent
// again, and no loaded one.
func TestABreakTakesWhatIsBehindIt(t *testing.T) {
	c := chattest.NewChat(t, chattest.Open(t, officeSkills(), satchel.WithLoading(satchel.Loading{Max: 2}))).Say(core.System, "You help.").Say(core.User, "Work.")
	for _, name := range []string{"pdf", "xlsx", "docx"} {
		c.Calls("skill_load " + name)
	}
	c.Calls("skill_load pdf") // the first text is the one of pdf; xlsx is now used least recently
	chattest.Same(t, "loaded", c.LoadedNames(), "docx[]", "pdf[]")
	c.Calls("skill_unload pdf")
	chattest.Same(t, "in view", inView(c.View()), "docx")
	chattest.Same(t, "in view again", inView(c.View()), "docx")
	chattest.Same(t, "loaded", c.LoadedNames(), "docx[]")
}
