package conversation_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// stays is a policy by which nothing is ever worth a break; goes one by which
// all is.
var (
	stays = loadmode.CachePolicy{Write: 1, TTL: 5 * time.Minute}
	goes  = loadmode.CachePolicy{Read: 1, Write: 1, Horizon: 1}
)

// secondTurn is a chat whose first turn has loaded s0 with a doc, and whose
// second has begun.
func secondTurn(t *testing.T, w *chattest.World, opts ...satchel.Option) *chattest.Chat {
	t.Helper()
	c := chattest.NewChat(t, chattest.Open(t, w.Files, opts...)).Say(core.System, "You help.").Say(core.User, "one")
	c.Calls(`skill_load {"skill":"s0","docs":["d0.md"]}`)
	c.Answer("done")
	c.Say(core.User, "two")
	return c
}

func TestContentThatDoesNotPayToClearStays(t *testing.T) {
	w := chattest.NewWorld(2)
	body, doc := chattest.BodyMark("s0", w.Skills["s0"].Body), chattest.DocMark("s0", "d0.md", w.Skills["s0"].Docs["d0.md"])
	c := secondTurn(t, w, satchel.WithLoading(satchel.Loading{Clearing: stays}))
	before := c.View()
	chattest.Same(t, "places", chattest.Where(before), "3: "+body+" "+doc)
	chattest.Same(t, "loaded skills", c.LoadedNames())
	if got := c.Calls("skill_read data.csv")[0]; !strings.Contains(got, "no skill is loaded") {
		t.Errorf("a load that is over reads: %q", got)
	}

	got := c.Calls(`skill_load {"skill":"s0","docs":["d1.md"]}`)[0]
	if !strings.HasPrefix(got, "loaded: s0; its text is above\n") {
		t.Errorf("loaded again it answers %q", got)
	}
	after := c.View()
	if !reflect.DeepEqual(after[:len(before)], before) {
		t.Errorf("the prefix broke:\n%s", chattest.Shown(after))
	}
	chattest.Same(t, "places", chattest.Where(after), "3: "+body+" "+doc, "9: "+chattest.DocMark("s0", "d1.md", w.Skills["s0"].Docs["d1.md"]))
	chattest.Same(t, "loaded skills", c.LoadedNames(), "s0[d0.md d1.md]")
}

func TestContentThatPaysToClearGoes(t *testing.T) {
	for name, opts := range map[string][]satchel.Option{
		"pays":       {satchel.WithLoading(satchel.Loading{Clearing: goes})},
		"mode turn":  {satchel.WithLoading(satchel.Loading{Mode: loadmode.Turn})},
		"in system":  {satchel.WithLoading(satchel.Loading{Clearing: stays, Placement: processors.InSystem})},
		"zero value": {satchel.WithLoading(satchel.Loading{Clearing: loadmode.CachePolicy{}, Mode: loadmode.Turn})},
	} {
		t.Run(name, func(t *testing.T) {
			c := secondTurn(t, chattest.NewWorld(1), opts...)
			chattest.Same(t, "places", chattest.Where(c.View()))
			if got := c.Calls("skill_load s0")[0]; !strings.HasPrefix(got, "loaded: s0\n") {
				t.Errorf("answer %q", got)
			}
		})
	}
}

func TestSelectingDocsOfTextInViewLoadsItAgain(t *testing.T) {
	w := chattest.NewWorld(1)
	c := secondTurn(t, w, satchel.WithLoading(satchel.Loading{Clearing: stays}))
	got := c.Calls(`skill_select_docs {"skill":"s0","docs":["d2.md"],"mode":"add"}`)[0]
	if !strings.HasPrefix(got, "loaded: s0; its text is above\n") {
		t.Errorf("answer %q", got)
	}
	chattest.Same(t, "loaded skills", c.LoadedNames(), "s0[d0.md d2.md]")
	c.Calls("skill_unload s0")
	chattest.Same(t, "places", chattest.Where(c.View()))
}

// An edit between two turns is delivered with the next load; the older text goes
// where the prefix breaks anyway.
func TestEditedTextSupersedesTextThatStayed(t *testing.T) {
	w := chattest.NewWorld(1)
	c := secondTurn(t, w, satchel.WithLoading(satchel.Loading{Clearing: stays}))
	old := chattest.BodyMark("s0", w.Skills["s0"].Body)
	w.EditBody("s0")
	if got := c.Calls("skill_load s0")[0]; !strings.Contains(got, "supersedes") {
		t.Errorf("answer %q", got)
	}
	fresh := chattest.BodyMark("s0", w.Skills["s0"].Body)
	if view := chattest.Shown(c.View()); strings.Count(view, fresh) != 1 || strings.Count(view, old) != 1 {
		t.Errorf("new and old text in\n%s", view)
	}
	c.Answer("done")
	c.Say(core.User, "three")
	if view := chattest.Shown(c.View()); strings.Count(view, fresh) != 1 || strings.Contains(view, old) {
		t.Errorf("after the turn:\n%s", view)
	}
}

func TestTextThatWasCutFromTheHistoryIsDeliveredAgain(t *testing.T) {
	w := chattest.NewWorld(1)
	c := secondTurn(t, w, satchel.WithLoading(satchel.Loading{Clearing: stays}))
	c.Messages = append(c.Messages[:1:1], c.Messages[len(c.Messages)-1])
	chattest.Same(t, "places", chattest.Where(c.View()))
	if got := c.Calls("skill_load s0")[0]; !strings.HasPrefix(got, "loaded: s0\n") {
		t.Errorf("answer %q", got)
	}
	chattest.Same(t, "places", chattest.Where(c.View()), "3: "+chattest.BodyMark("s0", w.Skills["s0"].Body))
	chattest.Same(t, "loaded skills", c.LoadedNames(), "s0[]")
}

func TestAColdCacheIsClearedAtOnce(t *testing.T) {
	for pause, want := range map[time.Duration]int{4 * time.Minute: 1, 6 * time.Minute: 0} {
		synctest.Test(t, func(t *testing.T) {
			c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(1).Files, satchel.WithLoading(satchel.Loading{Clearing: stays}))).Say(core.User, "one")
			c.Calls("skill_load s0")
			c.Answer("done")
			time.Sleep(pause)
			if got := chattest.Where(c.Say(core.User, "two").View()); len(got) != want {
				t.Errorf("after %v the view shows %q", pause, got)
			}
		})
	}
}

// What stays is in the record: another process shows it too, and a record that
// was lost is rebuilt from the receipt of the second load.
func TestContentStaysAfterARestart(t *testing.T) {
	w, store := chattest.NewWorld(1), session.NewMemory()
	c := secondTurn(t, w, satchel.WithLoading(satchel.Loading{Clearing: stays}), satchel.WithStore(store))
	before := c.View()
	c.Runtime = chattest.Open(t, w.Files, satchel.WithLoading(satchel.Loading{Clearing: stays}), satchel.WithStore(store))
	if after := c.View(); !reflect.DeepEqual(after, before) {
		t.Errorf("after the restart:\n%s\nwant\n%s", chattest.Shown(after), chattest.Shown(before))
	}
	c.Calls("skill_load s0")
	c.Runtime = chattest.Open(t, w.Files, satchel.WithLoading(satchel.Loading{Clearing: stays}))
	chattest.Same(t, "places", chattest.Where(c.View()), "7: "+chattest.BodyMark("s0", w.Skills["s0"].Body)+" "+chattest.DocMark("s0", "d0.md", w.Skills["s0"].Docs["d0.md"]))
	chattest.Same(t, "loaded skills", c.LoadedNames(), "s0[d0.md]")
}

func TestBadPolicy(t *testing.T) {
	_, err := satchel.New(satchel.WithLoading(satchel.Loading{Clearing: loadmode.CachePolicy{Read: -1}}))
	if !errors.Is(err, satchel.ErrOption) || !strings.Contains(err.Error(), "invalid cache policy") {
		t.Errorf("error %v", err)
	}
}

// For every policy, a view is the same when asked for again, and shows each loaded text exactly
// once. It begins with the view before it unless a turn has begun or something was unloaded.
// The guard has an explanation for each break.
func TestPoliciesKeepTheInvariants(t *testing.T) {
	t.Parallel()
	seeds := uint64(60)
	if testing.Short() {
		seeds = 15
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		policy := loadmode.CachePolicy{Read: r.Float64() / 4, Write: 1 + r.Float64()/4, Horizon: r.IntN(40)}
		if ended := keepInvariants(t, r, seed, satchel.Loading{Clearing: policy, Max: 2}); policy.Horizon == 0 && ended == 0 {
			t.Errorf("seed %d: nothing ever stayed", seed)
		}
	}
}

// keepInvariants makes forty random steps and returns how many texts were in view
// of loads that had ended.
func keepInvariants(t *testing.T, r *rand.Rand, seed uint64, loading satchel.Loading) (ended int) {
	t.Helper()
	w := chattest.NewWorld(3)
	c := chattest.NewChat(t, chattest.Open(t, w.Files, satchel.WithLoading(loading), satchel.WithPrefixGuard(processors.FailTest(t)))).Say(core.System, "You help.").Say(core.User, "0")
	last, free := c.View(), false
	for step := range 40 {
		skill := fmt.Sprintf("s%d", r.IntN(3))
		full := len(c.LoadedNames()) == 2
		switch r.IntN(7) {
		case 0, 1:
			c.Calls(fmt.Sprintf(`skill_load {"skill":%q,"docs":["d%d.md"]}`, skill, r.IntN(3)))
			free = full // the load may evict a skill
		case 2:
			c.Calls(fmt.Sprintf(`skill_select_docs {"skill":%q,"docs":["d%d.md"],"mode":"add"}`, skill, r.IntN(3)))
			free = full
		case 3:
			c.Calls("skill_unload " + skill)
			free = true
		case 4:
			c.Calls("search x")
		default:
			c.Answer("done")
			c.Say(core.User, fmt.Sprint(step+1))
			free = true
		}
		view := c.View()
		if again := c.View(); !reflect.DeepEqual(view, again) {
			t.Fatalf("seed %d, step %d: two views of one request", seed, step)
		}
		if !free && !reflect.DeepEqual(view[:len(last)], last) {
			t.Fatalf("seed %d, step %d: the prefix broke:\n%s\nwas\n%s", seed, step, chattest.Shown(view), chattest.Shown(last))
		}
		ended += checkOnce(c, w, view)
		last, free = view, false
	}
	return ended
}

// checkOnce checks that each loaded text is in the view once, and returns how
// many others are.
func checkOnce(c *chattest.Chat, w *chattest.World, view []core.Message) (others int) {
	c.T.Helper()
	all, err := c.Runtime.Loaded(adapter.WithKey(c.Context, c.Key))
	if err != nil {
		c.T.Fatal(err)
	}
	want := map[string]bool{}
	for _, l := range all {
		want[chattest.BodyMark(l.Skill, w.Skills[l.Skill].Body)] = true
		for _, d := range l.Docs {
			want[chattest.DocMark(l.Skill, d, w.Skills[l.Skill].Docs[d])] = true
		}
	}
	got := map[string]int{}
	for _, m := range view {
		for _, mark := range chattest.Marks.FindAllString(m.Added, -1) {
			got[mark]++
		}
	}
	for mark := range want {
		if got[mark] != 1 {
			c.T.Fatalf("%s is loaded and shown %d times:\n%s", mark, got[mark], chattest.Shown(view))
		}
	}
	for mark, n := range got {
		if n != 1 {
			c.T.Fatalf("%s is shown %d times:\n%s", mark, n, chattest.Shown(view))
		}
		if !want[mark] {
			others++
		}
	}
	return others
}
