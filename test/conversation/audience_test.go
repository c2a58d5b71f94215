package conversation

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
)

// rights are what each session may see, by the names of skills. A test changes them
// between turns.
type rights map[string][]string

func (r rights) audience(_ context.Context, key core.SessionKey) satchel.Audience {
	names := slices.Clone(r[key.Session])
	return satchel.Audience{Key: "of " + strings.Join(names, ","), Allow: func(s core.Skill) bool { return slices.Contains(names, s.Name) }}
}

func everything(c *chattest.Chat) string {
	var b strings.Builder
	for _, m := range c.View() {
		b.WriteString(m.Text + "\n")
	}
	return b.String()
}

func TestAudience(t *testing.T) {
	w := chattest.NewWorld(3)
	seen := rights{"a": {"s0", "s1"}, "b": {"s2"}, "none": {}}
	r := chattest.Open(t, w.Files, satchel.WithAudience(seen.audience))
	chat := func(session string) *chattest.Chat {
		c := chattest.NewChat(t, r)
		c.Key.Session = session
		return c.Say(core.User, "Hello.")
	}
	a, b := chat("a"), chat("b")
	if text := everything(a); !strings.Contains(text, "s0") || !strings.Contains(text, "s1") || strings.Contains(text, "s2") {
		t.Errorf("the overview of a: %s", text)
	}
	if text := everything(b); strings.Contains(text, "s0") || !strings.Contains(text, "s2") {
		t.Errorf("the overview of b: %s", text)
	}
	for _, call := range []string{
		`skill_load {"skill":"s2"}`, `skill_load {"skill":"host:s2"}`, `skill_load {"skill":"fs:world/s2"}`, `skill_load {"skill":"s22"}`,
		`skill_list_docs {"skill":"s2"}`, `skill_read {"skill":"s2","path":"data.csv"}`, `skill_run {"skill":"s2","command":"true"}`,
		`skill_select_docs {"skill":"s2","docs":["d0.md"]}`,
	} {
		answer := a.Calls(call)[0]
		if strings.Contains(answer, "did you mean s2") || strings.Contains(answer, `mean "s2"`) || !strings.Contains(answer, "unknown skill") && !strings.Contains(answer, "no skill is loaded") {
			t.Errorf("%s: %s", call, answer)
		}
	}
	if answer := b.Calls(`skill_load {"skill":"s2"}`)[0]; !strings.Contains(answer, "loaded: s2") {
		t.Errorf("b loads its own: %s", answer)
	}
	nobody := chattest.NewChat(t, r)
	nobody.Key.Session = "none"
	v, err := r.Prepare(t.Context(), core.Request{Key: nobody.Key, Messages: []core.Message{{Role: core.User, Text: "Hi."}}})
	if err != nil || !v.NoSkills || len(v.Messages) != 1 {
		t.Errorf("somebody who sees nothing: %+v, %v", v, err)
	}
}

// A skill that is withdrawn goes with everything, at the beginning of a turn.
func TestAudienceWithdraws(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Session, loadmode.Adaptive} {
		t.Run(mode.String(), func(t *testing.T) {
			w := chattest.NewWorld(2)
			seen := rights{"chat": {"s0", "s1"}}
			var unloaded []string
			r := chattest.Open(t, w.Files, satchel.WithAudience(seen.audience), satchel.WithLoading(satchel.Loading{Mode: mode}),
				satchel.WithEvents(func(_ context.Context, e core.Event) {
					if e.Kind == core.SkillUnloaded && e.Detail == "withdrawn" {
						unloaded = append(unloaded, e.Skill)
					}
				}))
			c := chattest.NewChat(t, r).Say(core.User, "One.")
			c.Calls(`skill_load {"skill":"s0","docs":["d0.md"]}`, `skill_load {"skill":"s1"}`)
			if text := everything(c); !strings.Contains(text, "{body s0") || !strings.Contains(text, "{doc s0/d0.md") {
				t.Fatalf("not loaded: %s", text)
			}
			c.Answer("Done.")
			seen["chat"] = []string{"s1"}
			c.Say(core.User, "Two.")
			text := everything(c)
			if strings.Contains(text, "{body s0") || strings.Contains(text, "{doc s0") {
				t.Errorf("its text is still there: %s", text)
			}
			if !strings.Contains(text, "removed:") {
				t.Errorf("the session is not told: %s", text)
			}
			if strings.Contains(c.View()[0].Text, "s0") {
				t.Errorf("the overview still names it: %s", c.View()[0].Text)
			}
			if mode != loadmode.Turn && !slices.Equal(unloaded, []string{"s0"}) {
				t.Errorf("events: %q", unloaded)
			}
			if again := everything(c); again != text {
				t.Error("a request that is prepared again is another one")
			}
			if answer := c.Calls(`skill_load {"skill":"s0"}`)[0]; !strings.Contains(answer, "unknown skill") {
				t.Errorf("it can be loaded: %s", answer)
			}
		})
	}
}

func TestAudienceWithoutKey(t *testing.T) {
	r := chattest.Open(t, chattest.NewWorld(1).Files, satchel.WithAudience(func(context.Context, core.SessionKey) satchel.Audience {
		return satchel.Audience{Allow: func(core.Skill) bool { return true }}
	}))
	c := chattest.NewChat(t, r).Say(core.User, "Hello.")
	if _, err := r.Prepare(t.Context(), core.Request{Key: c.Key, Messages: c.Messages}); err == nil || !strings.Contains(err.Error(), "needs a key") {
		t.Errorf("error %v", err)
	}
}
