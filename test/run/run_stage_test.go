package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// skillTree is a place of skills that a test edits.
type skillTree interface {
	option() satchel.Option
	put(t *testing.T, file, text string)
}

type dirOfSkills string

func (d dirOfSkills) option() satchel.Option { return satchel.WithSkillDirs(string(d)) }

func (d dirOfSkills) put(t *testing.T, file, text string) {
	t.Helper()
	full := filepath.Join(string(d), file)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// mapOfSkills is one without times, as embed.FS is, that counts what is opened.
type mapOfSkills struct {
	fstest.MapFS
	mu     sync.Mutex
	opened int
}

func (m *mapOfSkills) option() satchel.Option { return satchel.WithSkillFS("skills", m) }

func (m *mapOfSkills) put(_ *testing.T, file, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.MapFS[file] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
}

func (m *mapOfSkills) Open(name string) (fs.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opened++
	return m.MapFS.Open(name)
}

func (m *mapOfSkills) opens() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.opened
}

func skillMD(name, body string) string {
	return "---\nname: " + name + "\ndescription: Runs things.\n---\n" + body + "\n"
}

// newStaging is a bench over a tree of the skills demo and other, with nothing
// loaded.
func newStaging(t *testing.T, tree skillTree, runner satchel.Runner, opts ...satchel.Option) *bench {
	t.Helper()
	if runner.Executor == nil {
		local, err := local.New()
		if err != nil {
			t.Fatal(err)
		}
		runner.Executor = local
	}
	for _, name := range []string{"demo", "other"} {
		tree.put(t, name+"/SKILL.md", skillMD(name, "Run it."))
		tree.put(t, name+"/x.sh", "echo v1")
	}
	rt, err := satchel.New(append(opts, tree.option(), satchel.WithRunner(runner))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &bench{t: t, rt: rt, key: core.SessionKey{Session: "s", Agent: "a"}}
	b.turn("hi")
	return b
}

// turn begins a user turn.
func (b *bench) turn(text string) {
	b.t.Helper()
	req := core.Request{Key: b.key, Messages: []core.Message{{Role: core.User, Text: text}}}
	if _, err := b.rt.Prepare(context.Background(), req); err != nil {
		b.t.Fatal(err)
	}
}

func eachTree(t *testing.T, test func(t *testing.T, tree skillTree)) {
	t.Run("dir", func(t *testing.T) { test(t, dirOfSkills(t.TempDir())) })
	t.Run("fs", func(t *testing.T) { test(t, &mapOfSkills{MapFS: fstest.MapFS{}}) })
}

// What runs belongs to what is loaded: an edited script is run once the skill is
// loaded again, and not before.
func TestStagedScriptBelongsToTheLoad(t *testing.T) {
	eachTree(t, func(t *testing.T, tree skillTree) {
		b := newStaging(t, tree, satchel.Runner{})
		script := func(want string) {
			t.Helper()
			r := b.run(`{"skill":"demo","script":"x.sh"}`)
			if r.Stdout != want+"\n" || len(r.Warnings) > 0 {
				t.Errorf("ran %q, want %s, warnings %q", r.Stdout, want, r.Warnings)
			}
		}
		b.call("skill_load", "demo")
		script("v1")
		tree.put(t, "demo/x.sh", "echo v2") // the new file has the same size
		script("v1")
		b.call("skill_load", "demo")
		script("v2")
		tree.put(t, "demo/x.sh", "echo v3")
		b.turn("next")
		b.call("skill_load", "demo")
		script("v3")
		script("v3")
		b.turn("and next")
		b.call("skill_load", "demo")
		script("v3")
	})
}

// A script that is edited between the load and the first command runs as it is then. The answer
// says that SKILL.md differs from the text that was loaded.
func TestStagedSkillThatChangedSinceTheLoad(t *testing.T) {
	eachTree(t, func(t *testing.T, tree skillTree) {
		b := newStaging(t, tree, satchel.Runner{})
		b.call("skill_load", "demo")
		tree.put(t, "demo/SKILL.md", skillMD("demo", "Run it with care."))
		tree.put(t, "demo/x.sh", "echo v2")
		r := b.run(`{"skill":"demo","script":"x.sh"}`)
		if r.Stdout != "v2\n" || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "has changed since it was loaded") {
			t.Errorf("first: %+v", r)
		}
		if r = b.run(`{"skill":"demo","script":"x.sh"}`); r.Stdout != "v2\n" || len(r.Warnings) > 0 {
			t.Errorf("told again: %+v", r)
		}
		b.call("skill_load", "demo")
		if r = b.run(`{"skill":"demo","script":"x.sh"}`); r.Stdout != "v2\n" || len(r.Warnings) > 0 {
			t.Errorf("loaded again: %+v", r)
		}
	})
}

// Two agents of a session share its workspace. If one of them loads a skill again, the other
// runs the new version too, and its answer says so.
func TestStagedSkillOfTwoAgents(t *testing.T) {
	tree := dirOfSkills(t.TempDir())
	b := newStaging(t, tree, satchel.Runner{})
	other := &bench{t: t, rt: b.rt, key: core.SessionKey{Session: "s", Agent: "b"}}
	other.turn("hi")
	b.call("skill_load", "demo")
	b.run(`{"skill":"demo","script":"x.sh"}`)
	tree.put(t, "demo/SKILL.md", skillMD("demo", "Run it with care."))
	tree.put(t, "demo/x.sh", "echo v2")
	other.call("skill_load", "demo")
	for i := range 3 {
		if r := other.run(`{"skill":"demo","script":"x.sh"}`); r.Stdout != "v2\n" || len(r.Warnings) > 0 {
			t.Errorf("the one that loaded it: %+v", r)
		}
		if r := b.run(`{"skill":"demo","script":"x.sh"}`); r.Stdout != "v2\n" || len(r.Warnings) != max(1-i, 0) {
			t.Errorf("the other: %+v", r)
		}
	}
}

// An input comes from the skill as it was loaded, too.
func TestStagedInputBelongsToTheLoad(t *testing.T) {
	eachTree(t, func(t *testing.T, tree skillTree) {
		b := newStaging(t, tree, satchel.Runner{})
		b.call("skill_load", `{"skills":["demo","other"]}`)
		const input = `{"skill":"demo","command":"cat inputs/x.sh","inputs":[{"from":"skill://other/x.sh"}]}`
		for _, step := range []struct{ edit, load, want string }{{"", "", "echo v1"}, {"echo v2", "", "echo v1"}, {"", "other", "echo v2"}} {
			if step.edit != "" {
				tree.put(t, "other/x.sh", step.edit)
			}
			if step.load != "" {
				b.call("skill_load", step.load)
			}
			if r := b.run(input); r.Stdout != step.want {
				t.Errorf("brought %q, want %q", r.Stdout, step.want)
			}
		}
	})
}

// A skill that needs no load is looked at once a turn.
func TestRunUnloadedSeesEditsOfTheTurnBefore(t *testing.T) {
	eachTree(t, func(t *testing.T, tree skillTree) {
		b := newStaging(t, tree, satchel.Runner{AllowUnloaded: true})
		for _, step := range []struct{ edit, turn, want string }{{"", "", "v1\n"}, {"echo v2", "", "v1\n"}, {"", "next", "v2\n"}} {
			if step.edit != "" {
				tree.put(t, "demo/x.sh", step.edit)
			}
			if step.turn != "" {
				b.turn(step.turn)
			}
			if r := b.run(`{"skill":"demo","script":"x.sh"}`); r.Stdout != step.want || len(r.Warnings) > 0 {
				t.Errorf("ran %+v, want %q", r, step.want)
			}
		}
	})
}

// A second run reads nothing of the skill, and the view never does.
func TestSecondRunOpensNothing(t *testing.T) {
	tree := &mapOfSkills{MapFS: fstest.MapFS{}}
	b := newStaging(t, tree, satchel.Runner{})
	b.call("skill_load", "demo")
	b.run(`{"skill":"demo","script":"x.sh"}`)
	before := tree.opens()
	for range 3 {
		b.run(`{"skill":"demo","script":"x.sh"}`)
		b.turn("hi")
	}
	if n := tree.opens() - before; n != 0 {
		t.Errorf("%d files were opened", n)
	}
}

// Files of a skill with the names of the workspace's directories are reported once.
func TestRunTellsOfRenamedFiles(t *testing.T) {
	tree := dirOfSkills(t.TempDir())
	tree.put(t, "demo/out/template.txt", "own")
	b := newStaging(t, tree, satchel.Runner{})
	b.call("skill_load", "demo")
	r := b.run(`{"skill":"demo","command":"cat out.skill/template.txt"}`)
	if r.Stdout != "own" || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], `"out" is staged as "out.skill"`) {
		t.Errorf("first: %+v", r)
	}
	if r = b.run(`{"skill":"demo","command":"true"}`); len(r.Warnings) > 0 {
		t.Errorf("told again: %q", r.Warnings)
	}
}

func TestRunOfLargeAndPlainFiles(t *testing.T) {
	tree := dirOfSkills(t.TempDir())
	tree.put(t, "demo/assets/model.bin", strings.Repeat("x", 20<<20))
	tree.put(t, "demo/plain", "echo plain")
	if err := os.Chmod(filepath.Join(string(tree), "demo/plain"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := newStaging(t, tree, satchel.Runner{})
	b.call("skill_load", "demo")
	r := b.run(`{"skill":"demo","command":"wc -c < assets/model.bin; ./plain"}`)
	if fields := strings.Fields(r.Stdout); len(fields) != 2 || fields[0] != fmt.Sprint(20<<20) || fields[1] != "plain" {
		t.Errorf("run: %+v", r)
	}
}

// A model that should remove files can do so, and the next count sees it at once.
func TestRunInFullWorkspace(t *testing.T) {
	places, err := workspace.Open(t.Context(), t.TempDir(), workspace.WithMaxBytes(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	b := newBench(t, satchel.Runner{Workspaces: places})
	const input = `{"skill":"demo","command":"cat inputs/echo","inputs":[{"from":"skill://demo/scripts/echo"}]}`
	for _, remove := range []string{"rm work/big", "cd ../../work && rm big", "find work/ -name big -delete"} {
		b.run(`{"skill":"demo","command":"head -c 5000000 /dev/zero > work/big"}`)
		measure(t, places)
		if got := b.call("skill_run", input); !strings.Contains(got, "error: ") || !strings.Contains(got, "remove files") {
			t.Errorf("input: %s", got)
		}
		r := b.run(`{"skill":"demo","command":"` + remove + `"}`)
		if r.ExitCode != 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "workspace is full") {
			t.Errorf("%s: %+v", remove, r)
		}
		if r = b.run(input); r.ExitCode != 0 || len(r.Warnings) > 0 {
			t.Errorf("after %s: %+v", remove, r)
		}
	}
}

// The answer of a command that was ended for what it wrote says what to do.
func TestRunFillsWorkspace(t *testing.T) {
	places, err := workspace.Open(t.Context(), t.TempDir(), workspace.WithMaxBytes(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	b := newBench(t, satchel.Runner{Workspaces: places})
	r := b.run(`{"skill":"demo","command":"head -c 5000000 /dev/zero > work/big; sleep 100"}`)
	if r.ExitCode == 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "after this command: workspace is full") {
		t.Errorf("run: %+v", r)
	}
	if r = b.run(`{"skill":"demo","command":"rm work/big"}`); r.ExitCode != 0 || len(r.Warnings) != 1 {
		t.Errorf("removing: %+v", r)
	}
}

// measure makes what commands wrote count, which else takes seconds.
func measure(t *testing.T, places *workspace.Workspaces) {
	t.Helper()
	ws, err := places.Of(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Release()
	if _, err := ws.Room(t.Context(), true); err != nil && !errors.Is(err, workspace.ErrFull) {
		t.Fatal(err)
	}
}

// A session that has nothing is refused where all together have too much.
func TestRunBeyondTheTotal(t *testing.T) {
	places, err := workspace.Open(t.Context(), t.TempDir(), workspace.WithMaxTotalBytes(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	b := newBench(t, satchel.Runner{Workspaces: places})
	b.run(`{"skill":"demo","command":"head -c 5000000 /dev/zero > work/big"}`)
	measure(t, places)
	other := &bench{t: t, rt: b.rt, key: core.SessionKey{Session: "other"}}
	other.turn("hi")
	other.call("skill_load", "demo")
	if got := other.call("skill_run", `{"skill":"demo","command":"true"}`); !strings.Contains(got, "all sessions together have reached the 1048576 bytes") {
		t.Errorf("answer %s", got)
	}
	b.run(`{"skill":"demo","command":"rm work/big"}`)
	b.run(`{"skill":"demo","command":"true"}`)
	if r := other.run(`{"skill":"demo","command":"true"}`); len(r.Warnings) > 0 {
		t.Errorf("afterwards: %+v", r)
	}
}

// The removal of an idle workspace is an event, whichever runtime opened the workspaces.
func TestRunReportsIdleWorkspaces(t *testing.T) {
	places, err := workspace.Open(t.Context(), t.TempDir(), workspace.WithIdle(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	swept := make(chan core.Event, 100)
	b := newBench(t, satchel.Runner{Workspaces: places}, satchel.WithEvents(func(_ context.Context, e core.Event) {
		if e.Kind == core.WorkspaceCleanup {
			swept <- e
		}
	}))
	b.run(`{"skill":"demo","command":"true"}`)
	if e := <-swept; e.Key.Session != "s" || e.Detail != "idle" { // the timeout of the test ends the wait
		t.Errorf("event %+v", e)
	}
}

// A large attached file is distinguished from others at every run.
func TestRunWithLargeAttachedFile(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	data := bytes.Repeat([]byte("x"), 1<<20)
	b.attaches(core.File{Name: "big", Data: func() ([]byte, error) { return data, nil }})
	for range 2 {
		if r := b.run(`{"skill":"demo","command":"ls inputs/ && wc -c < inputs/big"}`); strings.Join(strings.Fields(r.Stdout), " ") != "big 1048576" {
			t.Errorf("run: %+v", r)
		}
	}
}
