package satchel_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/workspace"
)

// BenchmarkRun measures `skill_run true` with the skill staged, beside what the
// same shell costs by itself: the difference is Satchel's. It should not depend
// on how many skills are loaded, nor on files that nobody asked for.
func BenchmarkRun(b *testing.B) {
	b.Run("plain bash", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("bash", "-c", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, loaded := range []int{1, 5, 10} {
		b.Run(fmt.Sprintf("skill_run/loaded=%d/files=0", loaded), func(b *testing.B) { benchmarkRun(b, loaded, 0) })
	}
	b.Run("skill_run/loaded=1/files=2000", func(b *testing.B) { benchmarkRun(b, 1, 2000) })
}

func benchmarkRun(b *testing.B, loaded, files int) {
	local, err := executor.NewLocal()
	if err != nil {
		b.Fatal(err)
	}
	places, err := workspace.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer places.Close()
	fsys := fstest.MapFS{}
	for i := range loaded {
		name := fmt.Sprintf("s%d", i)
		fsys[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: One of many.\n---\nRun it.\n")}
	}
	rt, err := satchel.New(satchel.WithSkillFS("skills", fsys), satchel.WithMaxLoaded(0),
		satchel.WithRunner(tools.Runner{Executor: local, Workspaces: places}))
	if err != nil {
		b.Fatal(err)
	}
	defer rt.Close()
	ctx, key := context.Background(), core.SessionKey{Session: "s"}
	if _, err := rt.Prepare(ctx, core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}); err != nil {
		b.Fatal(err)
	}
	call := func(tool, args string) {
		if _, err := rt.CallTool(ctx, key, core.ToolCall{Name: tool, Arguments: args}); err != nil {
			b.Fatal(err)
		}
	}
	for i := range loaded {
		call("skill_load", fmt.Sprintf("s%d", i))
	}
	call("skill_run", `{"skill":"s0","command":"true"}`)
	place, err := places.Of(ctx, "s")
	if err != nil {
		b.Fatal(err)
	}
	defer place.Release()
	for i := range files {
		if err := place.Root().WriteFile(fmt.Sprintf("out/f%d.txt", i), []byte("x"), os.FileMode(0o600)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		call("skill_run", `{"skill":"s0","command":"true"}`)
	}
}
