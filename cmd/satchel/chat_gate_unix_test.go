//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/bypasstest"
	"github.com/satchel-go/satchel/satcheltest"
)

// listedSkills are skills with lists of every kind; their names say which.
func listedSkills(t *testing.T, canary string) string {
	skill := func(name, head string) string {
		return "---\nname: " + name + "\ndescription: Has a list.\n" + head + "\n---\nBODY OF " + name + "\n"
	}
	return skillDir(t, map[string]string{
		"say/SKILL.md":       skill("say", "allowed-tools: "+bypasstest.List),
		"say/echo":           "#!/bin/sh\n" + canary + "\n",
		"say/scripts/echo":   "#!/bin/sh\n" + canary + "\n",
		"say/scripts/run.sh": canary + "\n",
		"free/SKILL.md":      skill("free", "license: MIT"),
		"none/SKILL.md":      skill("none", "allowed-tools: []"),
	})
}

// runOf is a call of skill_run.
func runOf(skill string, args map[string]any) core.ToolCall {
	all := map[string]any{"skill": skill}
	maps.Copy(all, args)
	return satcheltest.ToolCall("skill_run", all)
}

func command(skill, text string) core.ToolCall {
	return runOf(skill, map[string]any{"command": text})
}

// gateChat runs a conversation in which commands may run, and checks that the
// tools are the same bytes in every request.
func gateChat(t *testing.T, script satcheltest.Script, stdin string, args ...string) outcome {
	t.Helper()
	return gateChatAsked(t, script, stdin, nil, args...)
}

// gateChatAsked has further variables in the environment.
func gateChatAsked(t *testing.T, script satcheltest.Script, stdin string, env map[string]string, args ...string) outcome {
	t.Helper()
	got := converseWith(t, env, script, stdin, append(args, "--executor", "local", "--json")...)
	var first string
	for i, r := range got.requests {
		var body struct{ Tools json.RawMessage }
		if err := json.Unmarshal(r.Raw, &body); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = string(body.Tools)
		}
		if string(body.Tools) != first {
			t.Errorf("the tools of request %d are %s, first %s", i+1, body.Tools, first)
		}
	}
	return got
}

// results are what tools answered, in order.
func (o outcome) results(t *testing.T, tool string) []string {
	t.Helper()
	var all []string
	for line := range strings.Lines(o.out) {
		var e struct{ Event, Name, Result string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if e.Event == "tool_result" && e.Name == tool {
			all = append(all, e.Result)
		}
	}
	return all
}

const ran = `"exit_code":0`

func TestChatRunsNothingThatIsNotListed(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		file := filepath.Join(t.TempDir(), "canary")
		canary := "touch " + file
		var calls []core.ToolCall
		commands := bypasstest.Commands(canary)
		for _, name := range slices.Sorted(maps.Keys(commands)) {
			calls = append(calls, command("say", commands[name]))
		}
		runs := bypasstest.Runs(canary)
		for _, name := range slices.Sorted(maps.Keys(runs)) {
			calls = append(calls, runOf("say", runs[name]))
		}
		all := len(calls)
		calls = append(calls, command("say", "echo ok"))
		together := append([]core.ToolCall{satcheltest.ToolCall("skill_load", `{"skill":"say"}`)}, calls...)
		unloaded := append([]core.ToolCall{satcheltest.ToolCall("skill_unload", `{"all":true}`)}, calls...)
		got := gateChat(t, satcheltest.Plan(
			satcheltest.Turn{Steps: []satcheltest.Step{{Calls: together}, {Calls: calls}, {Calls: unloaded}}, Answer: "one"},
			satcheltest.Turn{Steps: []satcheltest.Step{{Calls: []core.ToolCall{satcheltest.ToolCall("skill_load", `{"skill":"free"}`), command("free", "id -u")}}}, Answer: "two"},
		), "", append(flags, "--skills", listedSkills(t, canary), "first", "second")...)
		if got.code != 0 {
			t.Fatalf("code %d, err %q", got.code, got.err)
		}
		results := got.results(t, "skill_run")
		if len(results) != 3*(all+1)+1 {
			t.Fatalf("%d results", len(results))
		}
		for i, r := range results[:3*(all+1)] {
			switch {
			case i%(all+1) < all:
				// An invalid call gets an error that says what is wrong.
				if !strings.HasPrefix(r, "denied: skill_run") && !strings.HasPrefix(r, "error: ") {
					t.Errorf("%s gives %s", calls[i%(all+1)].Arguments, r)
				}
			case i < 2*(all+1):
				if !strings.Contains(r, `"stdout":"ok\n"`) {
					t.Errorf("echo ok gives %s", r)
				}
			case !strings.Contains(r, "is not loaded"):
				t.Errorf("after the unload, echo ok gives %s", r)
			}
		}
		if last := results[len(results)-1]; !strings.Contains(last, ran) {
			t.Errorf("in the next turn, without a list: %s", last)
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("something else has run")
		}
	})
}

func TestChatPolicies(t *testing.T) {
	skills := listedSkills(t, "true")
	for _, test := range []struct {
		skill, command string
		flags          []string
		runs           bool
	}{
		{"say", "echo ok", nil, true},
		{"say", "id -u", nil, false},
		{"free", "id -u", nil, true},
		{"none", "echo ok", nil, false},
		{"say", "id -u", []string{"--policy", "preapprove"}, true},
		{"none", "id -u", []string{"--policy", "preapprove"}, true},
		{"say", "id -u", []string{"--policy", "off"}, true},
		{"say", "echo ok", []string{"--approve", "never"}, true},
		{"say", "id -u", []string{"--approve", "never"}, false},
		{"free", "id -u", []string{"--approve", "never"}, false},
		{"say", "echo ok", []string{"--policy", "preapprove", "--approve", "never"}, true},
		{"say", "id -u", []string{"--policy", "preapprove", "--approve", "never"}, false},
		{"none", "id -u", []string{"--policy", "preapprove", "--approve", "never"}, false},
		{"say", "echo ok", []string{"--policy", "off", "--approve", "never"}, false},
		{"free", "id -u", []string{"--policy", "off", "--approve", "always"}, true},
	} {
		t.Run(fmt.Sprint(test.skill, test.flags, test.command), func(t *testing.T) {
			for _, framework := range frameworks {
				got := gateChat(t, satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{
					satcheltest.Load(test.skill), {Calls: []core.ToolCall{command(test.skill, test.command)}},
				}, Answer: "done"}), "", append([]string{"chat", "--framework", framework, "--skills", skills, "hi"}, test.flags...)...)
				results := got.results(t, "skill_run")
				if got.code != 0 || len(results) != 1 || strings.Contains(results[0], ran) != test.runs || !test.runs && !strings.HasPrefix(results[0], "denied: ") {
					t.Errorf("%s: code %d, err %q, results %s", framework, got.code, got.err, results)
				}
			}
		})
	}
}

func TestChatAsks(t *testing.T) {
	skills := listedSkills(t, "true")
	twice := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{
		satcheltest.Load("free"), {Calls: []core.ToolCall{command("free", "echo one")}}, {Calls: []core.ToolCall{command("free", "echo one")}},
	}, Answer: "done"})
	for typed, test := range map[string]struct {
		runs      []bool
		questions int
	}{
		"y\nn\n":         {[]bool{true, false}, 2},
		"No\nYES\n":      {[]bool{false, true}, 2},
		"s\n":            {[]bool{true, true}, 1},
		"what?\n\ny\n n": {[]bool{true, false}, 4},
		"a\nb\nc\nyes\n": {[]bool{false, true}, 4},
		"":               {[]bool{false, false}, 2},
	} {
		t.Run(fmt.Sprintf("%q", typed), func(t *testing.T) {
			each(t, func(t *testing.T, flags ...string) {
				got := gateChatAsked(t, twice, "y\nyes\n", map[string]string{typedOnTerminal: typed}, append(flags, "--skills", skills, "--approve", "ask", "hi")...)
				results := got.results(t, "skill_run")
				if got.code != 0 || len(results) != 2 {
					t.Fatalf("code %d, err %q, results %q", got.code, got.err, results)
				}
				for i, want := range test.runs {
					if strings.Contains(results[i], `"stdout":"one\n"`) != want {
						t.Errorf("result %d is %s", i+1, results[i])
					}
				}
				if n := strings.Count(got.err, "\n? "); n != test.questions {
					t.Errorf("%d questions:\n%s", n, got.err)
				}
				if !strings.Contains(got.err, `chat wants to call skill_run {"command":"echo one","skill":"free"}`) && !strings.Contains(got.err, `agent wants to call skill_run`) {
					t.Errorf("the question is %s", got.err)
				}
			})
		})
	}
}

// A line of the input is a prompt, and a line typed on the terminal is an answer. Without a
// terminal no person can be asked, and the call is denied.
func TestChatAsksOnTheTerminal(t *testing.T) {
	skills := listedSkills(t, "true")
	script := satcheltest.Plan(
		satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("free"), {Calls: []core.ToolCall{command("free", "echo one")}}}, Answer: "first answer"},
		satcheltest.Turn{Answer: "second answer"},
		satcheltest.Turn{Answer: "third answer"},
	)
	each(t, func(t *testing.T, flags ...string) {
		flags = append(flags, "--skills", skills, "--approve", "ask")
		for name, test := range map[string]struct {
			env  map[string]string
			runs bool
		}{
			"typed":       {map[string]string{typedOnTerminal: "yes\n"}, true},
			"no terminal": {nil, false},
		} {
			got := gateChatAsked(t, script, "first\nyes\nthird\n", test.env, flags...)
			results := got.results(t, "skill_run")
			if got.code != 0 || len(results) != 1 || strings.Contains(results[0], ran) != test.runs || !strings.Contains(got.out, "third answer") {
				t.Errorf("%s: code %d, out %s, err %s", name, got.code, got.out, got.err)
			}
		}
	})
}

// interruptingTerminal sends Ctrl-C when a question is asked.
type interruptingTerminal struct{ text bytes.Buffer }

func (w *interruptingTerminal) Write(p []byte) (int, error) {
	if strings.HasSuffix(string(p), "\n? ") {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
			return 0, err
		}
	}
	return w.text.Write(p)
}

// Ctrl-C at a question cancels its turn and nothing else.
func TestChatQuestionIsCancelled(t *testing.T) {
	skills := listedSkills(t, "true")
	each(t, func(t *testing.T, flags ...string) {
		server, err := satcheltest.Open(func(r satcheltest.Request) satcheltest.Response {
			if r.Contains("second") {
				return satcheltest.Response{Text: "second answer"}
			}
			return satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("free"), {Calls: []core.ToolCall{command("free", "echo one")}}}, Answer: "first answer"})(r)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		in, silent := io.Pipe() // a terminal at which no one types
		defer silent.Close()
		var out bytes.Buffer
		errs := &interruptingTerminal{}
		code := run(t.Context(), append(flags, "--skills", skills, "--executor", "local", "--approve", "ask", "first", "second"), cli.Console{
			In: in, Out: &out, Err: errs, Terminal: true,
			Env: func(name string) string {
				return map[string]string{"OPENAI_BASE_URL": server.URL(), "OPENAI_MODEL": "m"}[name]
			},
		})
		if code != 1 || out.String() != "second answer\n" || !strings.Contains(errs.text.String(), "turn 1: cancelled") {
			t.Errorf("code %d, out %q, err %q", code, out.String(), errs.text.String())
		}
	})
}

func TestChatShowsDecisions(t *testing.T) {
	skills := listedSkills(t, "true")
	script := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("say"), {Calls: []core.ToolCall{command("say", "echo ok"), command("say", "id '\x1b[31m'")}}}, Answer: "done"})
	each(t, func(t *testing.T, flags ...string) {
		got := gateChat(t, script, "", append(flags, "--skills", skills, "hi")...)
		var seen []string
		for line := range strings.Lines(got.out) {
			var e map[string]string
			_ = json.Unmarshal([]byte(line), &e) // fields that are not strings do not matter
			if e["event"] == "decision" {
				reason, _, _ := strings.Cut(e["reason"], " \"")
				seen = append(seen, strings.Join([]string{e["name"], e["decision"], e["skill"], e["rule"], reason}, "|"))
			}
		}
		slices.Sort(seen)
		if want := []string{"skill_run|allowed|say|Bash(echo:*)|listed", "skill_run|denied|say||denied: skill_run"}; !slices.Equal(seen, want) {
			t.Errorf("decisions are %q", seen)
		}
		got = converse(t, script, "", append(flags, "--skills", skills, "--executor", "local", "-v", "hi")...)
		if !strings.Contains(got.err, "gate    allowed skill_run (listed: Bash(echo:*) of say)\n") || !strings.Contains(got.err, "gate    denied skill_run (denied: skill_run \"id") || strings.Contains(got.err, "\x1b") {
			t.Errorf("err is %q", got.err)
		}
	})
}

func TestChatGateFlags(t *testing.T) {
	for _, args := range [][]string{{"--policy", "deny"}, {"--approve", "sometimes"}} {
		got := program(t, map[string]string{"OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}, "", append([]string{"chat", "hi"}, args...)...)
		if got.code != cli.ExitUsage || !strings.Contains(got.err, args[1]) {
			t.Errorf("%v: code %d, err %q", args, got.code, got.err)
		}
	}
}

// An agent that the model calls is bounded by the list of the skill that the
// caller has loaded.
func TestSubAgentIsBounded(t *testing.T) {
	each(t, subAgentIsBounded)
}

func subAgentIsBounded(t *testing.T, flags ...string) {
	for skill, want := range map[string]string{"free": "hi from the helper", "none": "denied: skill_run"} {
		canary := filepath.Join(t.TempDir(), "canary")
		dir := listedSkills(t, "touch "+canary)
		helper := skillDir(t, map[string]string{"any/SKILL.md": "---\nname: any\ndescription: Runs anything.\n---\nBODY\n"})
		replies := []satcheltest.Response{
			{Calls: []core.ToolCall{satcheltest.ToolCall("skill_load", map[string]any{"skill": skill})}},
			{Calls: []core.ToolCall{satcheltest.ToolCall("helper", map[string]any{"request": "say hi"})}},
			{Calls: []core.ToolCall{satcheltest.ToolCall("skill_load", map[string]any{"skill": "any"})}},
			{Calls: []core.ToolCall{command("any", "echo hi from the helper")}},
			{Text: "the helper is done"},
			{Text: "done"},
		}
		n := -1
		script := func(satcheltest.Request) satcheltest.Response { n++; return replies[n] }
		got := converse(t, script, "", append(flags, "--skills", dir, "--sub-agent", "helper="+helper, "--activate", "helper="+skill, "--executor", "local", "--json", "go")...)
		if len(got.requests) < 5 {
			t.Fatalf("%d requests: %s %s", len(got.requests), got.out, got.err)
		}
		last := string(got.requests[4].Raw)
		if !strings.Contains(last, want) {
			t.Errorf("with %s loaded, the helper is told %s", skill, last)
		}
		if n := strings.Count(got.err, "restrict these agents unless they name them; --policy restrict-all lets only listed tools be called (agent "); n != 1 || strings.Contains(got.err, "HostTools") {
			t.Errorf("with %s loaded, standard error is %s", skill, got.err)
		}
	}
}
