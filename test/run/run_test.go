package run_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/tools/run"
)

// runAnswer is what of an answer of skill_run the tests look at.
type runAnswer struct {
	Files []struct {
		Name, Ref, Content string
		MIME               string `json:"mime_type"`
		Size               int64  `json:"size_bytes"`
	} `json:"output_files"`
	Primary *struct {
		Name, Content string
	} `json:"primary_output"`
	Stdout, Stderr, Reason string
	ExitCode               int  `json:"exit_code"`
	TimedOut               bool `json:"timed_out"`
	Artifacts              []struct {
		Name    string
		Version int
	} `json:"artifact_files"`
	Warnings []string
}

// bench is a runtime in which the skill demo is loaded and may run.
type bench struct {
	t   *testing.T
	rt  *satchel.Runtime
	key core.SessionKey
}

func newBench(t *testing.T, runner satchel.Runner, opts ...satchel.Option) *bench {
	t.Helper()
	if runner.Executor == nil {
		local, err := local.New()
		if err != nil {
			t.Fatal(err)
		}
		runner.Executor = local
	}
	files := fstest.MapFS{
		"demo/SKILL.md":         {Data: []byte("---\nname: demo\ndescription: Runs things.\nmetadata:\n  secrets: DEMO_TOKEN\n---\nRun scripts/count.py.\n")},
		"demo/scripts/count.py": {Data: []byte("import sys\nprint(len(open(sys.argv[1]).readlines()))\n")},
		"demo/scripts/echo":     {Data: []byte("#!/bin/sh\necho fake\n")},
		"plain/SKILL.md":        {Data: []byte("---\nname: plain\ndescription: Does nothing.\n---\nNothing.\n")},
	}
	rt, err := satchel.New(append([]satchel.Option{satchel.WithSkillFS("skills", files), satchel.WithRunner(runner)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &bench{t: t, rt: rt, key: core.SessionKey{Session: "s", Agent: "a"}}
	if _, err := rt.Prepare(context.Background(), core.Request{Key: b.key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}); err != nil {
		t.Fatal(err)
	}
	b.call("skill_load", `{"skill":"demo"}`)
	return b
}

func (b *bench) call(tool, args string) string {
	b.t.Helper()
	answer, err := b.rt.CallTool(context.Background(), b.key, core.ToolCall{Name: tool, Arguments: args})
	if err != nil {
		b.t.Fatal(err)
	}
	return answer
}

func (b *bench) run(args string) runAnswer {
	b.t.Helper()
	answer := b.call("skill_run", args)
	var r runAnswer
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		b.t.Fatalf("%v in %s", err, answer)
	}
	return r
}

func TestRunCollectsAndSaves(t *testing.T) {
	host := t.TempDir()
	if err := os.WriteFile(filepath.Join(host, "notes.txt"), []byte("a\nb\nc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	places, err := workspace.Open(t.Context(), t.TempDir(), workspace.WithHostDirs(host))
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	b := newBench(t, satchel.Runner{Workspaces: places})
	input := `"inputs":[{"from":"host://` + host + `/notes.txt","to":"work/inputs/notes.txt","mode":"copy"}]`

	r := b.run(`{"skill":"demo",` + input + `,"command":"mkdir -p out; wc -l < inputs/notes.txt > out/lines.txt","outputs":{"globs":["$OUTPUT_DIR/lines.txt"],"inline":true,"save":true}}`)
	if r.ExitCode != 0 || len(r.Files) != 1 || r.Files[0].Name != "out/lines.txt" || strings.TrimSpace(r.Files[0].Content) != "3" {
		t.Fatalf("run: %+v", r)
	}
	if r.Files[0].Ref != "workspace://out/lines.txt" || r.Primary == nil || r.Primary.Name != "out/lines.txt" {
		t.Errorf("run: %+v", r)
	}
	if len(r.Artifacts) != 1 || r.Artifacts[0].Name != "out/lines.txt" || r.Artifacts[0].Version != 0 {
		t.Errorf("artifacts: %+v, warnings %q", r.Artifacts, r.Warnings)
	}
	r = b.run(`{"skill":"demo","inputs":[{"from":"artifact://out/lines.txt"}],"command":"cat inputs/lines.txt; cat -"}`)
	if !strings.Contains(r.Stdout, "3") {
		t.Errorf("an artifact as input: %+v", r)
	}
	if got := b.call("skill_read", `{"path":"workspace://out/lines.txt"}`); !strings.HasSuffix(got, "\n3") {
		t.Errorf("skill_read = %q", got)
	}
	if got := b.call("skill_read", `{"path":"artifact://out/lines.txt@0"}`); !strings.HasSuffix(got, "\n3") {
		t.Errorf("skill_read = %q", got)
	}
	r = b.run(`{"skill":"demo","script":"scripts/count.py","args":["` + `../../work/inputs/notes.txt"]}`)
	if strings.TrimSpace(r.Stdout) != "3" {
		t.Errorf("script: %+v", r)
	}
}

func TestRunRefuses(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	for _, tt := range []struct{ name, args, want string }{
		{"not loaded", `{"skill":"plain","command":"true"}`, "not loaded"},
		{"unknown", `{"skill":"dmo","command":"true"}`, `did you mean "demo"`},
		{"nothing to run", `{"skill":"demo"}`, "give either command"},
		{"both", `{"skill":"demo","command":"true","script":"x.py"}`, "give either command"},
		{"host path", `{"skill":"demo","command":"true","inputs":[{"from":"host:///etc/passwd"}]}`, "error"},
		{"target outside", `{"skill":"demo","command":"true","inputs":[{"from":"workspace://out","to":"../../x","mode":"link"}]}`, "error"},
		{"glob outside", `{"skill":"demo","command":"touch work/ran","outputs":{"globs":["out/**","../**"]}}`, ".."},
		{"cwd outside", `{"skill":"demo","command":"true","cwd":"../.."}`, "error"},
		{"script outside", `{"skill":"demo","script":"../../../etc/profile.sh"}`, "leaves the skill"},
		{"no such script", `{"skill":"demo","script":"scripts/none.py"}`, "no script"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := b.call("skill_run", tt.args); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, tt.want) {
				t.Errorf("answer = %q, want an error with %q", got, tt.want)
			}
		})
	}
}

func TestRunPolicy(t *testing.T) {
	b := newBench(t, satchel.Runner{Policy: run.Policy{Allowed: []string{"echo"}}})
	if r := b.run(`{"skill":"demo","command":"echo ok"}`); r.Stdout != "ok\n" {
		t.Errorf("echo ok: %+v", r)
	}
	for _, command := range []string{"scripts/echo", "./scripts/echo hi", "echo $(id)", "env sh -c id", "echo a; id", "echo a > x", "id"} {
		args, err := json.Marshal(map[string]string{"skill": "demo", "command": command})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.call("skill_run", string(args)); !strings.HasPrefix(got, "error: ") {
			t.Errorf("%s: %s", command, got)
		}
	}
	if got := b.call("skill_run", `{"skill":"demo","script":"scripts/count.py"}`); !strings.HasPrefix(got, "error: ") {
		t.Errorf("script: %s", got)
	}
}

func TestRunKeepsSecrets(t *testing.T) {
	b := newBench(t, satchel.Runner{Secret: func(_ context.Context, _ core.Skill, name string) (string, bool) {
		return "s3cr3t-value", name == "DEMO_TOKEN"
	}})
	r := b.run(`{"skill":"demo","command":"echo $DEMO_TOKEN; echo $DEMO_TOKEN >&2; echo $DEMO_TOKEN > out/t.txt","output_files":["out/t.txt"]}`)
	if r.Stdout != "[DEMO_TOKEN]\n" || r.Stderr != "[DEMO_TOKEN]\n" || r.Files[0].Content != "[DEMO_TOKEN]\n" {
		t.Errorf("run: %+v", r)
	}
	if got := b.call("skill_read", `{"path":"workspace://out/t.txt"}`); strings.Contains(got, "s3cr3t") {
		t.Errorf("skill_read = %q", got)
	}
}

func TestRunEndsInTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, satchel.Runner{})
	if r := b.run(`{"skill":"demo","command":"sleep 300 & wait","timeout":1}`); !r.TimedOut {
		t.Errorf("run: %+v", r)
	}
}

func TestRunEditor(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	r := b.run(`{"skill":"demo","command":"$EDITOR work/msg.txt; cat work/msg.txt","editor_text":"hello\n  there\n"}`)
	if r.Stdout != "hello\n  there\n" {
		t.Errorf("run: %+v", r)
	}
}

// What a command puts into the skill's writable .venv/bin does not pass for an
// allowed program.
func TestRunPolicyIgnoresVenv(t *testing.T) {
	b := newBench(t, satchel.Runner{Policy: run.Policy{Allowed: []string{"echo", "cp", "mkdir"}}})
	b.run(`{"skill":"demo","command":"mkdir -p .venv/bin"}`)
	b.run(`{"skill":"demo","command":"cp scripts/echo .venv/bin/echo"}`)
	if r := b.run(`{"skill":"demo","command":"echo hi"}`); r.Stdout != "hi\n" {
		t.Errorf("run: %+v", r)
	}
	if got := b.call("skill_run", `{"skill":"demo","command":"echo hi","env":{"PYTHONPATH":"work"}}`); !strings.HasPrefix(got, "error: ") {
		t.Errorf("env: %s", got)
	}
}

// A command that removes or replaces its workspace spoils it for itself only.
func TestRunAfterTheWorkspaceIsGone(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	elsewhere := t.TempDir()
	for _, command := range []string{
		"rm -rf $WORKSPACE_DIR", "mv $WORKSPACE_DIR $WORKSPACE_DIR.x; ln -s " + elsewhere + " $WORKSPACE_DIR",
	} {
		args, err := json.Marshal(map[string]string{"skill": "demo", "command": command})
		if err != nil {
			t.Fatal(err)
		}
		b.call("skill_run", string(args))
		if r := b.run(`{"skill":"demo","command":"echo here; touch work/x","script":""}`); r.Stdout != "here\n" {
			t.Errorf("after %s: %+v", command, r)
		}
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("the link was followed: %v, %v", left, err)
	}
}

// No part of a secret is left where a text is cut, and none in a file's name.
func TestRunCutsNoSecretInTwo(t *testing.T) {
	const value = "s3cr3t-value"
	b := newBench(t, satchel.Runner{
		Secret: func(_ context.Context, _ core.Skill, name string) (string, bool) { return value, name == "DEMO_TOKEN" },
		Limits: executor.Limits{Output: 64},
	})
	answers := []string{
		b.call("skill_run", `{"skill":"demo","command":"echo $DEMO_TOKEN > out/t.txt","outputs":{"globs":["out/t.txt"],"inline":true,"max_file_bytes":6}}`),
		b.call("skill_run", `{"skill":"demo","command":"touch out/$DEMO_TOKEN.txt","output_files":["out/*"],"save_as_artifacts":true}`),
	}
	for pad := range len(value) {
		answers = append(answers, b.call("skill_run", `{"skill":"demo","command":"head -c `+strconv.Itoa(32-pad)+` /dev/zero | tr '\\0' .; printf $DEMO_TOKEN; head -c 500 /dev/zero | tr '\\0' .; printf $DEMO_TOKEN; head -c `+strconv.Itoa(32-pad)+` /dev/zero | tr '\\0' ."}`))
	}
	for _, answer := range answers {
		for n := 3; n < len(value); n++ {
			if strings.Contains(answer, value[:n]) || strings.Contains(answer, value[n:]) && len(value)-n > 2 {
				t.Fatalf("a part of the secret is in %s", answer)
			}
		}
	}
}

func TestRunNamesItsFields(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	if r := b.run(`{"skill":"demo","command":"echo a > out/a; echo b > out/b","output_files":["out/a"],"outputs":{"globs":["out/b"]}}`); len(r.Files) != 2 || r.Files[0].Content != "a\n" || len(r.Warnings) > 0 {
		t.Errorf("both: %+v", r)
	}
	if r := b.run(`{"skill":"demo","command":"echo x > out/a.txt","outputs":{"globs":["workspace://out/a.txt"]},"save_as_artifacts":true,"artifact_prefix":"p/"}`); len(r.Artifacts) != 1 || r.Artifacts[0].Name != "p/out/a.txt" {
		t.Errorf("run: %+v", r)
	}
	if got := b.call("skill_read", `{"file_name":"workspace://out/a.txt","start_line":1,"num_lines":20}`); !strings.HasSuffix(got, "\nx") {
		t.Errorf("skill_read = %q", got)
	}
	if r := b.run(`{"skill":"demo","script":"$SKILLS_DIR/demo/scripts/count.py","args":["SKILL.md"]}`); r.ExitCode != 0 {
		t.Errorf("script: %+v", r)
	}
	if r := b.run(`{"skill":"demo","command":"echo $SKILL_NAME $X","env":{"SKILL_NAME":"zz","X":"y"}}`); r.Stdout != "demo y\n" {
		t.Errorf("env: %+v", r)
	}
}
