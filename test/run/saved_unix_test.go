//go:build unix

package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
)

// What a run or a session has saved is in its event: name, version, and the reference
// by which a host opens it.
func TestSavedArtifactsAreInEvents(t *testing.T) {
	var mu sync.Mutex
	var saved []string
	store := artifacts.NewMemory()
	b := newBench(t, satchel.Runner{Artifacts: store}, satchel.WithEvents(func(_ context.Context, e core.Event) {
		mu.Lock()
		defer mu.Unlock()
		for _, s := range e.Saved {
			saved = append(saved, fmt.Sprint(e.Kind, " ", e.Key.Session, " ", s.Name, " ", s.Version, " ", s.Ref))
		}
	}))
	outputs := `,"outputs":{"globs":["out/*"],"save":true,"name_template":"mine/"}`
	b.run(command("echo 1 > out/x; echo 2 > out/y", outputs))
	b.run(command("rm out/x; echo 3 > out/y", outputs))
	b.run(command("exit 1", `,"output_files":["out/y"]`))
	b.finish(b.talk("skill_exec", command("echo 4 > out/y", outputs)))
	mu.Lock()
	defer mu.Unlock()
	want := []string{
		"workspace.collect s mine/out/x 0 artifact://mine/out/x@0", "workspace.collect s mine/out/y 0 artifact://mine/out/y@0",
		"workspace.collect s mine/out/y 1 artifact://mine/out/y@1", "workspace.collect s mine/out/y 2 artifact://mine/out/y@2",
	}
	if !slices.Equal(saved, want) {
		t.Fatalf("saved are %q, want %q", saved, want)
	}
	for _, s := range saved {
		ref, err := artifacts.ParseRef(s[strings.LastIndex(s, " ")+1:])
		if err != nil {
			t.Fatal(err)
		}
		content, _, err := store.Open(t.Context(), "s", ref)
		if err != nil {
			t.Fatal(err)
		}
		content.Close()
	}
}
