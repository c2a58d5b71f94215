//go:build unix

package run_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// commandLog is a hook that keeps the reports about commands, and the uses of skills.
type commandLog struct {
	mu     sync.Mutex
	events []core.Event
}

func (l *commandLog) note(_ context.Context, e core.Event) {
	if e.Kind == core.CommandEnded || e.Kind == core.SkillUsed {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.events = append(l.events, e)
	}
}

// lines returns what was kept, and forgets it.
func (l *commandLog) lines() (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if e.Kind == core.SkillUsed {
			lines = append(lines, "used "+e.Skill+" "+e.Detail)
			continue
		}
		line := fmt.Sprintf("%s %s: %q", e.Skill, e.Call.Name, e.Command.Command)
		if e.ExitCode != nil {
			line += fmt.Sprint(" exit ", *e.ExitCode)
		}
		if e.Command.TimedOut {
			line += " timed out"
		}
		for _, f := range e.Command.Files {
			line += fmt.Sprintf(" %s (%d)", f.Path, f.Size)
		}
		lines = append(lines, line)
	}
	l.events = nil
	return lines
}

func TestCommandEvents(t *testing.T) {
	for name, c := range map[string]struct {
		tool, args string
		want       []string
	}{
		"outputs": {
			"skill_run", command("echo hi > out/a.txt; exit 3", `,"output_files":["out/*"]`),
			[]string{`demo skill_run: "echo hi > out/a.txt; exit 3" exit 3 out/a.txt (3)`, "used demo run"},
		},
		"nothing is collected": {"skill_run", command("echo hi > out/a.txt", ""), []string{`demo skill_run: "echo hi > out/a.txt" exit 0`, "used demo run"}},
		"a script": {
			"skill_run", `{"skill":"demo","script":"scripts/echo","args":["a b","c","it's",""]}`,
			[]string{`demo skill_run: "scripts/echo 'a b' c 'it'\\''s' ''" exit 0`, "used demo run"},
		},
		"time": {"skill_run", command("sleep 30", `,"timeout":1`), []string{`demo skill_run: "sleep 30" exit 143 timed out`, "used demo run"}},
		"a secret": {
			"skill_run", command("echo s3cr3t-value > out/s3cr3t-value", `,"output_files":["out/*"]`),
			[]string{`demo skill_run: "echo [DEMO_TOKEN] > out/[DEMO_TOKEN]" exit 0 out/[DEMO_TOKEN] (13)`, "used demo run"},
		},
		"not run": {"skill_run", `{"skill":"demo"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &commandLog{}
			b := newBench(t, runnerWithSecret("s3cr3t-value"), satchel.WithEvents(log.note))
			b.call(c.tool, c.args)
			chattest.Same(t, "reports", log.lines(), c.want...)
		})
	}
}

// A session is reported once, when its command has ended.
func TestCommandEventOfASession(t *testing.T) {
	log := &commandLog{}
	b := newBench(t, satchel.Runner{}, satchel.WithEvents(log.note))
	b.talk("skill_exec", command("read x; echo $x > out/x; exit 2", `,"output_files":["out/*"],"yield_ms":10`))
	chattest.Same(t, "reports", log.lines(), "used demo run")
	b.finish(b.talk("skill_write_stdin", `{"session_id":"s1","chars":"go","submit":true}`))
	chattest.Same(t, "reports", log.lines(), `demo skill_exec: "read x; echo $x > out/x; exit 2" exit 2 out/x (3)`)
}

// A command that cannot start is reported too. It uses no skill.
func TestCommandEventWithoutAStart(t *testing.T) {
	log, exec := &commandLog{}, satchel.Runner{}
	own, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	exec.Executor = failingExecutor{own}
	b := newBench(t, exec, satchel.WithEvents(log.note))
	for _, tool := range []string{"skill_run", "skill_exec"} {
		b.call(tool, command("true", ""))
		chattest.Same(t, "reports", log.lines(), "demo "+tool+`: "true"`)
	}
}

// The report names the limits of the command.
func TestCommandEventLimits(t *testing.T) {
	log := &commandLog{}
	b := newBench(t, satchel.Runner{}, satchel.WithEvents(log.note))
	b.call("skill_run", command("true", `,"timeout":7`))
	var names []string
	limits := log.events[0].Command.Limits
	for name, value := range limits {
		if value <= 0 {
			t.Errorf("limit %s is %d", name, value)
		}
		names = append(names, name)
	}
	if limits["timeout_ms"] != 7000 || len(names) != 8 || log.events[0].Duration <= 0 {
		t.Errorf("limits %v after %v, want a timeout of 7 s in %s", limits, log.events[0].Duration, strings.Join(names, ", "))
	}
}
