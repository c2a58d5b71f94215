//go:build unix

package gate_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/tools/run"
	"github.com/satchel-go/satchel/workspace"
)

// planted is the word that code prints which no list allows.
const planted = "PLANTED"

// plants leave code where an interpreter or git may find it, in a command of a
// skill without a list.
var plants = []string{
	`v=$(python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
for home in "$HOME" "$RUN_DIR"/home*; do
	mkdir -p "$home/.local/lib/$v/site-packages" "$home/.config/git" "$home/.node_modules/extra"
	echo 'import sys; sys.stderr.write("PLANTED pth\n")' > "$home/.local/lib/$v/site-packages/x.pth"
	echo 'import sys; sys.stderr.write("PLANTED usercustomize\n")' > "$home/.local/lib/$v/site-packages/usercustomize.py"
	printf '[core]\n\tfsmonitor = "echo PLANTED fsmonitor >&2; false"\n\tpager = "echo PLANTED pager"\n[alias]\n\tst = "!echo PLANTED alias"\n' > "$home/.gitconfig"
	echo 'echo PLANTED rc >&2' | tee "$home/.bashrc" "$home/.profile" "$home/.zshenv" > /dev/null
	echo 'console.log("PLANTED node")' > "$home/.node_modules/extra/index.js"
done`,
	`mkdir -p "$WORK_DIR/mods" && cd "$WORK_DIR/mods" && echo 'import sys; sys.stderr.write("PLANTED json\n")' | tee json.py csv.py sitecustomize.py > /dev/null`,
	`mkdir -p "$WORK_DIR/repo" && cd "$WORK_DIR/repo" && git init -q . && git config core.fsmonitor 'echo PLANTED fsmonitor >&2; false' &&
git config core.pager 'echo PLANTED pager' && echo x > a && mkdir -p .git/hooks &&
printf '#!/bin/sh\necho PLANTED hook >&2\n' | tee .git/hooks/post-index-change .git/hooks/pre-commit .git/hooks/post-checkout > /dev/null && chmod +x .git/hooks/*`,
	`cd "$WORKSPACE_DIR" && git init -q . && git config core.fsmonitor 'echo PLANTED above >&2; false'; true`,
	`cd "$SKILLS_DIR" && git init -q . && git config core.fsmonitor 'echo PLANTED beside >&2; false'; true`,
}

// narrowedChat is a conversation in which code was planted, and in which then a skill
// with a list is loaded.
func narrowedChat(t *testing.T, exec executor.Executor, list string) (c *chattest.Chat, host string) {
	t.Helper()
	host = t.TempDir()
	for _, name := range []string{"open/a.txt", "closed/b.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(host, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(host, name), []byte("of the host\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	places, err := workspace.Open(t.Context(), t.TempDir(), workspace.WithHostDirs(host))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = places.Close() })
	files := withLists(map[string]string{"free": "-", "rep": strings.ReplaceAll(list, "HOST", host)})
	for name, text := range map[string]string{
		"scripts/report.py": "import json, csv, helper\ntry:\n\timport x\nexcept ImportError:\n\tpass\nprint('report', helper.name)\n",
		"scripts/helper.py": "name = 'helped'\n",
		"scripts/report.js": "try { require('extra') } catch (e) {}\nconsole.log('report')\n",
		"evil.pth":          "import sys; sys.stderr.write('PLANTED pth\\n')\n",
	} {
		files["rep/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	c = chattest.NewChat(t, chattest.Open(t, files, satchel.WithRunner(run.Runner{Executor: exec, Workspaces: places}))).Say(core.User, "hi")
	c.Calls(`skill_load {"skill":"free"}`)
	for _, plant := range plants {
		args, err := json.Marshal(map[string]any{"skill": "free", "command": plant})
		if err != nil {
			t.Fatal(err)
		}
		c.Gate("skill_run " + string(args))
	}
	c.Turn("next")
	c.Calls(`skill_load {"skill":"rep"}`)
	return c, host
}

func eachExecutor(t *testing.T, attack func(t *testing.T, exec executor.Executor)) {
	t.Helper()
	for _, program := range []string{"python3", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not there, and without it nothing is attacked: %v", program, err)
		}
	}
	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("local", func(t *testing.T) { attack(t, local) })
	t.Run("sandbox", func(t *testing.T) { attack(t, chattest.Sandbox(t)) })
}

// A pattern for one script runs that script, whatever was left in the workspace.
func TestPlantedCodeDoesNotRun(t *testing.T) {
	t.Parallel()
	eachExecutor(t, func(t *testing.T, exec executor.Executor) {
		c, _ := narrowedChat(t, exec, "Bash(python3 scripts/report.py:*) Bash(python3 -m json.tool:*) Bash(node scripts/report.js:*) Bash(git status:*) Bash(bash -c true) Bash(env:*) Bash(ls:*)")
		for command, want := range map[string]string{
			"python3 scripts/report.py": "report helped", "git status": "not a git repository", "bash -c true": `"exit_code":0`,
			"ls -A $HOME/": "", "env": "PYTHONNOUSERSITE=1",
		} {
			for range 2 {
				answer := runs(c, map[string]any{"skill": "rep", "command": command})
				if strings.Contains(answer, planted) || !strings.Contains(answer, want) {
					t.Errorf("%s answers %s", command, answer)
				}
			}
		}
		if answer := runs(c, map[string]any{"skill": "rep", "command": "python3 -m json.tool", "stdin": `{"a":1}`}); strings.Contains(answer, planted) || !strings.Contains(answer, `\"a\": 1`) {
			t.Errorf("json.tool answers %s", answer)
		}
		if answer := runs(c, map[string]any{"skill": "rep", "script": "scripts/report.py"}); strings.Contains(answer, planted) || !strings.Contains(answer, "report helped") {
			t.Errorf("the script answers %s", answer)
		}
		if left := runs(c, map[string]any{"skill": "rep", "command": "ls -A $RUN_DIR"}); strings.Contains(left, "home-") && strings.Count(left, "home-") > 1 {
			t.Errorf("left are %s", left) // the ls command has one home directory of its own
		}
	})
}

// Node takes modules from above the folder of a skill, whatever its environment
// says. Nothing runs by a pattern while some are there.
func TestModulesAboveTheSkill(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("node is not there, and without it nothing is attacked: %v", err)
	}
	eachExecutor(t, func(t *testing.T, exec executor.Executor) {
		for _, dir := range []string{"$WORKSPACE_DIR", "$SKILLS_DIR"} {
			c, _ := narrowedChat(t, exec, "Bash(node scripts/report.js:*) Bash(rm:*)")
			command := map[string]any{"skill": "rep", "command": "node scripts/report.js"}
			if answer := runs(c, command); !strings.Contains(answer, `"stdout":"report\n"`) {
				t.Errorf("before, node answers %s", answer)
			}
			c.Turn("plant").Calls(`skill_load {"skill":"free"}`)
			runs(c, map[string]any{"skill": "free", "command": `mkdir -p "` + dir + `/node_modules/extra" && echo 'console.log("PLANTED")' > "` + dir + `/node_modules/extra/index.js"`})
			c.Turn("run").Calls(`skill_load {"skill":"rep"}`)
			for _, tool := range []string{"skill_run", "skill_exec"} {
				if answer := makes(c, tool, command); strings.Contains(answer, planted) {
					t.Errorf("with modules in %s, %s answers %s", dir, tool, answer)
				}
			}
		}
	})
}

// A list that allows to go to another directory does not allow what that directory holds.
func TestPlantedCodeDoesNotRunElsewhere(t *testing.T) {
	t.Parallel()
	eachExecutor(t, func(t *testing.T, exec executor.Executor) {
		c, _ := narrowedChat(t, exec, "Bash(cd:*) Bash(python3 -c:*) Bash(git status:*) Bash(git log:*) Bash(git add:*)")
		for _, args := range []map[string]any{
			{"command": "git status", "cwd": "$WORK_DIR/repo"}, {"command": "cd work/repo && git add a"}, {"command": "git log", "cwd": "work/repo"},
			{"command": "python3 -c 'import json'", "cwd": "work/mods"}, {"command": "cd work/mods; python3 -c 'import json, csv'"},
		} {
			args["skill"] = "rep"
			if answer := runs(c, args); strings.Contains(answer, planted) || strings.HasPrefix(answer, "denied") || !strings.Contains(answer, "exit_code") {
				t.Errorf("%v answers %s", args, answer)
			}
		}
	})
}

// Lists also judge the files that a call brings with it.
func TestWhatACallBringsIsJudged(t *testing.T) {
	t.Parallel()
	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	c, host := narrowedChat(t, local, "Bash(python3 scripts/report.py:*) Write(out/**) Read(HOST/open/*)")
	input := func(from, to string) []map[string]string {
		in := map[string]string{"from": strings.ReplaceAll(from, "HOST", host)}
		if to != "" {
			in["to"] = to
		}
		return []map[string]string{in}
	}
	const script = "python3 scripts/report.py"
	for _, tt := range []struct {
		args   map[string]any
		denied string // part of the denial
	}{
		{map[string]any{"inputs": input("skill://rep/evil.pth", "out/x")}, ""},
		{map[string]any{"inputs": input("skill://rep/evil.pth", "$OUTPUT_DIR/x")}, ""},
		{map[string]any{"inputs": input("skill://rep/evil.pth", "")}, `"to work/inputs/evil.pth"`},
		{map[string]any{"inputs": input("host://HOST/open/a.txt", "")}, `"to work/inputs/a.txt"`},
		{map[string]any{"inputs": input("skill://rep/evil.pth", "runs/home/.local/lib/python3.11/site-packages/x.pth")}, `"to runs/home/.local`},
		{map[string]any{"inputs": input("skill://rep/evil.pth", "$RUN_DIR/home/x")}, `"to runs/home/x"`},
		{map[string]any{"inputs": input("skill://rep/evil.pth", "work/x")}, `"to work/x"`},
		{map[string]any{"inputs": input("skill://rep/evil.pth", "inputs/x")}, `"to work/inputs/x"`},
		{map[string]any{"inputs": input("host://HOST/closed/b.txt", "")}, `/closed/b.txt"`},
		{map[string]any{"inputs": input("host://HOST/open/../closed/b.txt", "out/b")}, "the name of the file is not known"},
		{map[string]any{"cwd": "work/mods"}, `"cd work/mods"`},
		{map[string]any{"cwd": "$WORK_DIR/repo"}, `"cd $WORK_DIR/repo"`},
		{map[string]any{"cwd": "."}, ""},
	} {
		for _, tool := range []string{"skill_run", "skill_exec"} {
			tt.args["skill"], tt.args["command"] = "rep", script
			answer := makes(c, tool, tt.args)
			if denied := strings.HasPrefix(answer, "denied: "); denied != (tt.denied != "") || !strings.Contains(answer, strings.ReplaceAll(tt.denied, `"`, `\"`)) && !strings.Contains(answer, tt.denied) {
				t.Errorf("%s %v answers %s", tool, tt.args, answer)
			}
		}
	}
}

// A directory has names that no pattern was compared with.
func TestDirectoriesOfTheHostAreNotReadByPattern(t *testing.T) {
	t.Parallel()
	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	c, host := narrowedChat(t, local, "Bash(python3 scripts/report.py:*) Read(HOST/*)")
	answer := runs(c, map[string]any{"skill": "rep", "command": "python3 scripts/report.py", "inputs": []map[string]string{{"from": "host://" + host + "/closed"}}})
	if !strings.HasPrefix(answer, "error: input") || !strings.Contains(answer, "name its files one by one") {
		t.Errorf("the answer is %s", answer)
	}
}

// runs is the answer to a run past the gate.
func runs(c *chattest.Chat, args map[string]any) string { return makes(c, "skill_run", args) }

func makes(c *chattest.Chat, tool string, args map[string]any) string {
	c.T.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		c.T.Fatal(err)
	}
	call := c.Respond(tool + " " + string(text))[0]
	if d := c.Decide(call); d.Denied {
		return d.Reason
	}
	return c.Execute(call)
}
