package run_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
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

// A host that forces saving gets what was collected, whatever the call says, and
// nothing that was not.
func TestRunForcedSaving(t *testing.T) {
	store := artifacts.NewMemory()
	b := newBench(t, satchel.Runner{Artifacts: store, ForceSave: true})
	for _, tt := range []struct {
		name, fields string
		want         []string
	}{
		{"output_files", `"output_files":["out/*.txt"]`, []string{"out/a.txt@0", "out/b.txt@0"}},
		{"told not to", `"outputs":{"globs":["out/a.txt"],"save":false}`, []string{"out/a.txt@1"}},
		{"flag told not to", `"output_files":["out/a.txt"],"save_as_artifacts":false`, []string{"out/a.txt@2"}},
		{"with a prefix", `"output_files":["out/a.txt"],"artifact_prefix":"p/"`, []string{"p/out/a.txt@0"}},
		{"without content", `"output_files":["out/b.txt"],"omit_inline_content":true`, []string{"out/b.txt@1"}},
		{"once when asked for too", `"outputs":{"globs":["out/b.txt"],"save":true}`, []string{"out/b.txt@2"}},
		{"nothing found", `"output_files":["out/none"]`, nil},
		{"nothing asked for", `"stdin":""`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := b.run(`{"skill":"demo","command":"echo a > out/a.txt; echo b > out/b.txt",` + tt.fields + `}`)
			var got []string
			for _, f := range r.Artifacts {
				got = append(got, artifacts.Ref{Name: f.Name, Version: f.Version}.String())
			}
			for i := range tt.want {
				tt.want[i] = "artifact://" + tt.want[i]
			}
			if strings.Join(got, " ") != strings.Join(tt.want, " ") || tt.want != nil && len(r.Warnings) > 0 {
				t.Errorf("saved %q, want %q, warnings %q", got, tt.want, r.Warnings)
			}
		})
	}
	t.Run("too large", func(t *testing.T) {
		r := b.run(`{"skill":"demo","command":"head -c 100 /dev/zero > out/large","outputs":{"globs":["out/large"],"max_file_bytes":10}}`)
		if len(r.Artifacts) > 0 || len(r.Files) != 1 || !strings.Contains(strings.Join(r.Warnings, "\n"), "not saved") {
			t.Errorf("run: %+v", r)
		}
	})
}

// A workspace that was idle is gone from the disk, and the session goes on with
// a new one. One that is in use stays, however long the command takes.
func TestRunAfterIdleTime(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	places, err := workspace.Open(t.Context(), base, workspace.WithIdle(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	b := newBench(t, satchel.Runner{Workspaces: places})
	r := b.run(`{"skill":"demo","command":"echo mine > work/x; sleep 0.3; cat work/x; pwd -P"}`)
	kept, path, _ := strings.Cut(strings.TrimSpace(r.Stdout), "\n")
	if kept != "mine" {
		t.Fatalf("removed while in use: %+v", r)
	}
	for {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			break
		}
		time.Sleep(time.Millisecond) // the timeout of the test ends the loop
	}
	r = b.run(`{"skill":"demo","command":"ls work; pwd -P; cat scripts/echo"}`)
	if strings.Contains(r.Stdout, path) || !strings.HasPrefix(r.Stdout, "inputs\n") || !strings.Contains(r.Stdout, "fake") {
		t.Errorf("afterwards: %+v", r)
	}
	if err := b.rt.EndSession(context.Background(), b.key.Session); err != nil {
		t.Error(err)
	}
}

// TestRunnerOptionTwice: runtimes of the same option close only what each has opened.
func TestRunnerOptionTwice(t *testing.T) {
	commands, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	skills := fstest.MapFS{"demo/SKILL.md": {Data: []byte("---\nname: demo\ndescription: Runs things.\n---\nRun.\n")}}
	opts := []satchel.Option{satchel.WithSkillFS("skills", skills), satchel.WithRunner(satchel.Runner{Executor: commands, AllowUnloaded: true})}
	first, err := satchel.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	second, err := satchel.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	call := core.ToolCall{ID: "1", Name: "skill_run", Arguments: `{"skill":"demo","command":"echo here"}`}
	answer, err := second.CallTool(t.Context(), core.SessionKey{Session: "s"}, call)
	if err != nil || !strings.Contains(answer, "here") {
		t.Errorf("CallTool: got %q, error %v, want it to contain %q", answer, err, "here")
	}
}
