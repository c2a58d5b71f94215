package satchel_test

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
	"github.com/satchel-go/satchel/core"
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
func secondTurn(t *testing.T, w *world, opts ...satchel.Option) *chat {
	t.Helper()
	c := newChat(t, open(t, w.files, opts...)).say(core.System, "You help.").say(core.User, "one")
	c.calls(`skill_load {"skill":"s0","docs":["d0.md"]}`)
	c.answer("done")
	c.say(core.User, "two")
	return c
}

func TestContentThatDoesNotPayToClearStays(t *testing.T) {
	w := newWorld(2)
	body, doc := bodyMark("s0", w.skills["s0"].body), docMark("s0", "d0.md", w.skills["s0"].docs["d0.md"])
	c := secondTurn(t, w, satchel.WithCachePolicy(stays))
	before := c.view()
	same(t, "places", where(before), "3: "+body+" "+doc)
	same(t, "loaded skills", c.loadedNames())
	if got := c.calls("skill_read data.csv")[0]; !strings.Contains(got, "no skill is loaded") {
		t.Errorf("a load that is over reads: %q", got)
	}

	got := c.calls(`skill_load {"skill":"s0","docs":["d1.md"]}`)[0]
	if !strings.HasPrefix(got, "loaded: s0; its text is above, docs added: d1.md\n") {
		t.Errorf("loaded again it answers %q", got)
	}
	after := c.view()
	if !reflect.DeepEqual(after[:len(before)], before) {
		t.Errorf("the prefix broke:\n%s", shown(after))
	}
	same(t, "places", where(after), "3: "+body+" "+doc, "9: "+docMark("s0", "d1.md", w.skills["s0"].docs["d1.md"]))
	same(t, "loaded skills", c.loadedNames(), "s0[d0.md d1.md]")
}

func TestContentThatPaysToClearGoes(t *testing.T) {
	for name, opts := range map[string][]satchel.Option{
		"pays":       {satchel.WithCachePolicy(goes)},
		"no policy":  nil,
		"in system":  {satchel.WithCachePolicy(stays), satchel.WithPlacement(processors.InSystem)},
		"mode once":  {satchel.WithCachePolicy(stays), satchel.WithLoadMode(loadmode.Once)},
		"zero value": {satchel.WithCachePolicy(loadmode.CachePolicy{})},
	} {
		t.Run(name, func(t *testing.T) {
			c := secondTurn(t, newWorld(1), opts...)
			same(t, "places", where(c.view()))
			if got := c.calls("skill_load s0")[0]; !strings.HasPrefix(got, "loaded: s0\n") {
				t.Errorf("answer %q", got)
			}
		})
	}
}

func TestSelectingDocsOfTextInViewLoadsItAgain(t *testing.T) {
	w := newWorld(1)
	c := secondTurn(t, w, satchel.WithCachePolicy(stays))
	got := c.calls(`skill_select_docs {"skill":"s0","docs":["d2.md"],"mode":"add"}`)[0]
	if !strings.HasPrefix(got, "loaded: s0; its text is above, docs added: d2.md\n") {
		t.Errorf("answer %q", got)
	}
	same(t, "loaded skills", c.loadedNames(), "s0[d0.md d2.md]")
	c.calls("skill_unload s0")
	same(t, "places", where(c.view()))
}

// An edit between two turns is delivered with the next load; the older text goes
// where the prefix breaks anyway.
func TestEditedTextSupersedesTextThatStayed(t *testing.T) {
	w := newWorld(1)
	c := secondTurn(t, w, satchel.WithCachePolicy(stays))
	old := bodyMark("s0", w.skills["s0"].body)
	w.editBody("s0")
	if got := c.calls("skill_load s0")[0]; !strings.Contains(got, "supersedes") {
		t.Errorf("answer %q", got)
	}
	fresh := bodyMark("s0", w.skills["s0"].body)
	if view := shown(c.view()); strings.Count(view, fresh) != 1 || strings.Count(view, old) != 1 {
		t.Errorf("new and old text in\n%s", view)
	}
	c.answer("done")
	c.say(core.User, "three")
	if view := shown(c.view()); strings.Count(view, fresh) != 1 || strings.Contains(view, old) {
		t.Errorf("after the turn:\n%s", view)
	}
}

func TestTextThatWasCutFromTheHistoryIsDeliveredAgain(t *testing.T) {
	w := newWorld(1)
	c := secondTurn(t, w, satchel.WithCachePolicy(stays))
	c.messages = append(c.messages[:1:1], c.messages[len(c.messages)-1])
	same(t, "places", where(c.view()))
	if got := c.calls("skill_load s0")[0]; !strings.HasPrefix(got, "loaded: s0\n") {
		t.Errorf("answer %q", got)
	}
	same(t, "places", where(c.view()), "3: "+bodyMark("s0", w.skills["s0"].body))
	same(t, "loaded skills", c.loadedNames(), "s0[]")
}

func TestAColdCacheIsClearedAtOnce(t *testing.T) {
	for pause, want := range map[time.Duration]int{4 * time.Minute: 1, 6 * time.Minute: 0} {
		synctest.Test(t, func(t *testing.T) {
			c := newChat(t, open(t, newWorld(1).files, satchel.WithCachePolicy(stays))).say(core.User, "one")
			c.calls("skill_load s0")
			c.answer("done")
			time.Sleep(pause)
			if got := where(c.say(core.User, "two").view()); len(got) != want {
				t.Errorf("after %v the view shows %q", pause, got)
			}
		})
	}
}

// What stays is in the record: another process shows it too, and a record that
// was lost is rebuilt from the receipt of the second load.
func TestContentStaysAfterARestart(t *testing.T) {
	w, store := newWorld(1), session.NewMemory()
	c := secondTurn(t, w, satchel.WithCachePolicy(stays), satchel.WithStore(store))
	before := c.view()
	c.runtime = open(t, w.files, satchel.WithCachePolicy(stays), satchel.WithStore(store))
	if after := c.view(); !reflect.DeepEqual(after, before) {
		t.Errorf("after the restart:\n%s\nwant\n%s", shown(after), shown(before))
	}
	c.calls("skill_load s0")
	c.runtime = open(t, w.files, satchel.WithCachePolicy(stays))
	same(t, "places", where(c.view()), "7: "+bodyMark("s0", w.skills["s0"].body)+" "+docMark("s0", "d0.md", w.skills["s0"].docs["d0.md"]))
	same(t, "loaded skills", c.loadedNames(), "s0[d0.md]")
}

func TestBadPolicy(t *testing.T) {
	_, err := satchel.New(satchel.WithCachePolicy(loadmode.CachePolicy{Read: -1}))
	if !errors.Is(err, satchel.ErrOption) || !errors.Is(err, loadmode.ErrPolicy) {
		t.Errorf("error %v", err)
	}
}

// Whatever a policy decides: a view is the same when asked for again, begins with
// the one before it unless a turn has begun or something was unloaded, and shows
// each text that is loaded just once. The guard has an explanation for each break.
func TestPoliciesKeepTheInvariants(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		w := newWorld(3)
		policy := loadmode.CachePolicy{Read: r.Float64() / 4, Write: 1 + r.Float64()/4, Horizon: r.IntN(40)}
		c := newChat(t, open(t, w.files, satchel.WithCachePolicy(policy), satchel.WithMaxLoaded(2), satchel.WithPrefixGuard(processors.FailTest(t)))).say(core.System, "You help.").say(core.User, "0")
		last, free, ended := c.view(), false, 0
		for step := range 40 {
			skill := fmt.Sprintf("s%d", r.IntN(3))
			full := len(c.loadedNames()) == 2
			switch r.IntN(7) {
			case 0, 1:
				c.calls(fmt.Sprintf(`skill_load {"skill":%q,"docs":["d%d.md"]}`, skill, r.IntN(3)))
				free = full // one may be evicted
			case 2:
				c.calls(fmt.Sprintf(`skill_select_docs {"skill":%q,"docs":["d%d.md"],"mode":"add"}`, skill, r.IntN(3)))
				free = full
			case 3:
				c.calls("skill_unload " + skill)
				free = true
			case 4:
				c.calls("search x")
			default:
				c.answer("done")
				c.say(core.User, fmt.Sprint(step+1))
				free = true
			}
			view := c.view()
			if again := c.view(); !reflect.DeepEqual(view, again) {
				t.Fatalf("seed %d, step %d: two views of one request", seed, step)
			}
			if !free && !reflect.DeepEqual(view[:len(last)], last) {
				t.Fatalf("seed %d, step %d: the prefix broke:\n%s\nwas\n%s", seed, step, shown(view), shown(last))
			}
			ended += c.checkOnce(w, view)
			last, free = view, false
		}
		if policy.Horizon == 0 && ended == 0 {
			t.Errorf("seed %d: nothing ever stayed", seed)
		}
	}
}

// checkOnce checks that each loaded text is in the view once, and returns how
// many others are.
func (c *chat) checkOnce(w *world, view []core.Message) (others int) {
	c.t.Helper()
	all, err := c.runtime.Loaded(satchel.WithKey(c.ctx, c.key))
	if err != nil {
		c.t.Fatal(err)
	}
	want := map[string]bool{}
	for _, l := range all {
		want[bodyMark(l.Skill, w.skills[l.Skill].body)] = true
		for _, d := range l.Docs {
			want[docMark(l.Skill, d, w.skills[l.Skill].docs[d])] = true
		}
	}
	got := map[string]int{}
	for _, m := range view {
		for _, mark := range marks.FindAllString(m.Added, -1) {
			got[mark]++
		}
	}
	for mark := range want {
		if got[mark] != 1 {
			c.t.Fatalf("%s is loaded and shown %d times:\n%s", mark, got[mark], shown(view))
		}
	}
	for mark, n := range got {
		if n != 1 {
			c.t.Fatalf("%s is shown %d times:\n%s", mark, n, shown(view))
		}
		if !want[mark] {
			others++
		}
	}
	return others
}

func ExampleWithCachePolicy() {
	runtime, err := satchel.New(
		satchel.WithSkillFS("builtin", exampleSkills),
		satchel.WithCachePolicy(loadmode.CachePolicy{Read: 0.1, Write: 1.25, Horizon: 4, TTL: 5 * time.Minute}),
	)
	fmt.Println(err)
	defer runtime.Close()
	// Output: <nil>
}
