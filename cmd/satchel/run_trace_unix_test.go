//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// runSkills has one skill that runs, one whose list allows runs of echo, and one that is
// never loaded.
func runSkills(t *testing.T) string {
	return skillDir(t, map[string]string{
		"lines/SKILL.md":         "---\nname: lines\ndescription: Counts lines.\n---\nBODY OF LINES\n",
		"lines/scripts/count.sh": "#!/bin/sh\nwc -l < \"$1\" | tr -d ' '\n",
		"listed/SKILL.md":        "---\nname: listed\ndescription: Says things.\nallowed-tools: Bash(echo:*)\n---\nBODY OF LISTED\n",
		"plain/SKILL.md":         "---\nname: plain\ndescription: Does nothing.\n---\nBODY OF PLAIN\n",
	})
}

// runs is a call of skill_run; fields is JSON without the braces.
func runs(fields string) core.ToolCall {
	return satcheltest.ToolCall("skill_run", `{"skill":"lines",`+fields+`}`)
}

// escapedJSON is JSON inside of the text of a message, as the model reads it.
func escapedJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func runTraces(host string) []trace {
	loads := calls(satcheltest.ToolCall("skill_load", `{"skill":"lines"}`))
	one := []string{"go"}
	load := func(next ...core.ToolCall) satcheltest.Script {
		all := []satcheltest.Step{loads}
		for _, c := range next {
			all = append(all, calls(c))
		}
		return steps(all...)
	}
	notes := escapedJSON("host://" + filepath.ToSlash(filepath.Join(host, "notes.txt")))
	count := runs(`"inputs":[{"from":` + notes + `,"to":"work/inputs/notes.txt"}],"command":"wc -l < inputs/notes.txt | tr -d ' ' > out/lines.txt","outputs":{"globs":["out/lines.txt"],"inline":true}`)
	counted := `"output_files":[{"name":"out/lines.txt","ref":"workspace://out/lines.txt","content":"3\n","mime_type":"text/plain","size_bytes":2}]`
	allow := []string{"--allow-host", host}
	twice := plan(
		satcheltest.Turn{Steps: []satcheltest.Step{loads, calls(runs(`"command":"echo first"`))}, Needs: []string{`"stdout":"first\n"`}, Answer: "1"},
		satcheltest.Turn{Steps: []satcheltest.Step{calls(runs(`"command":"echo second"`))}, Answer: "2"},
	)
	listed := func(command string) satcheltest.Step {
		return calls(satcheltest.ToolCall("skill_run", `{"skill":"listed","command":"`+command+`"}`))
	}
	judged := plan(
		satcheltest.Turn{Steps: []satcheltest.Step{calls(satcheltest.ToolCall("skill_load", `{"skill":"listed"}`)), loads, calls(runs(`"command":"printf early"`))}, Answer: "1"},
		satcheltest.Turn{Steps: []satcheltest.Step{calls(runs(`"command":"printf other"`)), listed("printf no"), listed("echo yes")}, Answer: "2"},
	)
	report := runs(`"command":"echo '# Report' > $OUTPUT_DIR/report.md","outputs":{"globs":["$OUTPUT_DIR/*.md"],"save":true}`)
	all := []trace{
		{name: "a load and a run in one message", prompts: one, last: []string{"BODY OF LINES", `"stdout":"together\n"`},
			script: steps(calls(loads.Calls[0], runs(`"command":"echo together"`)))},
		{name: "two runs in one message", prompts: one, last: []string{`"stdout":"a\n"`, `"stdout":"b\n"`},
			script: steps(loads, calls(runs(`"command":"echo a"`), runs(`"command":"echo b"`)))},
		{name: "not loaded", prompts: one, last: []string{`error: skill "lines" is not loaded`}, script: steps(calls(count))},
		{name: "mode adaptive", prompts: []string{"first", "second"}, script: twice,
			last: []string{`"stdout":"second\n"`, `"loaded":"loaded: lines; its text is above`}},
		{name: "a list in the next turn", flags: []string{"--combine", "intersection"}, prompts: []string{"first", "second"}, script: judged, gone: []string{`"stdout":"no`, `"stdout":"early`},
			last: []string{`"stdout":"other"`, "denied: ", "loaded: listed; its text is above", `"stdout":"yes\n"`}},
		{name: "mode turn", flags: []string{"--load-mode", "turn"}, prompts: []string{"first", "second"}, script: twice, last: []string{"not loaded"}},
		{name: "mode once", flags: []string{"--load-mode", "once"}, prompts: []string{"first", "second"}, script: twice, last: []string{"not loaded"}},
		{name: "mode session", flags: []string{"--load-mode", "session"}, prompts: []string{"first", "second"}, script: twice,
			last: []string{`"stdout":"second\n"`}},
		{name: "a file of the host is counted", flags: allow, prompts: one, script: load(count), last: []string{counted}},
		{name: "a host file outside of the allowance", flags: allow, prompts: one, last: []string{"error: ", "files of the host must be below"},
			script: load(runs(`"inputs":[{"from":"host:///etc/passwd"}],"command":"cat inputs/passwd"`))},
		{name: "a link out of the allowance", flags: allow, prompts: one, last: []string{"error: "}, gone: []string{"SECRET"},
			script: load(runs(`"inputs":[{"from":` + escapedJSON("host://"+filepath.ToSlash(filepath.Join(host, "link"))) + `}],"command":"cat inputs/link"`))},
		{name: "no host files at all", prompts: one, script: load(count), last: []string{"error: ", "files of the host are not enabled"}},
		{name: "metadata only", flags: allow, prompts: one, last: []string{`"mime_type":"text/plain","size_bytes":12}`}, gone: []string{`"content"`, "shade of it"},
			script: load(runs(`"command":"echo shade of it > out/a.txt","output_files":["out/a.txt"],"omit_inline_content":true`))},
		{name: "a saved report is the next input", prompts: one, last: []string{`"artifact_files":[{"name":"out/report.md","version":0}]`, `"stdout":"# Report\n"`},
			script: load(report, runs(`"inputs":[{"from":"artifact://out/report.md@0"}],"command":"cat inputs/report.md"`))},
		{name: "versions of an artifact", prompts: one, last: []string{`"version":0}`, `"version":1}`}, script: load(report, report)},
		{name: "types", prompts: one, last: []string{
			`"name":"out/a.csv","ref":"workspace://out/a.csv","content":"a,b\n1,2\n","mime_type":"text/csv"`,
			`"name":"out/a.json","ref":"workspace://out/a.json","content":"{\"a\":1}\n","mime_type":"application/json"`,
			`"name":"out/a.md","ref":"workspace://out/a.md","content":"# A\n","mime_type":"text/markdown"`,
			`"name":"out/a.png","ref":"workspace://out/a.png","mime_type":"image/png"`},
			script: load(runs(`"command":"cd out && echo '{\"a\":1}' > a.json && printf 'a,b\\n1,2\\n' > a.csv && echo '# A' > a.md && printf '\\211PNG\\r\\n\\032\\n\\000\\000' > a.png","output_files":["out/*"]`))},
		{name: "a script", flags: allow, prompts: one, last: []string{`"stdout":"3\n"`},
			script: load(runs(`"inputs":[{"from":` + notes + `}],"script":"scripts/count.sh","args":["inputs/notes.txt"]`))},
		{name: "timeout", prompts: one, last: []string{`"timed_out":true`},
			script: load(runs(`"command":"sleep 300 & wait","timeout":1`))},
		{name: "timeout of the flag", flags: []string{"--timeout", "500ms"}, prompts: one, last: []string{`"timed_out":true`},
			script: load(runs(`"command":"sleep 300 & wait"`))},
		{name: "denied", env: map[string]string{envDenied: "rm, curl"}, prompts: one, last: []string{"error: ", `"stdout":"fine\n"`},
			script: load(runs(`"command":"rm -rf out"`), runs(`"command":"echo x; rm -rf out"`), runs(`"command":"echo fine"`))},
		{name: "allowed", env: map[string]string{envAllowed: "echo"}, prompts: one, last: []string{"error: ", `"stdout":"fine\n"`}, gone: []string{`"stdout":"BAD`},
			script: load(runs(`"command":"cat /etc/passwd"`), runs(`"command":"echo BAD | cat"`), runs(`"script":"scripts/count.sh"`), runs(`"command":"echo fine"`))},
		{name: "knowledge only", flags: []string{"--profile", "knowledge_only"}, prompts: one, last: []string{`there is no tool "skill_run"`}, script: load(count)},
	}
	for _, form := range []string{"$OUTPUT_DIR", "${OUTPUT_DIR}", "out"} {
		all = append(all, trace{name: "globs of " + form, prompts: one, last: []string{`"name":"out/sub/a.txt"`, `"content":"deep\n"`},
			script: load(runs(`"command":"mkdir -p out/sub && echo deep > out/sub/a.txt","output_files":["` + form + `/**/*.txt"]`))})
	}
	for _, form := range []string{"$OUTPUT_DIR/sub", "${OUTPUT_DIR}/sub", "out/sub"} {
		all = append(all, trace{name: "cwd of " + form, prompts: one, last: []string{`"name":"out/sub/a.txt"`, `"content":"here\n"`},
			script: load(runs(`"cwd":"` + form + `","command":"echo here > a.txt","output_files":["out/sub/a.txt"]`))})
	}
	return all
}

func TestFrameworksRunTheSame(t *testing.T) {
	t.Parallel()
	skills := runSkills(t)
	outside, host := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(host, "notes.txt"): "a\nb\nc\n", filepath.Join(outside, "secret.txt"): "SECRET",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(host, "link")); err != nil {
		t.Fatal(err)
	}
	for _, tr := range runTraces(host) {
		t.Run(tr.name, func(t *testing.T) {
			places := t.TempDir()
			tr.flags = append(tr.flags, "--workspaces", places)
			requests := tr.compare(t, skills)
			if text := fmt.Sprint(requests); strings.Contains(text, places) {
				t.Errorf("the model is told where the workspace is, so each conversation differs: %s", text)
			}
			empty(t, places)
		})
	}
}

// A text in view after its turn does not run once the skill has changed, until its new text is
// loaded.
func TestFrameworksRunNoOldText(t *testing.T) {
	text := func(body string) string {
		return "---\nname: lines\ndescription: Counts lines.\n---\n" + body + "\n"
	}
	load := func() satcheltest.Step { return calls(satcheltest.ToolCall("skill_load", `{"skill":"lines"}`)) }
	told := plan(
		satcheltest.Turn{Steps: []satcheltest.Step{load(), calls(runs(`"command":"echo first"`))}, Needs: []string{`"stdout":"first\n"`}, Answer: "1"},
		satcheltest.Turn{Steps: []satcheltest.Step{
			calls(runs(`"command":"echo old"`)), load(), calls(runs(`"command":"echo new"`)),
		}, Answer: "2"},
	)
	each(t, func(t *testing.T, flags ...string) {
		skills := skillDir(t, map[string]string{"lines/SKILL.md": text("BODY OF LINES")})
		changed := false
		got := converse(t, func(r satcheltest.Request) satcheltest.Response {
			if r.Turn() == 2 && !changed {
				changed = true
				if err := os.WriteFile(filepath.Join(skills, "lines", "SKILL.md"), []byte(text("NEW BODY, WHICH IS LONGER")), 0o600); err != nil {
					return satcheltest.Response{Status: 500, Err: err.Error()}
				}
			}
			return told(r)
		}, "", append(flags, "--skills", skills, "first", "second")...)
		if got.code != 0 {
			t.Fatalf("code %d, err %q", got.code, got.err)
		}
		last := got.requests[len(got.requests)-1]
		trace{last: []string{
			"BODY OF LINES", "lines has changed since it was loaded: load it again", "NEW BODY, WHICH IS LONGER", `"stdout":"new\n"`,
		}, gone: []string{`"stdout":"old`}}.check(t, t.Name(), []satcheltest.Request{last})
		for _, r := range got.requests {
			if r.Turn() == 2 && !r.Contains("BODY OF LINES") {
				t.Error("the old text left the view within the turn")
			}
		}
	})
}

// empty fails when a workspace was left behind.
func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if entry.IsDir() {
			t.Errorf("%s was not removed", entry.Name())
		}
	}
}

// What a call saves is there after the chat.
func TestChatKeepsArtifacts(t *testing.T) {
	skills := runSkills(t)
	script := steps(calls(satcheltest.ToolCall("skill_load", `{"skill":"lines"}`)),
		calls(runs(`"command":"echo kept > out/a.txt","outputs":{"globs":["out/*"],"save":true}`)))
	each(t, func(t *testing.T, flags ...string) {
		dir := t.TempDir()
		got := converse(t, script, "", append(flags, "--skills", skills, "--artifacts", dir, "hi")...)
		if got.code != 0 {
			t.Fatalf("code %d, err %q", got.code, got.err)
		}
		found, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", "content"))
		if err != nil || len(found) != 1 {
			t.Fatalf("artifacts %q, %v", found, err)
		}
		if text, err := os.ReadFile(found[0]); err != nil || string(text) != "kept\n" {
			t.Errorf("content %q, %v", text, err)
		}
	})
}
