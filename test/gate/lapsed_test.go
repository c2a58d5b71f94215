package gate_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
)

// The list of a skill that is gone binds until the user's next message, but a person who
// can be asked is asked.
func TestListOfASkillThatIsGone(t *testing.T) {
	goings := map[string][]string{
		"unload":  {loadEcho, `skill_unload {"skills":["echo"]}`},
		"replace": {loadEcho, `skill_load {"skill":"free","mode":"replace"}`},
		"evicted": {loadEcho, `skill_load {"skill":"free"}`},
		"in one":  {loadEcho, `skill_load {"skill":"free","mode":"replace"}`, `skill_unload {"all":true}`},
	}
	for name, calls := range goings {
		for _, policy := range []permission.Policy{permission.Restrict, permission.RestrictAll} {
			for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Session} {
				t.Run(name+" "+policy.String()+" "+mode.String(), func(t *testing.T) {
					p := &person{answer: core.AnswerAllow}
					opts := []satchel.Option{satchel.WithLoading(satchel.Loading{Max: 1, Mode: mode}), satchel.WithPermissions(satchel.Permissions{Policy: policy})}
					c := listedChat(t, append(opts, satchel.WithApprover(p.approve))...)
					c.Gate(loadEcho)
					chattest.Same(t, "loaded", c.Gate("search {}"), "!search")
					if n := p.times(); n != 0 {
						t.Errorf("%d questions while the skill is loaded", n)
					}
					c.Gate(calls...)
					p.times()
					chattest.Same(t, "gone", c.Gate("search {}", "read_file {}"), "search", "read_file")
					if len(p.asked) != 1 || !strings.Contains(p.asked[0].Reason, "allowed-tools of echo") || !strings.Contains(p.asked[0].Reason, "until the user's next message") {
						t.Errorf("questions %+v", p.asked)
					}
					p.answer = core.AnswerDeny
					chattest.Same(t, "refused", c.Gate("search {}"), "!search")

					alone := listedChat(t, opts...)
					alone.Gate(calls...)
					chattest.Same(t, "nobody to ask", alone.Gate("search {}"), "!search")
					alone.Turn("next")
					chattest.Same(t, "next turn", alone.Gate("search {}"), "search")
				})
			}
		}
	}
}

// What a list of a loaded skill denies is denied, whatever else is gone, and the load
// says which tools need a question.
func TestListOfASkillThatIsGoneBesideOthers(t *testing.T) {
	for combine, want := range map[permission.Combine]string{permission.Union: "search", permission.Intersection: "!search", permission.Latest: "search"} {
		p := &person{answer: core.AnswerAllow}
		c := listedChat(t, satchel.WithApprover(p.approve), satchel.WithPermissions(satchel.Permissions{Combine: combine}))
		c.Gate(loadEcho, `skill_load {"skill":"write"}`)
		chattest.Same(t, "both", c.Gate("search {}"), want)
		c.Gate(`skill_unload {"skills":["echo"]}`)
		p.times()
		chattest.Same(t, combine.String(), c.Gate("search {}", "write_file {}", "edit_file {}"), "search", "write_file", "!edit_file")
		if n := p.times(); n != map[permission.Combine]int{permission.Intersection: 2}[combine] {
			t.Errorf("%v: %d questions", combine, n)
		}
	}
	p := &person{answer: core.AnswerAllow}
	c := listedChat(t, satchel.WithApprover(p.approve))
	c.View()
	c.Calls(loadEcho)
	if got := c.Calls(`skill_load {"skill":"none","mode":"replace"}`)[0]; strings.Contains(got, "after a question") {
		t.Errorf("a tool that a loaded list denies: %s", got)
	}
}

// A skill that a search has loaded restricts and grants nothing until the model loads it,
// but its own commands keep to its list.
func TestListOfAGuess(t *testing.T) {
	files := fstest.MapFS{"logs/SKILL.md": {Data: []byte("---\nname: logs\ndescription: Check the server logs of a machine.\nallowed-tools: Read search\n---\nBODY OF logs\n")}}
	for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Session} {
		p := &person{answer: core.AnswerAllow}
		opts := []satchel.Option{satchel.WithActivation(satchel.Activation{Load: true, Most: 1}), satchel.WithLoading(satchel.Loading{Mode: mode})}
		c := chattest.NewChat(t, chattest.Open(t, files, append(opts, satchel.WithApprover(p.approve))...)).Say(core.User, "check the server logs of this machine and fix them")
		chattest.Same(t, "guessed", c.Gate("write_file {}", "search {}"), "write_file", "search")
		if names := c.LoadedNames(); len(names) != 1 || p.times() != 2 {
			t.Errorf("loaded %v", names)
		}
		chattest.Same(t, "its own command", c.Gate(`skill_run {"skill":"logs","command":"true"}`), "!skill_run")
		chattest.Same(t, "chosen", c.Gate(`skill_load {"skill":"logs"}`, "write_file {}", "search {}"), "skill_load", "!write_file", "search")
		if n := p.times(); n != 0 {
			t.Errorf("%d questions", n)
		}
		alone := chattest.NewChat(t, chattest.Open(t, files, opts...)).Say(core.User, "check the server logs of this machine and fix them")
		chattest.Same(t, "nobody to ask", alone.Gate("write_file {}"), "write_file")
	}
}
