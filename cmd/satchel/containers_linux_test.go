package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/chat"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/servertest"
	"github.com/satchel-go/satchel/satcheltest"
)

// TestContainersNeedAnImageAndAnEngine tries each command without what containers need. Wrong flags
// end it with exit code 2. An engine that is missing is one line and exit code 1.
func TestContainersNeedAnImageAndAnEngine(t *testing.T) {
	skills := testSkills(t)
	env := map[string]string{"OPENAI_API_KEY": "key"} // chat needs a model
	absent := "unix://" + filepath.Join(t.TempDir(), "s.sock")
	for _, command := range [][]string{
		{"chat", "--model", "m", "--skills", skills, "hi"}, {"tool", "--skills", skills, "skill_load", `{"skill":"greeter"}`},
		{"serve", "--skills", skills, "--listen", "127.0.0.1:0"}, {"mcp", "--skills", skills},
	} {
		t.Run(command[0], func(t *testing.T) {
			got := program(t, env, "", append(command, "--executor", "docker")...)
			if got.code != cli.ExitUsage || !strings.Contains(got.err, "--executor docker needs --image REF") {
				t.Errorf("without an image: %d %q", got.code, got.err)
			}
			got = program(t, env, "", append(command, "--image", "skills")...)
			if got.code != cli.ExitUsage || !strings.Contains(got.err, "--image is for --executor docker") {
				t.Errorf("an image for the sandbox: %d %q", got.code, got.err)
			}
			got = program(t, env, "", append(command, "--executor", "docker", "--image", "skills", "--docker-host", absent)...)
			want := "satchel: docker: no daemon at " + absent + ": start it, or set DOCKER_HOST\n"
			if got.code != cli.ExitFailed || got.err != want || got.out != "" {
				t.Errorf("without an engine: %d %q, want %q; output %q", got.code, got.err, want, got.out)
			}
		})
	}
	var d chat.Diagnosis
	got := program(t, nil, "", "doctor", "--executor", "docker", "--image", "skills", "--docker-host", absent, "--json")
	if err := json.Unmarshal([]byte(got.out), &d); err != nil {
		t.Fatal(err)
	}
	if got.code != cli.ExitFailed || d.Tier != "none" || d.Why != "docker: no daemon at "+absent+": start it, or set DOCKER_HOST" {
		t.Errorf("doctor: %d %+v", got.code, d)
	}
}

// inContainers returns the flags of containers on an engine that tests share.
func inContainers(t *testing.T) []string {
	t.Helper()
	url := servertest.Shared(t, "docker").URL
	runner := filepath.Join(t.TempDir(), "satchel-runner")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", runner, "github.com/satchel-go/satchel/cmd/satchel-runner")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the runner: %v: %s", err, out)
	}
	for dir := filepath.Dir(runner); dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
		_ = os.Chmod(dir, 0o755) // the engine's user reads the runner
	}
	return []string{"--executor", "docker", "--image", "satchel-test", "--docker-host", url, "--runner", runner, "--readable", "/usr"}
}

// TestContainers compares commands in containers with those in the sandbox: answers of tools, a
// conversation in both frameworks, and a run of the server.
func TestContainers(t *testing.T) {
	flags := inContainers(t)
	skills := skillDir(t, map[string]string{
		"any/SKILL.md":       "---\nname: any\ndescription: Runs anything.\n---\nRun it.\n",
		"lists/SKILL.md":     "---\nname: lists\ndescription: Runs its script.\nallowed-tools: Bash(python3 scripts/x.py:*)\n---\nRun it.\n",
		"lists/scripts/x.py": "import sys; print('x', sys.argv[1:])\n",
	})
	t.Run("doctor", func(t *testing.T) {
		got := program(t, nil, "", append([]string{"doctor", "--json"}, flags...)...)
		var d chat.Diagnosis
		if err := json.Unmarshal([]byte(got.out), &d); err != nil {
			t.Fatalf("%v: %s", err, got.err)
		}
		if got.code != cli.ExitDone || d.Engine != "Docker" || d.Version == "" || len(d.Limits) < 6 || !slices.Contains([]string{"namespaces", "landlock"}, d.Tier) {
			t.Errorf("code %d, %+v", got.code, d)
		}
	})
	t.Run("tool", func(t *testing.T) {
		calls := strings.Join([]string{
			`{"tool":"skill_load","args":{"skill":"any"}}`,
			`{"tool":"skill_run","args":{"skill":"any","command":"id -u; pwd; echo $WORKSPACE_DIR; ls -A; echo one > $OUTPUT_DIR/a.txt; echo $TMPDIR; echo t > /tmp/t","output_files":["out/*"]}}`,
			`{"tool":"skill_run","args":{"skill":"any","command":"cat $OUTPUT_DIR/a.txt; ls /tmp; exit 3"}}`,
			`{"tool":"skill_exec","args":{"skill":"any","command":"printf 'Name: '; read n; echo hello $n","yield_ms":20000}}`,
			`{"tool":"skill_write_stdin","args":{"session_id":"s1","chars":"you","submit":true,"yield_ms":20000}}`,
			`{"turn":true,"prompt":"go on"}`,
			`{"tool":"skill_load","args":{"skill":"lists"}}`,
			`{"tool":"skill_run","args":{"skill":"lists","command":"python3 scripts/x.py a b"}}`,
			`{"tool":"skill_run","args":{"skill":"lists","command":"python3 -c 'print(1)'"}}`,
		}, "\n")
		args := []string{"tool", "--skills", skills, "-"}
		want := program(t, nil, calls, args...)
		got := program(t, nil, calls, append(args, flags...)...)
		if got.code != 0 || got.out != want.out {
			t.Errorf("code %d, answers\n%s\nwant\n%s\n%s", got.code, got.out, want.out, got.err)
		}
	})
	t.Run("workspaces with an odd path", func(t *testing.T) {
		t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "a,b:c=d e"))
		if err := os.Mkdir(os.TempDir(), 0o755); err != nil {
			t.Fatal(err)
		}
		calls := `{"tool":"skill_load","args":{"skill":"lists"}}` + "\n" +
			`{"tool":"skill_run","args":{"skill":"lists","command":"python3 scripts/x.py a b"}}`
		got := program(t, nil, calls, append([]string{"tool", "--skills", skills, "-"}, flags...)...)
		if got.code != 0 || !strings.Contains(got.out, "x ['a', 'b']") {
			t.Errorf("code %d, answers\n%s\n%s", got.code, got.out, got.err)
		}
	})
	for _, framework := range []string{"eino", "langchaingo"} {
		t.Run("chat "+framework, func(t *testing.T) {
			calls := []core.ToolCall{
				satcheltest.ToolCall("skill_load", map[string]any{"skill": "any"}),
				satcheltest.ToolCall("skill_run", map[string]any{"skill": "any", "command": "echo in a container; echo saved > out/r.txt", "output_files": []string{"out/*"}, "save_as_artifacts": true}),
			}
			script := func(r satcheltest.Request) satcheltest.Response {
				if done := len(r.Messages); done > 0 && len(calls) > 0 {
					next := calls[0]
					calls = calls[1:]
					return satcheltest.Response{Calls: []core.ToolCall{next}}
				}
				return satcheltest.Response{Text: "done"}
			}
			kept := t.TempDir()
			got := converse(t, script, "", append([]string{"chat", "--framework", framework, "--skills", skills, "--out", kept, "go"}, flags...)...)
			last := got.requests[len(got.requests)-1]
			if got.code != 0 || !strings.Contains(last.Messages[len(last.Messages)-1].Text, `"stdout":"in a container\n"`) {
				t.Errorf("code %d, last message %+v, %s", got.code, last.Messages[len(last.Messages)-1], got.err)
			}
			if text, err := os.ReadFile(filepath.Join(kept, "out", "r.txt")); err != nil || string(text) != "saved\n" {
				t.Errorf("saved %q, %v", text, err)
			}
		})
	}
	t.Run("serve", func(t *testing.T) {
		url := start(t, append([]string{"serve", "--skills", skills, "--listen", "127.0.0.1:0"}, flags...)...) + "/rpc"
		for language, code := range map[string]string{
			"python": `def main(args):\n    print('seen')\n    return {'n': args['n'] * 2}`,
			"bash":   `echo '{\"n\": 42}'`,
		} {
			_, out, errs := invoke(t, "", "call", "run_code", `{"language": "`+language+`", "code": "`+code+`", "args": {"n": 21}}`, "--url", url)
			if !strings.Contains(strings.Join(strings.Fields(out), ""), `"n":42`) {
				t.Errorf("%s: %s %s", language, out, errs)
			}
		}
	})
}
