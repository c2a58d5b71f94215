package conversation_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// maxViewAllocations is how many allocations the view of a request within a turn may take.
// maxEvidence is how many bytes of a record may tell what turn starts have found out.
const maxViewAllocations, maxEvidence = 4, 1 << 10

// lifetimeChats are chats in the middle of a turn that has begun with a decision about texts.
var lifetimeChats = map[string]func(c *chattest.Chat){
	"texts were cleared": func(c *chattest.Chat) {
		c.Calls("skill_load pdf", "skill_load xlsx", "skill_load docx")
		c.Answer("done")
		for i := 0; len(inView(c.View())) > 0 && i < 40; i++ {
			c.Say(core.User, fmt.Sprint("Thank you. ", i)).View()
			c.Answer("done")
		}
		c.Say(core.User, "Thank you.").Calls("search x")
	},
	"the prompt is about texts in view": func(c *chattest.Chat) {
		c.Calls("skill_load pdf", "skill_load xlsx", "skill_load docx")
		c.Answer("done")
		c.Say(core.User, "Merge the forms and the spreadsheets.").Calls("search x")
	},
	"sections": func(c *chattest.Chat) {
		c.Calls(`skill_load {"skill":"pdf","docs":["guide.md#fill-in","guide.md#merge"]}`)
		c.Answer("done")
		c.Say(core.User, "Merge the forms.").Calls(`skill_select_docs {"skill":"pdf","docs":["guide.md#print"],"mode":"add"}`)
	},
	"a cut of the host": func(c *chattest.Chat) {
		c.Calls("skill_load pdf", "skill_load xlsx")
		c.Answer("done")
		c.Say(core.User, "Thank you.").Calls("search x")
		c.Messages[0].Text += " It is noon."
	},
}

// lifetimeChat plays one of lifetimeChats.
func lifetimeChat(tb testing.TB, play func(c *chattest.Chat), opts ...satchel.Option) *chattest.Chat {
	tb.Helper()
	files := officeSkills()
	files["pdf/guide.md"] = &fstest.MapFile{Data: []byte("# Guide\n## Fill in\n" + strings.Repeat("fill ", 900) + "\n### By hand\nhand\n## Merge\n" + strings.Repeat("merge ", 900) + "\n## Print\nprint\n")}
	c := chattest.NewChat(tb, chattest.Open(tb, files, opts...)).Say(core.System, "You help.").Say(core.User, "Work.")
	play(c)
	c.View()
	return c
}

// A request within a turn takes few allocations, whatever its beginning has decided.
func TestViewAllocations(t *testing.T) {
	for name, play := range lifetimeChats {
		t.Run(name, func(t *testing.T) {
			c := lifetimeChat(t, play)
			req := core.Request{Key: c.Key, Messages: c.Messages}
			least := math.Inf(1)
			for range 1000 { // the catalog may allocate in the background meanwhile
				allocs := testing.AllocsPerRun(100, func() {
					if _, err := c.Runtime.Prepare(c.Context, req); err != nil {
						t.Error(err)
					}
				})
				if least = min(least, allocs); least <= maxViewAllocations {
					return
				}
			}
			t.Errorf("%v allocations, want at most %d", least, maxViewAllocations)
		})
	}
}

// What a turn start finds out, and the texts that stay, make a record less than a kilobyte longer
// than it is in mode turn, which keeps neither.
func TestEvidenceTakesLittleOfARecord(t *testing.T) {
	for name, play := range lifetimeChats {
		t.Run(name, func(t *testing.T) {
			sizes := map[loadmode.Mode]int{}
			for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Turn} {
				store := session.NewMemory()
				c := lifetimeChat(t, play, satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Mode: mode}))
				sizes[mode] = sizeOf(t, c, store).bytes
			}
			grown := sizes[loadmode.Adaptive] - sizes[loadmode.Turn]
			t.Logf("%d bytes, %d more than in mode turn", sizes[loadmode.Adaptive], grown)
			if grown <= 0 || grown >= maxEvidence {
				t.Errorf("the record takes %d bytes more than in mode turn, want less than %d", grown, maxEvidence)
			}
		})
	}
}

// BenchmarkView measures a request within a turn, and BenchmarkTurnStart one that begins a turn,
// with its decision about texts and its save.
func BenchmarkView(b *testing.B) {
	for name, play := range lifetimeChats {
		b.Run(name, func(b *testing.B) {
			c := lifetimeChat(b, play)
			req := core.Request{Key: c.Key, Messages: c.Messages}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Runtime.Prepare(c.Context, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTurnStart(b *testing.B) {
	for name, play := range lifetimeChats {
		b.Run(name, func(b *testing.B) {
			c := lifetimeChat(b, play)
			c.Answer("done")
			c.Say(core.User, "Merge the forms and the spreadsheets.")
			req := core.Request{Key: c.Key, Messages: c.Messages}
			b.ReportAllocs()
			for turn := 0; b.Loop(); turn++ {
				if _, err := c.Runtime.Prepare(satchel.BeginTurn(c.Context, fmt.Sprint(turn)), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
