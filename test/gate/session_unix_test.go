//go:build unix

package gate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/tools/run"
)

// What is written to a command is judged by the list of the skill whose command it is,
// not by those of others.
func TestInputIsJudgedByItsSkill(t *testing.T) {
	t.Parallel()
	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	runner := run.Runner{Executor: local, Limits: executor.Limits{Timeout: time.Minute}}
	c := chattest.NewChat(t, chattest.Open(t, withLists(map[string]string{"narrow": "Bash(cat:*)", "wide": "Bash"}), satchel.WithRunner(runner))).Say(core.User, "hi")
	c.Calls(`skill_load {"skills":["narrow","wide"]}`)
	for _, tt := range []struct {
		skill, session string
		denied         bool
	}{{"narrow", "s1", true}, {"wide", "s2", false}} {
		answer := makes(c, "skill_exec", map[string]any{"skill": tt.skill, "command": "cat", "yield_ms": 1})
		if !strings.Contains(answer, `"session_id":"`+tt.session+`"`) {
			t.Fatalf("%s: %s", tt.skill, answer)
		}
		answer = makes(c, "skill_write_stdin", map[string]any{"session_id": tt.session, "chars": "x\n"})
		if strings.HasPrefix(answer, "denied: ") != tt.denied {
			t.Errorf("%s: %s", tt.skill, answer)
		}
		for _, tool := range []string{"skill_poll_session", "skill_kill_session"} {
			if answer := makes(c, tool, map[string]any{"session_id": tt.session}); !strings.Contains(answer, `"status"`) {
				t.Errorf("%s of %s: %s", tool, tt.skill, answer)
			}
		}
	}
}
