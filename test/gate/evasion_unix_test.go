//go:build unix

package gate_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/bypasstest"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/permission"
)

// evader has a skill loaded that may run echo, and a file that must not appear.
type evader struct {
	*chattest.Chat
	canary string
}

func newEvader(t *testing.T, opts ...satchel.Option) *evader {
	t.Helper()
	canary := filepath.Join(t.TempDir(), "canary")
	touch := "touch " + canary
	files := listedSkills()
	for name, text := range map[string]string{"echo": "#!/bin/sh\n" + touch + "\n", "scripts/run.sh": touch + "\n", "scripts/echo": "#!/bin/sh\n" + touch + "\n"} {
		files["echo/"+name] = &fstest.MapFile{Data: []byte(text), Mode: 0o755}
	}
	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	c := chattest.NewChat(t, chattest.Open(t, files, append([]satchel.Option{satchel.WithRunner(satchel.Runner{Executor: local})}, opts...)...)).Say(core.User, "hi")
	c.Calls(loadEcho)
	return &evader{c, canary}
}

func (e *evader) args(more map[string]any) string {
	all := map[string]any{"skill": "echo"}
	for name, value := range more {
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		e.T.Fatal(err)
	}
	return string(text)
}

// try makes a call, past the gate too, and returns the two answers.
func (e *evader) try(tool, args string) (gate, direct string) {
	e.T.Helper()
	call := e.Respond(tool + " " + args)[0]
	d := e.Decide(call)
	gate = d.Reason
	if !d.Denied {
		gate = e.Execute(call)
	}
	direct, err := e.Runtime.CallTool(e.Context, e.Key, core.ToolCall{Name: tool, Arguments: args})
	if err != nil {
		e.T.Fatal(err)
	}
	if _, err := os.Stat(e.canary); err == nil {
		e.T.Errorf("%s %s has run something else", tool, args)
		_ = os.Remove(e.canary)
	}
	return gate, direct
}

func TestEvasionsRunNothing(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"skill_run", "skill_exec"} {
		e := newEvader(t)
		canary := "touch " + e.canary
		all := bypasstest.Runs(canary)
		for name, command := range bypasstest.Commands(canary) {
			all["command: "+name] = map[string]any{"command": command}
		}
		for _, unloaded := range []bool{false, true} {
			if unloaded {
				e.Calls(`skill_unload {"all":true}`)
			}
			for name, args := range all {
				t.Run(fmt.Sprintf("%s/unloaded=%v/%s", tool, unloaded, name), func(t *testing.T) {
					gate, direct := e.try(tool, e.args(args))
					for _, answer := range []string{gate, direct} {
						// An invalid call gets an error that says what is wrong.
						if !strings.HasPrefix(answer, "denied: "+tool) && !strings.HasPrefix(answer, "error: ") {
							t.Errorf("the answer is %s", answer)
						}
					}
				})
			}
		}
	}
}

func TestWhatIsAllowedRuns(t *testing.T) {
	t.Parallel()
	e := newEvader(t)
	for _, command := range bypasstest.Allowed {
		gate, direct := e.try("skill_run", e.args(map[string]any{"command": command}))
		var r struct {
			Stdout, Stderr string
			ExitCode       int `json:"exit_code"`
		}
		same := gate == direct || strings.HasSuffix(command, "&") // a background process that outlives the shell may print less
		if err := json.Unmarshal([]byte(gate), &r); err != nil || !same || r.ExitCode != 0 {
			t.Errorf("%q gives %s", command, gate)
		}
	}
	if gate, _ := e.try("skill_run", e.args(map[string]any{"command": "echo ok", "cwd": "./", "timeout": 9, "stdin": "x"})); !strings.Contains(gate, `"stdout":"ok\n"`) {
		t.Errorf("the answer is %s", gate)
	}
}

// A program that a command has left in the skill's own bin does not pass for one
// that a pattern names.
func TestPatternsDoNotFindPlantedPrograms(t *testing.T) {
	t.Parallel()
	for rule, planted := range map[string]bool{"Bash": true, "Bash(date:*) Bash(sh:*)": false} {
		e := newEvader(t)
		files := listedSkills()
		files["echo/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: echo\ndescription: x\nallowed-tools: " + rule + "\n---\nBODY\n")}
		local, err := local.New()
		if err != nil {
			t.Fatal(err)
		}
		e.Chat = chattest.NewChat(t, chattest.Open(t, files, satchel.WithRunner(satchel.Runner{Executor: local}))).Say(core.User, "hi")
		e.Calls(loadEcho)
		e.try("skill_run", e.args(map[string]any{"command": `sh -c 'mkdir -p .venv/bin; printf "#!/bin/sh\necho planted\n" > .venv/bin/date; chmod +x .venv/bin/date'`}))
		gate, _ := e.try("skill_run", e.args(map[string]any{"command": "date"}))
		if strings.Contains(gate, "planted") != planted || !strings.Contains(gate, `"exit_code":0`) {
			t.Errorf("under %s, date gives %s", rule, gate)
		}
	}
}

func TestPoliciesOfRuns(t *testing.T) {
	t.Parallel()
	for policy, want := range map[permission.Policy]bool{permission.Restrict: false, permission.Preapprove: true, permission.Off: true} {
		e := newEvader(t, satchel.WithPermissions(satchel.Permissions{Policy: policy}))
		gate, _ := e.try("skill_run", e.args(map[string]any{"command": "id -u"}))
		if strings.Contains(gate, `"exit_code":0`) != want {
			t.Errorf("%s: %s", policy, gate)
		}
	}
	e := newEvader(t)
	e.Turn("next")
	e.Calls(`skill_load {"skill":"free"}`)
	if gate, _ := e.try("skill_run", `{"skill":"free","command":"id -u"}`); !strings.Contains(gate, `"exit_code":0`) {
		t.Errorf("without a list: %s", gate)
	}
	e.Turn("and next")
	e.Calls(`skill_load {"skill":"none"}`)
	if gate, _ := e.try("skill_run", `{"skill":"none","command":"echo ok"}`); !strings.HasPrefix(gate, "denied: ") {
		t.Errorf("with an empty list: %s", gate)
	}
}

// A session is started by a pattern, and written to by none.
func TestSessionsUnderLists(t *testing.T) {
	e := newEvader(t)
	gate, _ := e.try("skill_exec", e.args(map[string]any{"command": "echo ok", "yield_ms": 60000}))
	if !strings.Contains(gate, "ok") || strings.HasPrefix(gate, "denied") {
		t.Fatalf("the answer is %s", gate)
	}
	for tool, denied := range map[string]bool{"skill_write_stdin": true, "skill_poll_session": false, "skill_kill_session": false} {
		if gate, _ := e.try(tool, `{"session_id":"x","chars":"touch `+e.canary+`\n"}`); strings.HasPrefix(gate, "denied: "+tool) != denied {
			t.Errorf("%s answers %s", tool, gate)
		}
	}
}
