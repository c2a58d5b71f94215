//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// execs is a call of skill_exec; fields is JSON without the braces. What a
// command does at once is awaited for long enough on a busy machine.
func execs(fields string) core.ToolCall {
	return satcheltest.ToolCall("skill_exec", `{"skill":"lines",`+patient(fields)+`}`)
}

func types(id, fields string) core.ToolCall {
	return satcheltest.ToolCall("skill_write_stdin", `{"session_id":"`+id+`",`+patient(fields)+`}`)
}

func polls(id string) core.ToolCall {
	return satcheltest.ToolCall("skill_poll_session", `{"session_id":"`+id+`","yield_ms":60000}`)
}

func patient(fields string) string {
	if strings.Contains(fields, "yield_ms") {
		return fields
	}
	return fields + `,"yield_ms":60000`
}

func kills(id string) core.ToolCall {
	return satcheltest.ToolCall("skill_kill_session", `{"session_id":"`+id+`"}`)
}

func execTraces() []trace {
	loads := calls(satcheltest.ToolCall("skill_load", `{"skill":"lines"}`))
	one := []string{"go"}
	load := func(next ...core.ToolCall) satcheltest.Script {
		all := []satcheltest.Step{loads}
		for _, c := range next {
			all = append(all, calls(c))
		}
		return steps(all...)
	}
	ask := `"command":"printf 'Name: '; read name; echo hello $name; printf 'Age: '; read age; echo $age > out/age.txt","outputs":{"globs":["out/age.txt"],"inline":true,"save":true}`
	asked := `{"status":"running","session_id":"s1","output":"Name: ","offset":0,"next_offset":6,"interaction":{"needs_input":true,"kind":"prompt","hint":"a line of text"}}`
	told := `"output":"hello Ada\nAge: ","offset":6,"next_offset":21,"interaction"`
	typed := `"output":"Ada\nhello Ada\nAge: ","offset":6,"next_offset":25,"interaction"`
	result := `"result":{"output_files":[{"name":"out/age.txt","ref":"workspace://out/age.txt","content":"36\n","mime_type":"text/plain","size_bytes":3}],` +
		`"primary_output":{"name":"out/age.txt","ref":"workspace://out/age.txt","mime_type":"text/plain","size_bytes":3},` +
		`"exit_code":0,"timed_out":false,"artifact_files":[{"name":"out/age.txt","version":0}]}`
	return []trace{
		{name: "a dialogue", prompts: one, last: []string{asked, told, `"status":"exited"`, result},
			script: load(execs(ask), types("s1", `"chars":"Ada","submit":true`), types("s1", `"chars":"36\n"`))},
		{name: "a dialogue in a terminal", prompts: one, last: []string{asked, typed, `"status":"exited"`, result},
			script: load(execs(ask+`,"tty":true`), types("s1", `"chars":"Ada","submit":true`), types("s1", `"chars":"36","submit":true`))},
		{name: "over two turns", prompts: []string{"first", "second"}, last: []string{`"status":"exited"`, result}, script: plan(
			satcheltest.Turn{Steps: []satcheltest.Step{loads, calls(execs(ask)), calls(types("s1", `"chars":"Ada","submit":true`))}, Needs: []string{told}, Answer: "How old?"},
			satcheltest.Turn{Steps: []satcheltest.Step{calls(types("s1", `"chars":"36","submit":true`))}, Answer: "done"})},
		{name: "two sessions in one message", prompts: one, script: steps(loads,
			calls(execs(`"command":"read x; read y; echo $x, $y","yield_ms":0`), execs(`"command":"cat; echo second","yield_ms":0`)),
			calls(types("s1", `"chars":"a\n","yield_ms":0`), types("s2", `"chars":"b","eof":true`), types("s1", `"chars":"c\n"`))),
			last: []string{`"session_id":"s2","output":"bsecond\n"`, `"status":"exited","session_id":"s1","output":"a, c\n"`}},
		{name: "a menu", prompts: one, last: []string{`"kind":"prompt","hint":"a line of text"`, `"output":"green\n"`}, script: load(
			execs(`"command":"PS3='Colour? '; select c in red green; do echo $c; break; done"`), types("s1", `"chars":"2","submit":true`))},
		{name: "a password", prompts: one, last: []string{`"output":"Password: "`, `"kind":"prompt"`, `"output":"\n6\n"`}, script: load(
			execs(`"command":"stty -echo; printf 'Password: '; read p; echo; echo ${#p}","tty":true`), types("s1", `"chars":"geheim","submit":true`))},
		{name: "pages", prompts: one, last: []string{`"output":"1\n2\n3\n","offset":0,"next_offset":6,"end_offset":10`, `"output":"4\n5\n","offset":6,"next_offset":10,"result"`},
			script: load(execs(`"command":"seq 5","poll_lines":3`), polls("s1"))},
		{name: "interrupted", prompts: one, last: []string{`"exit_code":130`},
			script: load(execs(`"command":"printf 'up> '; sleep 300","tty":true`), types("s1", `"chars":"\u0003"`))},
		{name: "killed", prompts: one, last: []string{`{"status":"killed","session_id":"s1","output":"",`, `"reason":"cancelled"`, `error: unknown session "s1"`},
			script: load(execs(`"command":"printf 'up> '; sleep 300"`), kills("s1"), polls("s1"))},
		{name: "left running", prompts: one, last: []string{`"status":"running"`}, script: load(execs(`"command":"printf 'up> '; sleep 300"`))},
		{name: "not loaded", prompts: one, last: []string{`error: skill "lines" is not loaded`}, script: steps(calls(execs(ask)))},
		{name: "unknown session", prompts: one, last: []string{`error: unknown session "s7": there is none`}, script: load(polls("s7"))},
		{name: "a shell under a list", env: map[string]string{envAllowed: "cat, bash"}, prompts: one, last: []string{"error: bash runs what it is told", `"output":"fine"`},
			script: load(execs(`"command":"bash"`), execs(`"command":"cat","yield_ms":0`), types("s1", `"chars":"fine","eof":true`))},
		{name: "knowledge only", flags: []string{"--profile", "knowledge_only"}, prompts: one, last: []string{`there is no tool "skill_exec"`}, script: load(execs(ask))},
	}
}

// The two frameworks have the same dialogue, byte for byte, each time.
func TestFrameworksTalkTheSame(t *testing.T) {
	t.Parallel()
	skills := runSkills(t)
	for _, tr := range execTraces() {
		t.Run(tr.name, func(t *testing.T) {
			places := t.TempDir()
			tr.flags = append(tr.flags, "--workspaces", places)
			tr.compare(t, skills)
			empty(t, places)
		})
	}
}
