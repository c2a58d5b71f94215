//go:build unix

package run_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// A fork works in the workspace of the agent above, and a command that it has left running ends with
// it.
func TestForkRunsCommands(t *testing.T) {
	run := func(ctx context.Context, r satchel.ForkRequest) (string, error) {
		agent := r.Runtime.Agent(r.Key)
		view, err := agent.Prepare(ctx, core.Request{Messages: []core.Message{{Role: core.User, Text: r.Task}}})
		if err != nil || !strings.Contains(view.Messages[0].Text, "Nothing.") {
			t.Errorf("the fork begins with %+v, error %v", view.Messages, err)
		}
		calls := []core.ToolCall{
			{ID: "1", Name: "skill_run", Arguments: `{"skill":"plain","command":"cat work/above"}`},
			{ID: "2", Name: "skill_exec", Arguments: `{"skill":"plain","command":"echo $$; exec sleep 1000","yield_ms":2000}`},
		}
		if err := r.Runtime.Hooks().Observe(ctx, r.Key, calls); err != nil {
			return "", err
		}
		var answers []string
		for _, c := range calls {
			answer, err := r.Runtime.CallTool(ctx, r.Key, c)
			if err != nil {
				return "", err
			}
			answers = append(answers, answer)
		}
		text, err := json.Marshal(answers)
		return string(text), err
	}
	b := newBench(t, satchel.Runner{}, satchel.WithFork(satchel.Fork{Run: run, Skills: []string{"plain"}}))
	b.run(`{"skill":"demo","command":"echo from above > work/above"}`)
	answer := b.call("skill_load", `{"skill":"plain"}`)
	head, body, _ := strings.Cut(answer, "\n")
	var answers []string
	if err := json.Unmarshal([]byte(body), &answers); err != nil || head != "[forked: plain, 1 model call]" {
		t.Fatalf("answer %q: %v", answer, err)
	}
	var ran struct{ Stdout string }
	if err := json.Unmarshal([]byte(answers[0]), &ran); err != nil || ran.Stdout != "from above\n" {
		t.Errorf("the fork's command answers %s", answers[0])
	}
	var left struct{ Status, Output string }
	if err := json.Unmarshal([]byte(answers[1]), &left); err != nil || left.Status != "running" {
		t.Fatalf("the fork's interactive command answers %s", answers[1])
	}
	pid, err := strconv.Atoi(strings.TrimSpace(left.Output))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("process %d of the fork is still there", pid)
	}
	if got := b.run(`{"skill":"demo","command":"cat work/above"}`).Stdout; got != "from above\n" {
		t.Errorf("the workspace holds %q after the fork", got)
	}
}
