//go:build unix

package gate_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// A list of a skill that a search has loaded judges all calls from the model's first use of the skill
// on. Refused and denied calls are no use, and neither is a look at the list of docs.
func TestListOfAUsedGuess(t *testing.T) {
	const head = "---\nname: logs\ndescription: Check the server logs of a machine.\nallowed-tools: "
	files := func(list string) fstest.MapFS {
		return fstest.MapFS{
			"logs/SKILL.md":       {Data: []byte(head + list + "\n---\nBODY OF logs\n")},
			"logs/guide.md":       {Data: []byte("# Guide\n\nLook.\n")},
			"logs/scripts/one.sh": {Data: []byte("echo one\n")},
			"other/SKILL.md":      {Data: []byte("---\nname: other\ndescription: Another one.\n---\nBODY OF other\n")},
		}
	}
	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		list, call string
		isUse      bool
	}{
		"a file":              {"Read search", `skill_read {"skill":"logs","path":"guide.md"}`, true},
		"a file of the last":  {"Read search", `skill_read {"path":"SKILL.md"}`, true},
		"docs":                {"Read search", `skill_select_docs {"skill":"logs","docs":["guide.md"]}`, true},
		"a load":              {"Read search", `skill_load {"skill":"logs"}`, true},
		"a script":            {"Bash(scripts/one.sh:*) search", `skill_run {"skill":"logs","command":"scripts/one.sh"}`, true},
		"a denied script":     {"Read search", `skill_run {"skill":"logs","command":"scripts/one.sh"}`, false},
		"a missing file":      {"Read search", `skill_read {"skill":"logs","path":"missing.md"}`, false},
		"unknown docs":        {"Read search", `skill_select_docs {"skill":"logs","docs":["missing.md"]}`, false},
		"the list of docs":    {"Read search", `skill_list_docs {"skill":"logs"}`, false},
		"a load of another":   {"Read search", `skill_load {"skill":"other"}`, false},
		"a tool of the host":  {"Read search", `search {}`, false},
		"a file of the other": {"Read search", `skill_read {"skill":"other","path":"SKILL.md"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			opts := []satchel.Option{
				satchel.WithActivation(satchel.Activation{Load: true, Most: 1}),
				satchel.WithRunner(satchel.Runner{Executor: local}),
			}
			c := chattest.NewChat(t, chattest.Open(t, files(tt.list), opts...)).Say(core.User, "check the server logs of this machine and fix them")
			c.View()
			if names := c.LoadedNames(); len(names) != 1 {
				t.Fatalf("loaded %v", names)
			}
			if d := c.Decide(c.Respond(`write_file {}`)[0]); d.Denied {
				t.Fatalf("before: %+v", d)
			}
			answer := "a call of the host"
			if call := c.Respond(tt.call)[0]; !strings.HasPrefix(tt.call, "search") {
				answer = c.Execute(call)
			}
			if d := c.Decide(c.Respond(`write_file {}`)[0]); d.Denied != tt.isUse {
				t.Errorf("denied is %t after %s: %s", d.Denied, tt.call, answer)
			}
		})
	}
}
