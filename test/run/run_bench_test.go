package run_test

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// BenchmarkRun measures `skill_run true` with the skill staged and, in turn with it, what the
// same shell costs by itself. p50-ns/op is the median of the one, plain-ns/op of the other, and
// added-ns their difference, which is Satchel's. It should not depend on how many skills are
// loaded, nor on files that no command asked for.
func BenchmarkRun(b *testing.B) {
	for _, c := range []runCase{
		{loaded: 0}, {loaded: 1}, {loaded: 5}, {loaded: 10},
		{loaded: 0, out: 2000}, {loaded: 1, out: 2000}, {loaded: 10, out: 2000},
		{loaded: 1, files: 50},
	} {
		b.Run(fmt.Sprintf("loaded=%d/out=%d/files=%d", c.loaded, c.out, max(c.files, 1)), c.run)
	}
}

// runCase is what a command finds: loaded skills, files in out/, and files of
// the skill that it belongs to.
type runCase struct{ loaded, out, files int }

func (c runCase) run(b *testing.B) {
	call := c.open(b)
	skillRun := func() { call("skill_run", `{"skill":"s0","command":"true"}`) }
	plain := func() {
		if err := exec.Command("bash", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
	}
	skillRun() // the first run copies the skill
	var runs, plains []time.Duration
	for b.Loop() {
		plains = append(plains, took(plain))
		runs = append(runs, took(skillRun))
	}
	b.ReportMetric(0, "ns/op") // omits ns/op, which would measure both together
	b.ReportMetric(median(runs), "p50-ns/op")
	b.ReportMetric(median(plains), "plain-ns/op")
	b.ReportMetric(median(runs)-median(plains), "added-ns")
}

func took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2])
}

// open opens a runtime for the case, with an artifact in its store, and returns
// how to call its tools.
func (c runCase) open(b *testing.B) (call func(tool, args string)) {
	local, err := local.New()
	if err != nil {
		b.Fatal(err)
	}
	places, err := workspace.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { places.Close() })
	store, err := artifacts.OpenDirectory(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	fsys := fstest.MapFS{}
	for i := range max(c.loaded, 1) {
		name := fmt.Sprintf("s%d", i)
		fsys[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: One of many.\n---\nRun it.\n")}
	}
	for i := range max(c.files-1, 0) {
		fsys[fmt.Sprintf("s0/part%d/file%d.md", i%5, i)] = &fstest.MapFile{Data: []byte("text")}
	}
	runner := satchel.Runner{Executor: local, Workspaces: places, Artifacts: store, AllowUnloaded: c.loaded == 0}
	rt, err := satchel.New(satchel.WithSkillFS("skills", fsys), satchel.WithLoading(satchel.Loading{Max: -1}), satchel.WithRunner(runner))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { rt.Close() })
	ctx, key := context.Background(), core.SessionKey{Session: "s"}
	if _, err := rt.Prepare(ctx, core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}); err != nil {
		b.Fatal(err)
	}
	call = func(tool, args string) {
		answer, err := rt.CallTool(ctx, key, core.ToolCall{Name: tool, Arguments: args})
		if err != nil || strings.HasPrefix(answer, "error") {
			b.Fatal(answer, err)
		}
	}
	for i := range c.loaded {
		call("skill_load", fmt.Sprintf("s%d", i))
	}
	call("skill_run", fmt.Sprintf(`{"skill":"s0","command":"echo a > out/a; for i in $(seq %d); do echo x > out/f$i.txt; done","outputs":{"globs":["out/a"],"save":true}}`, c.out))
	return call
}
