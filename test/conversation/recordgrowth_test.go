package conversation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// recordSize is that of an encoded record, and how many texts of ended loads it lists.
type recordSize struct{ bytes, texts int }

// sizeOf reads the record of a chat.
func sizeOf(t *testing.T, c *chattest.Chat, store session.Store) (s recordSize) {
	t.Helper()
	v, err := store.Load(t.Context(), c.Key)
	if err != nil {
		t.Fatal(err)
	}
	s.bytes = len(v.Data)
	for _, d := range chattest.RecordOf(t, store, c.Key).Deliveries {
		if d.Ended && d.Body {
			s.texts++
		}
		if d.Ended {
			s.texts += len(d.Docs)
		}
	}
	return s
}

// longChat plays turns that each need one of some skills, perhaps with a doc, and call a
// tool twice. It returns what the record takes where each turn ends.
func longChat(t *testing.T, mode loadmode.Mode, skills, turns int) (sizes []recordSize) {
	t.Helper()
	r, files, store := rand.New(rand.NewPCG(1, 1)), chattest.NewFiles(), session.NewMemory()
	long := func(mark string, tokens int) string { return mark + "\n" + strings.Repeat("word and more. ", tokens/4) }
	name := func(i int) string { return fmt.Sprintf("customer-replies-%d", i) }
	for i := range skills {
		files.Put(name(i)+"/SKILL.md", "---\nname: "+name(i)+"\ndescription: Replies.\n---\n"+long(fmt.Sprintf("{body %d}", i), 200+r.IntN(3500)), time.Time{})
		files.Put(name(i)+"/docs/part-1.md", long(fmt.Sprintf("{doc %d}", i), 200+r.IntN(3500)), time.Time{})
	}
	c := chattest.NewChat(t, chattest.Open(t, files, satchel.WithLoading(satchel.Loading{Mode: mode}), satchel.WithStore(store))).Say(core.System, "You help.")
	for turn := range turns {
		c.Say(core.User, fmt.Sprint("turn ", turn))
		i, docs := r.IntN(skills), ""
		if r.IntN(10) < 3 {
			docs = `"docs/part-1.md"`
		}
		view := chattest.Shown(c.View())
		if !strings.Contains(view, fmt.Sprintf("{body %d}", i)) || docs != "" && !strings.Contains(view, fmt.Sprintf("{doc %d}", i)) {
			c.Calls(fmt.Sprintf(`skill_load {"skill":%q,"docs":[%s]}`, name(i), docs))
		}
		for range 2 {
			c.Calls("search x")
			c.Messages[len(c.Messages)-1].Text = strings.Repeat("found it. ", 10+r.IntN(300))
		}
		c.Answer("done")
		sizes = append(sizes, sizeOf(t, c, store))
	}
	return sizes
}

// A record of mode Adaptive takes less than 1,000 bytes more than one of mode Turn. The difference
// is what it keeps to decide, how the turn began, and the list of texts in view, however many
// they are.
func TestTheRecordGrowsLittle(t *testing.T) {
	grows := func(name string, atLeast int, adaptive, turn []recordSize) {
		grown, texts := 0, 0
		for i, a := range adaptive {
			more := a.bytes - turn[i].bytes
			if grown, texts = max(grown, more), max(texts, a.texts); more >= 1000 {
				t.Errorf("%s, turn %d: %d bytes more than the %d of mode turn, for %d texts", name, i, more, turn[i].bytes, a.texts)
			}
		}
		t.Logf("%s: up to %d bytes more, with up to %d texts", name, grown, texts)
		if texts < atLeast {
			t.Errorf("%s: only %d texts stay in view", name, texts)
		}
	}
	short := map[loadmode.Mode][]recordSize{}
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Adaptive} {
		store := session.NewMemory()
		short[mode] = []recordSize{sizeOf(t, manyTurns(t, mode, store), store)}
	}
	grows("12 turns", 4, short[loadmode.Adaptive], short[loadmode.Turn])
	turns := 200
	if testing.Short() {
		turns = 60
	}
	for skills, atLeast := range map[int]int{5: 4, 20: 6, 60: 5} {
		grows(fmt.Sprintf("%d turns, %d skills", turns, skills), atLeast, longChat(t, loadmode.Adaptive, skills, turns), longChat(t, loadmode.Turn, skills, turns))
	}
}
