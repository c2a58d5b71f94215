package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// trace is a conversation whose requests must be the same in both frameworks,
// streamed and not.
type trace struct {
	name    string
	flags   []string
	prompts []string
	script  satcheltest.Script
	// The last request must contain all of last, and none of gone.
	last, gone []string
	noSkills   bool
	env        map[string]string
}

func calls(cs ...core.ToolCall) satcheltest.Step { return satcheltest.Step{Calls: cs} }

func plan(turns ...satcheltest.Turn) satcheltest.Script { return satcheltest.Plan(turns...) }

// steps is a plan of one turn.
func steps(steps ...satcheltest.Step) satcheltest.Script {
	return satcheltest.Plan(satcheltest.Turn{Steps: steps, Answer: "done"})
}

func traces() []trace {
	load := func(skill string) core.ToolCall {
		return satcheltest.ToolCall("skill_load", map[string]string{"skill": skill})
	}
	one := []string{"go"}
	three := []string{"first", "second", "third"}
	again := plan(
		satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf", "notes.txt"), satcheltest.Do("skill_list_docs", `{"skill":"pdf"}`)}, Answer: "1"},
		satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf")}, Answer: "2"},
		satcheltest.Turn{Answer: "3"},
	)
	return []trace{
		{name: "answer at once", prompts: one, script: steps()},
		{name: "two loads in one message", prompts: one, script: steps(calls(load("pdf"), load("xlsx"))),
			last: []string{"BODY OF PDF", "BODY OF XLSX"}},
		{name: "same load twice", prompts: one, script: steps(calls(load("pdf"), load("pdf"))), last: []string{"BODY OF PDF"}},
		{name: "docs", prompts: one, script: steps(
			satcheltest.Load("pdf", "references/forms.md"),
			satcheltest.Do("skill_select_docs", `{"skill":"pdf","docs":["notes.txt"],"mode":"add"}`),
			satcheltest.Do("skill_read", `{"skill":"pdf","path":"notes.txt"}`),
			satcheltest.Do("skill_unload", `{"skills":["pdf"]}`),
		), gone: []string{"BODY OF PDF"}},
		{name: "misspelt skill", prompts: one, script: steps(calls(load("pfd")), calls(load("pdf"))),
			last: []string{`unknown skill "pfd"`, "BODY OF PDF"}},
		{name: "unknown tool with a long name", prompts: one, script: steps(satcheltest.Step{Unless: "there is no tool", Calls: []core.ToolCall{satcheltest.ToolCall(strings.Repeat("bash", 1000), "{}")}}),
			last: []string{`there is no tool "bashbash`, `…"; call one that you were given, such as skill_load`}},
		{name: "broken JSON", prompts: one, script: steps(satcheltest.Do("skill_load", `{"skill": "pd`), satcheltest.Do("skill_load", `{"skill":"pdf"}`)),
			last: []string{"BODY OF PDF"}},
		{name: "no arguments", prompts: one, script: steps(satcheltest.Do("skill_load", ""), satcheltest.Do("skill_load", "null"))},
		{name: "bare text", prompts: one, script: steps(satcheltest.Do("skill_load", "pdf")), last: []string{"BODY OF PDF"}},
		{name: "wrapped arguments", prompts: one, script: steps(satcheltest.Do("skill_load", `{"__arg1":"{\"skill\":\"pdf\"}"}`)),
			last: []string{"BODY OF PDF"}},
		{name: "docs of an unloaded skill", prompts: one, script: steps(satcheltest.Do("skill_select_docs", `{"skill":"pdf","docs":["notes.txt"]}`)),
			gone: []string{"DOC NOTES"}},
		{name: "unknown tool", prompts: one, script: steps(calls(satcheltest.ToolCall("bash", `{"command":"ls"}`), load("pdf"))),
			last: []string{`there is no tool "bash": here skill_run stands for it`, "skill_load, skill_select_docs", "BODY OF PDF"}},
		{name: "text beside calls", prompts: one, script: steps(satcheltest.Step{Text: "I shall look.", Calls: []core.ToolCall{load("pdf")}}),
			last: []string{"I shall look."}},
		{name: "ids that repeat", prompts: one, script: steps(
			calls(core.ToolCall{ID: "call_0", Name: "skill_load", Arguments: `{"skill":"pdf"}`}),
			calls(core.ToolCall{ID: "call_0", Name: "skill_load", Arguments: `{"skill":"xlsx"}`})),
			last: []string{"BODY OF PDF", "BODY OF XLSX"}},
		{name: "cap", flags: []string{"--max-loaded", "1"}, prompts: one, script: steps(calls(load("pdf"), load("xlsx")), calls(load("技能"))),
			last: []string{"BODY OF PDF", "BODY OF XLSX", "BODY OF 技能"}}, // the cap leaves texts in view
		{name: "mode adaptive", prompts: three, script: again, last: []string{"BODY OF PDF", "DOC NOTES"}},
		{name: "mode turn", flags: []string{"--load-mode", "turn"}, prompts: three, script: again, gone: []string{"BODY OF PDF"}},
		{name: "mode once", flags: []string{"--load-mode", "once"}, prompts: three, script: again, gone: []string{"BODY OF PDF"}},
		{name: "mode session", flags: []string{"--load-mode", "session"}, prompts: three, script: again,
			last: []string{"BODY OF PDF", "DOC NOTES"}},
		{name: "placement system", flags: []string{"--placement", "system", "--system", "You help."}, prompts: three, script: again,
			gone: []string{"BODY OF PDF"}},
		{name: "placement system, mode session", flags: []string{"--placement", "system", "--load-mode", "session"}, prompts: three, script: again,
			last: []string{"BODY OF PDF", "DOC NOTES"}},
		{name: "knowledge only", flags: []string{"--profile", "knowledge_only"}, prompts: one, script: steps(satcheltest.Load("pdf"))},
		{name: "braces", flags: []string{"--system", "Use {{ .x }} and {y} and %s and ${HOME}; {% raw %}"},
			prompts: []string{`print({{ .input }}) {"a": 1} {x} %d`, "and {{ again }}"},
			script:  plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf")}, Answer: "use {{ .y }} or {z}"}, satcheltest.Turn{Answer: "ok"}),
			last:    []string{"Use {{ .x }} and {y} and %s and ${HOME}; {% raw %}", `print({{ .input }}) {"a": 1} {x} %d`, "use {{ .y }} or {z}"}},
		{name: "no skills", noSkills: true, prompts: []string{"first", "second"}, script: plan(satcheltest.Turn{Answer: "1"}, satcheltest.Turn{Answer: "2"})},
		{name: "no skills, system", noSkills: true, flags: []string{"--system", "You help."}, prompts: one, script: steps()},
		{name: "no skills, a call all the same", noSkills: true, prompts: []string{"first", "second"}, script: plan(
			satcheltest.Turn{Steps: []satcheltest.Step{calls(satcheltest.ToolCall("bash", "{}"), satcheltest.ToolCall("grep", "{}")), satcheltest.Do("bash", "{}")}, Answer: "1"},
			satcheltest.Turn{Answer: "2"},
		)},
		{name: "unicode", prompts: []string{"用技能"}, script: steps(calls(load("技能"))), last: []string{"BODY OF 技能"}},
	}
}

func TestFrameworksSendTheSame(t *testing.T) {
	t.Parallel()
	skills := testSkills(t)
	for _, tr := range traces() {
		t.Run(tr.name, func(t *testing.T) { tr.compare(t, skills) })
	}
}

// compare has the conversation in each framework and each way, and returns the
// requests, which are the same.
func (tr trace) compare(t *testing.T, skills string) []sent {
	t.Helper()
	var first []sent
	var told string
	for _, framework := range frameworks {
		for _, way := range []string{"whole", "streamed"} {
			name := framework + " " + way
			args := slices.Concat([]string{"chat", "--framework", framework}, ways[way], tr.flags)
			if !tr.noSkills {
				args = append(args, "--skills", skills)
			}
			got := converseWith(t, tr.env, tr.script, "", append(append(args, "--"), tr.prompts...)...)
			if got.code != 0 || got.err != "" {
				t.Fatalf("%s: code %d, err %q", name, got.code, got.err)
			}
			tr.check(t, name, got.requests)
			requests := reduce(got.requests)
			if first == nil {
				first, told = requests, name
				continue
			}
			if diff := cmp.Diff(first, requests); diff != "" {
				t.Errorf("%s (-) and %s (+) differ:\n%s", told, name, diff)
			}
		}
	}
	return first
}

func (tr trace) check(t *testing.T, name string, requests []satcheltest.Request) {
	t.Helper()
	last := requests[len(requests)-1]
	for _, text := range tr.last {
		if !last.Contains(text) {
			t.Errorf("%s: the last request lacks %q", name, text)
		}
	}
	for _, text := range tr.gone {
		if last.Contains(text) {
			t.Errorf("%s: the last request still has %q", name, text)
		}
	}
	for i, r := range requests {
		if tr.noSkills && (len(r.Tools) > 0 || r.Contains("skill")) {
			t.Errorf("%s: request %d mentions skills: %+v", name, i, r)
		}
	}
}

// sent is what of a request both frameworks must agree on.
type sent struct {
	Messages []satcheltest.Message
	Tools    []core.Tool
}

func reduce(requests []satcheltest.Request) []sent {
	out := make([]sent, len(requests))
	for i, r := range requests {
		out[i] = sent{slices.Clone(r.Messages), r.Tools}
		for j, m := range out[i].Messages {
			m.Calls = slices.Clone(m.Calls)
			for k := range m.Calls {
				if m.Calls[k].Arguments == "" {
					m.Calls[k].Arguments = "{}" // langchaingo's adapter sends an empty object for a call without arguments
				}
			}
			out[i].Messages[j] = m
		}
	}
	return out
}

// A system text is the first message, byte for byte, and without one there is
// no message but ours.
func TestSystemIsVerbatim(t *testing.T) {
	skills := testSkills(t)
	each(t, func(t *testing.T, flags ...string) {
		for _, system := range []string{"", "Be {brief}.\n\n{{ .now }} ", "- a list"} {
			t.Run(fmt.Sprintf("%q", system), func(t *testing.T) {
				with := converse(t, steps(), "", append(flags, "--system", system, "--skills", skills, "hi")...)
				text := with.requests[0].Messages[0].Text
				rest, ok := strings.CutPrefix(text, system)
				if !ok || !strings.HasPrefix(strings.TrimLeft(rest, "\n"), "<available_skills>") {
					t.Errorf("system message = %q", text)
				}
				without := converse(t, steps(), "", append(flags, "--system", system, "hi")...)
				messages := without.requests[0].Messages
				if system == "" && messages[0].Role != "user" || system != "" && messages[0].Text != system {
					t.Errorf("without skills: %+v", messages)
				}
			})
		}
	})
}
