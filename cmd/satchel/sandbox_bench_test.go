package main

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/workspace"
)

// BenchmarkSandboxRun measures `skill_run true` in a sandbox and, in turn with it, what the
// same shell costs by itself. The program links both frameworks, because each sandbox is a
// start of this program. p50-ns/op is the median
// of the one, plain-ns/op of the other, added-ns their difference. With prepared
// sandboxes there is a pause before each run, as between the calls of a model.
func BenchmarkSandboxRun(b *testing.B) {
	for name, opts := range map[string][]sandbox.Option{
		"fresh": nil, "prepared": {sandbox.WithPrepared(2)},
	} {
		b.Run(name, func(b *testing.B) {
			run := openSandboxed(b, opts...)
			plain := func() {
				if err := exec.Command("bash", "-c", "true").Run(); err != nil {
					b.Fatal(err)
				}
			}
			run() // the first run copies the skill
			var runs, plains []time.Duration
			for b.Loop() {
				time.Sleep(30 * time.Millisecond)
				plains = append(plains, took(plain))
				runs = append(runs, took(run))
			}
			b.ReportMetric(0, "ns/op") // omits ns/op, which would measure both together
			b.ReportMetric(median(runs), "p50-ns/op")
			b.ReportMetric(median(plains), "plain-ns/op")
			b.ReportMetric(median(runs)-median(plains), "added-ns")
		})
	}
}

// BenchmarkSandboxSpeed compares the same computation inside and outside.
func BenchmarkSandboxSpeed(b *testing.B) {
	sandbox, err := sandbox.Open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { sandbox.Close() })
	local, err := local.New()
	if err != nil {
		b.Fatal(err)
	}
	cmd := executor.Command{
		Args: []string{"bash", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; for j in $(seq 300); do : < /dev/null; done"},
		Env:  []string{"PATH=/usr/bin:/bin"}, Dir: b.TempDir(),
	}
	var times [2][]time.Duration
	for b.Loop() {
		for i, e := range []executor.Executor{local, sandbox} {
			result, err := e.Run(b.Context(), cmd)
			if err != nil || result.ExitCode != 0 {
				b.Fatal(result, err)
			}
			times[i] = append(times[i], result.Duration)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(times[0]), "outside-ns/op")
	b.ReportMetric(median(times[1]), "inside-ns/op")
}

func openSandboxed(b *testing.B, opts ...sandbox.Option) (run func()) {
	sandbox, err := sandbox.Open(b.Context(), opts...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { sandbox.Close() })
	places, err := workspace.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { places.Close() })
	files := fstest.MapFS{"s/SKILL.md": &fstest.MapFile{Data: []byte("---\nname: s\ndescription: One.\n---\nRun it.\n")}}
	rt, err := satchel.New(satchel.WithSkillFS("skills", files),
		satchel.WithRunner(satchel.Runner{Executor: sandbox, Workspaces: places, AllowUnloaded: true}))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { rt.Close() })
	ctx, key := context.Background(), core.SessionKey{Session: "s"}
	if _, err := rt.Prepare(ctx, core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}); err != nil {
		b.Fatal(err)
	}
	return func() {
		answer, err := rt.CallTool(ctx, key, core.ToolCall{Name: "skill_run", Arguments: `{"skill":"s","command":"true"}`})
		if err != nil || !strings.Contains(answer, `"exit_code":0`) {
			b.Fatal(answer, err)
		}
	}
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
