package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/protocol/internal/run"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// staged are the copies of main.py of skill leads on disk.
func (b *bench) staged(t *testing.T) (found []string) {
	t.Helper()
	err := filepath.WalkDir(b.base, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "main.py" {
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// statOnly looks at the only copy.
func statOnly(t *testing.T, staged []string) fs.FileInfo {
	t.Helper()
	if len(staged) != 1 {
		t.Fatalf("%d copies are staged, want 1", len(staged))
	}
	info, err := os.Stat(staged[0])
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestSets counts the copies of a skill that runs leave. There is one for each set of each tenant, and
// none after the runner is closed.
func TestSets(t *testing.T) {
	b := newBench(t, skills)
	leads, js := b.skill(t, "sales.leads.sync"), b.skill(t, "tools.js-add")
	once := run.Job{Skill: leads, Args: json.RawMessage(`{"n": 1}`)}
	completed(t, b.do(t, once), `{"n":2}`)
	before := statOnly(t, b.staged(t))
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			result, err := b.Run(t.Context(), run.Job{Tenant: "acme", ID: fmt.Sprint("run_beside", i), Skill: leads, Args: json.RawMessage(`{"n": 3}`), Timeout: 2 * time.Minute})
			if err != nil || string(result.Output) != `{"n":6}` {
				t.Errorf("Run: got %+v, error %v, want %q", result, err, `{"n":6}`)
			}
		})
	}
	all.Wait()
	if !os.SameFile(before, statOnly(t, b.staged(t))) {
		t.Error("runs of the same skills have copied them")
	}
	code := run.Job{Code: "def main(args):\n    return 1\n", Mounted: []*skillset.Skill{leads, js}}
	completed(t, b.do(t, code), "1")
	code.Mounted = []*skillset.Skill{js, leads}
	completed(t, b.do(t, code), "1")
	if n := len(b.staged(t)); n != 2 {
		t.Errorf("two sets have %d copies", n)
	}
	other := once
	other.Tenant, other.ID, other.Timeout = "other", "run_other", 2*time.Minute
	if result, err := b.Run(t.Context(), other); err != nil {
		t.Error(err)
	} else {
		completed(t, result, `{"n":2}`)
	}
	if n := len(b.staged(t)); n != 3 {
		t.Errorf("two tenants have %d copies", n)
	}
	if err := b.Close(); err != nil || len(b.staged(t)) != 0 {
		t.Errorf("closed: %v, %v", b.staged(t), err)
	}
}

// TestChangedSkill changes a skill whose set is staged.
func TestChangedSkill(t *testing.T) {
	tree := fstest.MapFS{}
	for name, file := range skills {
		tree[name] = file
	}
	b := newBench(t, tree)
	job := run.Job{Skill: b.skill(t, "sales.leads.sync"), Args: json.RawMessage(`{"n": 5}`)}
	completed(t, b.do(t, job), `{"n":10}`)
	tree["leads/code/helper.py"] = &fstest.MapFile{Data: []byte("def double(n):\n    return 3 * n\n"), ModTime: time.Unix(1, 0)}
	job.Tenant, job.ID, job.Timeout = "acme", "run_changed", 2*time.Minute
	if got, err := b.Run(t.Context(), job); !errors.Is(err, skillset.ErrChanged) {
		t.Errorf("a run of what was staged before the change: %+v, %v, want ErrChanged", got, err)
	}
	if err := b.skills.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	job.Skill = b.skill(t, "sales.leads.sync")
	completed(t, b.do(t, job), `{"n":15}`)
}

// TestSetIsMended has a run without isolation, or the host, change a staged skill.
func TestSetIsMended(t *testing.T) {
	b := newBench(t, skills)
	job := run.Job{Skill: b.skill(t, "sales.leads.sync"), Args: json.RawMessage(`{"n": 5}`)}
	completed(t, b.do(t, job), `{"n":10}`)
	for _, name := range b.staged(t) {
		err := errors.Join(
			os.Chmod(filepath.Dir(name), 0o700), //nolint:gosec // a directory
			os.Remove(name),
			os.WriteFile(name, []byte("def main(args):\n    return 'harm'\n"), 0o600),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	completed(t, b.do(t, job), `{"n":10}`)
}

// TestSetIsReadOnly attacks the skills that runs share.
func TestSetIsReadOnly(t *testing.T) {
	b := newBench(t, skills)
	if b.Executor.Capabilities().Isolation == "" {
		t.Log("without isolation nothing is read-only")
		return
	}
	leads := b.skill(t, "sales.leads.sync")
	r := b.do(t, run.Job{Mounted: []*skillset.Skill{leads}, Code: `import os
def main(args):
    skill = os.path.join(os.environ["SKILLS_DIR"], "sales.leads.sync")
    helper = os.path.join(skill, "code", "helper.py")
    for name in (helper, skill + "/skill.toml"):
        open(name).close() # they are where the attacks look for them
    def write(name):
        with open(name, "w") as f:
            f.write("def double(n): return 0")
    done = []
    for attack in (lambda: write(helper), lambda: write(skill + "/skill.toml"), lambda: os.truncate(helper, 0), lambda: os.remove(helper), lambda: write(skill + "/code/json.py"),
                   lambda: write(skill + "/.venv/x"), lambda: os.rename(skill, skill + "x"), lambda: os.mkdir(os.path.dirname(skill) + "/new")):
        try:
            attack()
            done.append(True)
        except OSError:
            pass
    write(os.path.join(os.environ["WORKSPACE_DIR"], "mine"))
    return done
`})
	completed(t, r, "[]")
	completed(t, b.do(t, run.Job{Skill: leads, Args: json.RawMessage(`{"n": 5}`)}), `{"n":10}`)
}

// TestUnstaged ends a run before its skills are staged: the next one has them.
func TestUnstaged(t *testing.T) {
	b := newBench(t, skills)
	ctx, cancel := context.WithCancel(t.Context())
	job := run.Job{Tenant: "acme", ID: "run_x", Skill: b.skill(t, "sales.leads.sync"), Args: json.RawMessage(`{"n": 5}`), Timeout: 2 * time.Minute,
		Progress: func(stage, _ string) {
			if stage == run.StageStaging {
				cancel()
			}
		}}
	if _, err := b.Run(ctx, job); err == nil {
		t.Error("a cancelled run has ended well")
	}
	job.Progress = nil
	completed(t, b.do(t, job), `{"n":10}`)
}
