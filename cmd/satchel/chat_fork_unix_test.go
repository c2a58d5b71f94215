//go:build unix

package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// forkScript answers for the agent and for its forks.
func forkScript(agent, fork satcheltest.Script) satcheltest.Script {
	return func(r satcheltest.Request) satcheltest.Response {
		if r.Contains("available_skills") {
			return agent(r)
		}
		return fork(r)
	}
}

// A fork runs a script, and its requests, results and costs are events with its name.
func TestChatFork(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		script := forkScript(
			satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Do("skill_load", map[string]any{"skill": "report"})}, Needs: []string{"[forked: report, 2 model calls, ", " tokens]\n42 rows it is"}, Answer: "done"}),
			satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{{Calls: []core.ToolCall{command("report", "bash scripts/run.sh")}}}, Needs: []string{"42 rows"}, Answer: "42 rows it is"}),
		)
		got := converse(t, script, "", append(flags, "--skills", forkingSkills(t), "--executor", "local", "--fork", "declared", "--system", "You help.", "--json", "report")...)
		if got.code != 0 || len(got.requests) != 4 {
			t.Fatalf("code %d, %d requests, %s\n%s", got.code, len(got.requests), got.err, got.out)
		}
		first := got.requests[1].Messages
		if len(first) != 2 || first[0].Text != "You help." || !strings.Contains(first[1].Text, "BODY OF REPORT") {
			t.Errorf("the fork began with %+v", first)
		}
		last := got.requests[3]
		if last.Contains("BODY OF REPORT") || !strings.HasPrefix(string(last.Prompt()), strings.TrimSuffix(string(got.requests[0].Prompt()), "]")) {
			t.Errorf("the agent went on with %s", last.Prompt())
		}
		var events []string
		for line := range strings.Lines(got.out) {
			var e struct {
				Event, Fork, Name string
				PromptTokens      int `json:"prompt_tokens"`
			}
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			if e.Fork != "" {
				events = append(events, strings.TrimSpace(e.Fork+" "+e.Event+" "+e.Name))
			}
			if e.Event == "usage" && e.PromptTokens == 0 {
				t.Errorf("no tokens in %s", line)
			}
		}
		want := []string{"report fork.begun", "report usage", "report tool_call skill_run", "report tool_result skill_run", "report usage", "report fork.ended"}
		if !slices.Equal(events, want) {
			t.Errorf("events of the fork are %q, want %q", events, want)
		}
	})
}

// Names may be added, the limit holds, and without the flag the field is ignored with one finding.
func TestChatForkFlags(t *testing.T) {
	skills := forkingSkills(t)
	loads := func(skill string) satcheltest.Script {
		return satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Do("skill_load", map[string]any{"skill": skill})}, Answer: "done"})
	}
	t.Run("named, and loops", func(t *testing.T) {
		script := forkScript(loads("pdf"), func(satcheltest.Request) satcheltest.Response {
			return satcheltest.Response{Text: "again", Calls: []core.ToolCall{satcheltest.ToolCall("skill_list_docs", map[string]any{"skill": "pdf"})}}
		})
		got := converse(t, script, "", "chat", "--skills", skills, "--fork", "pdf", "--max-fork-turns", "2", "--json", "go")
		if got.code != 0 || !strings.Contains(got.out, "[not finished: it has reached its limit of 2 model calls; what it said last follows]\\nagain") || len(got.requests) != 4 {
			t.Errorf("code %d, %d requests, %s\n%s", got.code, len(got.requests), got.err, got.out)
		}
	})
	t.Run("not given", func(t *testing.T) {
		got := converse(t, loads("report"), "", "chat", "--skills", skills, "--json", "go")
		if n := strings.Count(got.out, "context: fork is ignored"); got.code != 0 || n != 1 || !strings.Contains(got.out, "loaded: report") {
			t.Errorf("code %d, %d findings, %s\n%s", got.code, n, got.err, got.out)
		}
	})
	for flags, want := range map[string]string{
		"--fork=none":                        "none",
		"--fork=declared --max-fork-turns=0": "--max-fork-turns 0",
		"--fork=declared,,pdf":               "a name is empty",
	} {
		got := converse(t, loads("pdf"), "", append([]string{"chat", "--skills", skills, "go"}, strings.Fields(flags)...)...)
		if got.code != 2 || !strings.Contains(got.err, want) || len(got.requests) > 0 {
			t.Errorf("%s: code %d, %s", flags, got.code, got.err)
		}
	}
}

// The skill of a fork stays in its requests whatever the flags say about loads, and a fork that cannot
// begin has made no request.
func TestChatForkKeepsItsTask(t *testing.T) {
	skills := forkingSkills(t)
	for _, framework := range frameworks {
		for name, test := range map[string]struct {
			flags string
			load  core.ToolCall
			calls []core.ToolCall
		}{
			"once": {"--load-mode once", satcheltest.ToolCall("skill_load", map[string]any{"skill": "report"}), []core.ToolCall{
				satcheltest.ToolCall("skill_list_docs", map[string]any{"skill": "report"}), satcheltest.ToolCall("skill_load", map[string]any{"skill": "pdf", "mode": "replace"}),
				satcheltest.ToolCall("skill_unload", map[string]any{"all": true}),
			}},
			"runtime-spec": {"--vocabulary runtime-spec", satcheltest.ToolCall("skills_load", map[string]any{"names": []string{"report"}}), []core.ToolCall{
				satcheltest.ToolCall("skills_load", map[string]any{"names": []string{"pdf"}}), satcheltest.ToolCall("skills_unload", map[string]any{"names": []string{"report"}}),
			}},
		} {
			t.Run(framework+"/"+name, func(t *testing.T) {
				plan := satcheltest.Turn{Answer: "42"}
				for _, call := range test.calls {
					plan.Steps = append(plan.Steps, satcheltest.Step{Calls: []core.ToolCall{call}})
				}
				script := forkScript(satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{{Calls: []core.ToolCall{test.load}}}, Answer: "done"}), satcheltest.Plan(plan))
				got := converse(t, script, "", append([]string{"chat", "--framework", framework, "--skills", skills, "--fork", "declared", "go"}, strings.Fields(test.flags)...)...)
				if got.code != 0 || len(got.requests) != len(test.calls)+3 {
					t.Fatalf("code %d, %d requests, %s\n%s", got.code, len(got.requests), got.err, got.out)
				}
				for i, r := range got.requests[1 : len(test.calls)+2] {
					if n := strings.Count(string(r.Raw), "BODY OF REPORT"); n != 1 {
						t.Errorf("the task stands %d times in request %d of the fork\n%s", n, i+1, r.Raw)
					}
				}
			})
		}
		t.Run(framework+"/budget", func(t *testing.T) {
			load := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Do("skill_load", map[string]any{"skill": "report"})}, Answer: "done"})
			got := converse(t, load, "", "chat", "--framework", framework, "--skills", skills, "--fork", "declared", "--content-budget", "1,2", "--json", "go")
			if want := `[forked: report, 0 model calls]\n[not finished: it could not begin: its task is too long for the content budget: about `; got.code != 0 || !strings.Contains(got.out, want) || len(got.requests) != 2 {
				t.Errorf("code %d, %d requests, %s\n%s", got.code, len(got.requests), got.err, got.out)
			}
		})
	}
}

// The command tool answers a load with a fork at the endpoint of the environment.
func TestToolFork(t *testing.T) {
	skills := forkingSkills(t)
	script := satcheltest.Plan(satcheltest.Turn{Answer: "REPORT"})
	got := converse(t, script, "", "tool", "--skills", skills, "--profile", "knowledge_only", "--fork", "declared", "skill_load", `{"skill":"report"}`)
	if got.code != 0 || !strings.HasPrefix(got.out, `"[forked: report, 1 model call, `) || !strings.HasSuffix(got.out, `]\nREPORT"`+"\n") {
		t.Errorf("code %d, %s\n%s", got.code, got.err, got.out)
	}
	if got := program(t, nil, "", "tool", "--skills", skills, "--fork", "declared", "skill_load", `{"skill":"report"}`); got.code != 2 || !strings.Contains(got.err, "OPENAI_MODEL") {
		t.Errorf("without an endpoint: code %d, %s", got.code, got.err)
	}
}
