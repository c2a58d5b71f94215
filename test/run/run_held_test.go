package run_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
)

// description returns the description of a tool that a model gets.
func description(rt *satchel.Runtime, tool string) string {
	for _, t := range rt.Tools() {
		if t.Name == tool {
			return t.Description
		}
	}
	return ""
}

// claimingExecutor is an executor that says something of itself and runs nothing.
type claimingExecutor struct{ is executor.Capabilities }

var errRan = errors.New("it ran a command")

func (c claimingExecutor) Capabilities() executor.Capabilities { return c.is }

func (claimingExecutor) Run(context.Context, executor.Command) (executor.Result, error) {
	return executor.Result{}, errRan
}

func (claimingExecutor) Start(context.Context, executor.Command, executor.Terminal) (executor.Process, error) {
	return nil, errRan
}

func TestDescriptionSaysWhatIsHeldBack(t *testing.T) {
	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	held := executor.Capability{Enforced: true}
	many := strings.Split(strings.Repeat("/opt/t ", 10), " ")[:10]
	for _, tt := range []struct {
		name      string
		executor  executor.Executor
		want, not string
	}{
		{"nothing", local, "$OUTPUT_DIR.", "network"},
		{"network", claimingExecutor{executor.Capabilities{Network: held}}, "$OUTPUT_DIR. No network.", "No files"},
		{"files", claimingExecutor{executor.Capabilities{Filesystem: held}}, "$OUTPUT_DIR. No files outside the workspace.", "network"},
		{"all but a directory", claimingExecutor{executor.Capabilities{Network: held, Filesystem: held, Readable: []string{"/opt/a", "/opt/b"}}}, "No network. No files outside the workspace but /opt/a, /opt/b.", "cannot run"},
		{"all but many directories", claimingExecutor{executor.Capabilities{Filesystem: held, Readable: many}}, "and 2 more directories.", strings.Repeat("/opt/t, ", 9)},
		{"everything", claimingExecutor{executor.Capabilities{Unavailable: "max_user_namespaces is 0", Network: held}}, "Commands cannot run on this machine.", "max_user_namespaces"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, satchel.Runner{Executor: tt.executor})
			if got := description(b.rt, "skill_run"); !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
				t.Errorf("skill_run: %s", got)
			}
		})
	}
}

// If no command can run, the host learns what to change, and the model what to do. Nothing
// takes the place of the executor.
func TestCommandsCannotRun(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	none := claimingExecutor{executor.Capabilities{Unavailable: "set user.max_user_namespaces above 0"}}
	b := newBench(t, satchel.Runner{Executor: none}, satchel.WithLogger(logger))
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=WARN") || !strings.Contains(got, "set user.max_user_namespaces above 0") {
		t.Errorf("log of New: %s", got)
	}
	if err := b.rt.Ready(t.Context()); !errors.Is(err, executor.ErrSetup) || !strings.Contains(err.Error(), "max_user_namespaces") {
		t.Errorf("Ready: %v", err)
	}
	for _, tool := range []string{"skill_run", "skill_exec"} {
		const want = "error: Commands cannot run on this machine: do without them what can be done, and tell the user what cannot."
		if got := b.call(tool, `{"skill":"demo","command":"true"}`); got != want {
			t.Errorf("%s: %s", tool, got)
		}
	}

	log.Reset()
	rt, err := satchel.New(satchel.WithLogger(logger), satchel.WithTools(satchel.Tools{Names: []string{"skill_load"}}), satchel.WithRunner(satchel.Runner{Executor: none}),
		satchel.WithSkillFS("skills", fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: A.\n---\n")}}))
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	if log.Len() > 0 {
		t.Errorf("an agent that runs nothing is warned of: %s", log.String())
	}
}

// A closed runtime runs nothing.
func TestRunAfterClose(t *testing.T) {
	rt, err := satchel.New(satchel.WithSkillFS("skills", fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: A.\n---\n")}}),
		satchel.WithRunner(satchel.Runner{AllowUnloaded: true}))
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	answer, err := rt.CallTool(t.Context(), core.SessionKey{Session: "s"}, core.ToolCall{Name: "skill_run", Arguments: `{"skill":"a","command":"true"}`})
	if err == nil && !strings.HasPrefix(answer, "error: ") {
		t.Errorf("answer %s", answer)
	}
}

// The rules say how the tools for commands are meant, and stay short.
func TestGuidanceOfCommands(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	view, err := b.rt.Prepare(t.Context(), core.Request{Key: b.key, Messages: []core.Message{{Role: core.User, Text: "hi"}}})
	if err != nil {
		t.Fatal(err)
	}
	_, guidance, ok := strings.Cut(view.Messages[0].Text, "</available_skills>\n")
	if !ok || len(guidance) >= 700 {
		t.Fatalf("%d characters: %s", len(guidance), guidance)
	}
	for _, want := range []string{"do not explore with it", "take only the docs you need", "editor_text answers $EDITOR."} {
		if !strings.Contains(guidance, want) {
			t.Errorf("the guidance lacks %q: %s", want, guidance)
		}
	}
}
