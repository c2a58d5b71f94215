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

func disallowedSkills() fstest.MapFS {
	return fstest.MapFS{
		"careful/SKILL.md": {Data: []byte("---\nname: careful\ndescription: Takes care.\ndisallowed-tools: search Bash(rm:*) skill_load skill_unload Read\n---\nBODY\n")},
		"wide/SKILL.md":    {Data: []byte("---\nname: wide\ndescription: Allows much.\nallowed-tools: search read_file Bash\n---\nBODY\n")},
		"both/SKILL.md":    {Data: []byte("---\nname: both\ndescription: Allows and denies.\nallowed-tools: search read_file\ndisallowed-tools: [search]\n---\nBODY\n")},
	}
}

// TestDisallowedTools denies what disallowed-tools of a loaded skill name, before a list allows it,
// and only while the skill is loaded.
func TestDisallowedTools(t *testing.T) {
	const load, unload = `skill_load {"skill":"careful"}`, `skill_unload {"skill":"careful"}`
	for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Turn, loadmode.Session} {
		t.Run(mode.String(), func(t *testing.T) {
			c := chattest.NewChat(t, chattest.Open(t, disallowedSkills(), satchel.WithLoading(satchel.Loading{Mode: mode}))).Say(core.User, "hi")
			chattest.Same(t, "in one message", c.Gate("search {}", load, "search {}", "write_file {}", "skill_list_docs careful"),
				"search", "skill_load", "!search", "write_file", "skill_list_docs")
			chattest.Same(t, "before a list allows it", c.Gate(`skill_load {"skill":"wide"}`, "search {}", "read_file {}"), "skill_load", "!search", "!read_file")
			chattest.Same(t, "own tools", c.Gate(`skill_read {"skill":"careful","path":"SKILL.md"}`, unload, "search {}"), "skill_read", "skill_unload", "search")
			chattest.Same(t, "loaded again", c.Gate(load, "search {}"), "skill_load", "!search")
			c.Turn("next")
			want := "search"
			if mode == loadmode.Session {
				want = "!search"
			}
			chattest.Same(t, "next turn", c.Gate("search {}"), want)
		})
	}
}

func TestDisallowedToolsAndPolicies(t *testing.T) {
	for policy, want := range map[permission.Policy]string{
		permission.Restrict: "!search", permission.RestrictAll: "!search", permission.Preapprove: "search", permission.Off: "search",
	} {
		p := &person{answer: core.AnswerAllow}
		c := chattest.NewChat(t, chattest.Open(t, disallowedSkills(), satchel.WithPermissions(satchel.Permissions{Policy: policy}), satchel.WithApprover(p.approve))).Say(core.User, "hi")
		c.Gate(`skill_load {"skill":"both"}`)
		chattest.Same(t, policy.String(), c.Gate("search {}"), want)
		if want == "!search" && p.times() != 0 {
			t.Errorf("%s: a person is asked about what is not allowed", policy)
		}
	}
}

// TestDisallowedToolsAreTold says in the answer of a load, and in that of a denied call, what is not
// allowed.
func TestDisallowedToolsAreTold(t *testing.T) {
	c := chattest.NewChat(t, chattest.Open(t, disallowedSkills())).Say(core.User, "hi")
	answer := c.Execute(c.Respond(`skill_load {"skill":"careful"}`)[0])
	if !strings.Contains(answer, "not allowed while careful is loaded: search, Bash(rm:*), Read\n") {
		t.Errorf("the load: %s", answer)
	}
	d := c.Decide(c.Respond("search {}")[0])
	if want := "denied: search is among the disallowed-tools of careful: search. This holds while the skill is loaded."; !d.Denied || !strings.HasPrefix(d.Reason, want) {
		t.Errorf("the call: %+v", d)
	}
	answer = c.Execute(c.Respond(`skill_load {"skill":"both"}`)[0])
	if !strings.Contains(answer, "tools allowed now: ") || !strings.Contains(answer, "not allowed while both is loaded: search") {
		t.Errorf("the load of both: %s", answer)
	}
}
