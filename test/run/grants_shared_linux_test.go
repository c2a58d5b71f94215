package run_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// plantLinks makes links in shared folders that lead into the .venv of weather, to its
// temporary directory and to its environment.
const plantLinks = `mkdir -p out/sub; ln -s "$SKILLS_DIR/weather/.venv/planted" out/abs.txt; ln -s ../../skills/weather/.venv out/sub/rel
ln -s /proc/self/environ work/data.txt; ln -s /tmp runs 2>/dev/null; ln -s "$SKILLS_DIR/weather" "$RUN_DIR/link"; ls out work`

// A link that another skill has left leads a granted command nowhere.
func TestGrantedCommandFollowsNoLinkOfOthers(t *testing.T) {
	t.Parallel()
	b := grantedBench(t, satchel.Runner{Executor: chattest.Sandbox(t), Secret: secretOfWeather})
	b.run(`{"skill":"aaa","command":` + asJSON(t, plantLinks) + `}`)
	r := b.run(`{"skill":"weather","command":` + asJSON(t, `echo x > out/abs.txt; echo x > out/sub/rel/planted; echo x > "$RUN_DIR/link/.venv/planted"; cat work/data.txt > out/copy.txt; ls -A .venv; echo own > out/own.txt; cat out/own.txt; wc -c < out/copy.txt`) + `}`)
	if r.Stdout != "own\n0\n" || strings.Count(r.Stderr, "Too many levels of symbolic links") != 4 {
		t.Errorf("%+v", r)
	}
	// A command without grants still follows links.
	if r := b.run(`{"skill":"aaa","command":"echo y > work/y; ln -s y work/z; cat work/z"}`); r.Stdout != "y\n" {
		t.Errorf("run: got %+v, want Stdout %q", r, "y\n")
	}
}

// A skill whose own work, out or inputs is hidden by the shared one runs nothing with its
// grants: commands would find the files of others there.
func TestSkillThatShipsSharedFolders(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"work", "out", "inputs"} {
		tree := fstest.MapFS{
			"ships/SKILL.md":               {Data: []byte("---\nname: ships\ndescription: Has a secret.\nmetadata:\n  secrets: WEATHER_KEY\n---\nAsk.\n")},
			"ships/" + folder + "/tool.sh": {Data: []byte("echo own\n")},
			"free/SKILL.md":                {Data: []byte("---\nname: free\ndescription: Has none.\n---\nAsk.\n")},
			"free/" + folder + "/tool.sh":  {Data: []byte("echo own\n")},
		}
		b := grantedBench(t, satchel.Runner{Secret: func(_ context.Context, s core.Skill, _ string) (string, bool) {
			return "sk-0123456789", s.Name == "ships"
		}}, satchel.WithSkillFS("ships", tree))
		b.call("skill_load", `{"skill":"ships"}`)
		b.call("skill_load", `{"skill":"free"}`)
		b.run(`{"skill":"aaa","command":"echo echo PLANTED > ` + folder + `/tool.sh"}`)
		for range 2 { // the second call stages nothing
			answer := b.call("skill_run", `{"skill":"ships","command":"sh `+folder+`/tool.sh"}`)
			if !strings.HasPrefix(answer, `error: not run: the skill's own folder "`+folder+`"`) {
				t.Errorf("%s: %s", folder, answer)
			}
		}
		if r := b.run(`{"skill":"free","command":"sh ` + folder + `.skill/tool.sh"}`); r.Stdout != "own\n" {
			t.Errorf("%s: %+v", folder, r)
		}
	}
}

// Where a granted command starts in shared folders, no session of another skill can change
// them after they were looked at.
func TestGrantedCommandInSharedFoldersRunsAlone(t *testing.T) {
	t.Parallel()
	b := grantedBench(t, satchel.Runner{Secret: secretOfWeather})
	b.run(`{"skill":"aaa","command":"mkdir -p work/sub; echo 1 > work/sub/x.js"}`)
	b.call("skill_exec", `{"skill":"aaa","yield_ms":0,"command":"read line"}`)
	for _, args := range []string{
		`"command":"ls","cwd":"work/sub"`, `"command":"ls","cwd":"$WORK_DIR/sub"`, `"command":"cd work/sub && ls"`, `"command":"git -C work/sub status"`,
		`"command":"ls","cwd":"inputs"`, `"command":"ls","cwd":"out"`, `"command":"node work/sub/x.js"`,
	} {
		for _, tool := range []string{"skill_run", "skill_exec"} {
			if answer := b.call(tool, `{"skill":"weather",`+args+`}`); !strings.HasPrefix(answer, "error: not run: ") || !strings.Contains(answer, "beside no other skill's unless it starts and stays in its skill's folder") {
				t.Errorf("%s %s: %s", tool, args, answer)
			}
		}
	}
	for _, args := range []string{`"command":"ls"`, `"command":"ls > out/x.txt"`, `"command":"ls","cwd":"."`, `"script":"scripts/report.py"`} {
		if answer := b.call("skill_run", `{"skill":"weather",`+args+`}`); !strings.Contains(answer, `"exit_code":0`) {
			t.Errorf("%s: %s", args, answer)
		}
	}
	if answer := b.call("skill_run", `{"skill":"aaa","command":"ls","cwd":"work/sub"}`); !strings.Contains(answer, `"exit_code":0`) {
		t.Errorf("without grants: %s", answer)
	}
	b.call("skill_kill_session", `{"session_id":"s1"}`)
	if answer := b.call("skill_run", `{"skill":"weather","command":"ls","cwd":"work/sub"}`); !strings.Contains(answer, `"exit_code":0`) {
		t.Errorf("when it has ended: %s", answer)
	}
	// While it runs, no command of another skill may begin.
	b.call("skill_exec", `{"skill":"weather","yield_ms":0,"command":"read line","cwd":"work/sub"}`)
	if answer := b.call("skill_run", `{"skill":"aaa","command":"ls"}`); !strings.Contains(answer, "beside no other skill's") {
		t.Errorf("beside it: %s", answer)
	}
	if answer := b.call("skill_run", `{"skill":"weather","command":"ls","cwd":"work/sub"}`); !strings.Contains(answer, `"exit_code":0`) {
		t.Errorf("of the same skill: %s", answer)
	}
}

// A skill that asks for grants is kept apart before it gets them: what ran in its .venv
// without them would run with them later.
func TestSkillThatAsksIsKeptApartBeforeItIsGranted(t *testing.T) {
	t.Parallel()
	var granted atomic.Bool
	b := grantedBench(t, satchel.Runner{Executor: chattest.Sandbox(t), Secret: func(ctx context.Context, s core.Skill, name string) (string, bool) {
		value, ok := secretOfWeather(ctx, s, name)
		return value, ok && granted.Load()
	}})
	b.run(`{"skill":"aaa","command":` + asJSON(t, `d="$RUN_DIR/home/weather"; mkdir -p $d; v=$(python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
mkdir -p $d/.local/lib/$v/site-packages; echo 'import os; open("/workspace/skills/weather/.venv/planted", "w").write("x")' > $d/.local/lib/$v/site-packages/usercustomize.py`) + `}`)
	b.run(`{"skill":"weather","command":"python3 scripts/report.py"}`)
	granted.Store(true)
	if r := b.run(`{"skill":"weather","command":"ls -A .venv; echo listed"}`); r.Stdout != "listed\n" {
		t.Errorf("run: got %+v, want Stdout %q", r, "listed\n")
	}
}

// After a restart a skill that has the name of another does not get its .venv, and the same
// skill keeps its own.
func TestVenvAfterRestartBelongsToItsSkill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other := fstest.MapFS{"weather/SKILL.md": weather["weather/SKILL.md"]}
	for turn, tt := range []struct {
		source, want string
		files        fstest.MapFS
	}{{"one", "listed\n", weather}, {"one", "planted\nlisted\n", weather}, {"two", "listed\n", other}, {"two", "planted\nlisted\n", other}, {"one", "listed\n", weather}} {
		places, err := workspace.Open(t.Context(), dir, workspace.WithKeep())
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(t, satchel.Runner{Workspaces: places, AllowUnloaded: true}, satchel.WithSkillFS(tt.source, tt.files))
		if r := b.run(`{"skill":"weather","command":"ls -A .venv; echo listed; touch .venv/planted"}`); r.Stdout != tt.want {
			t.Errorf("process %d: %q, not %q", turn, r.Stdout, tt.want)
		}
		if err := places.Close(); err != nil {
			t.Error(err)
		}
	}
}

// landlockAt makes a copy of this program that is an ordinary user without namespaces.
const landlockAt = "SATCHEL_TEST_LANDLOCK_GRANTS"

// TestGrantsUnderLandlock: where Landlock alone isolates, links of others are refused, and
// no other command reads what lies in the HOME of a granted one.
func TestGrantsUnderLandlock(t *testing.T) {
	if os.Getenv(landlockAt) != "" {
		underLandlock(t)
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestGrantsUnderLandlock$", "-test.v")
	cmd.Env = append(os.Environ(), landlockAt+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 1234, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 1234, HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{24}, // CAP_SYS_RESOURCE, which writing max_user_namespaces requires
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: TestGrantsUnderLandlock") {
		t.Errorf("%v: %s", err, out)
	}
}

func underLandlock(t *testing.T) {
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		t.Fatal(err)
	}
	exec := chattest.Sandbox(t)
	if c := exec.Capabilities(); c.Isolation != executor.IsolationLandlock || c.Links.Enforced {
		t.Fatalf("%+v", c)
	}
	b := grantedBench(t, satchel.Runner{Executor: exec, Secret: secretOfWeather})
	const look = `chmod 755 "$SKILLS_DIR"/.satchel-new-*; cat "$SKILLS_DIR"/.satchel-new-*/* "$SKILLS_DIR"/.satchel-new-*/.netrc; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a KEY; echo looked`
	b.call("skill_exec", `{"skill":"aaa","yield_ms":0,"command":`+asJSON(t, `read line; `+look)+`}`) // this command began first
	began := b.talk("skill_exec", `{"skill":"weather","yield_ms":60000,"command":`+asJSON(t, `echo "seen home" > ~/.netrc; echo "seen temp" > $TMPDIR/own.txt; cat ~/.netrc $TMPDIR/own.txt; printf 'wait: '; read line`)+`}`)
	if !strings.Contains(began.Output, "seen home\nseen temp\nwait:") {
		t.Fatalf("talk: got %+v, want it to contain %q", began, "seen home\nseen temp\nwait:")
	}
	if r := b.run(`{"skill":"aaa","command":` + asJSON(t, look) + `}`); r.Stdout != "looked\n" || !strings.Contains(r.Stderr, "Permission denied") {
		t.Errorf("another skill sees %+v", r)
	}
	if answer := b.call("skill_write_stdin", `{"session_id":"s1","chars":"\n","yield_ms":60000}`); strings.Contains(answer, "seen") || !strings.Contains(answer, "looked") {
		t.Errorf("a session of another skill sees %s", answer)
	}
	if r := b.run(`{"skill":"aaa","command":"cat $SKILLS_DIR/weather/scripts/helper.py SKILL.md; echo x > out/y; cat out/y; ls $SKILLS_DIR"}`); !strings.Contains(r.Stdout, "helped") || !strings.Contains(r.Stdout, "x\n") || !strings.Contains(r.Stdout, "weather") {
		t.Errorf("%+v", r)
	}
	b.call("skill_kill_session", `{"session_id":"s2"}`)
	b.run(`{"skill":"aaa","command":` + asJSON(t, plantLinks) + `}`)
	if answer := b.call("skill_run", `{"skill":"weather","command":"echo x > out/abs.txt"}`); !strings.HasPrefix(answer, "error: not run: $WORKSPACE_DIR/") || !strings.Contains(answer, "is a link") {
		t.Errorf("a link: %s", answer)
	}
}
