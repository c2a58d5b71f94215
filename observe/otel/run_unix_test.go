//go:build unix

package otel_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	attributes "go.opentelemetry.io/otel/attribute"
	v1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
)

// A run and a denial, at a collector: the steps of a run are below its call.
func TestRunToCollector(t *testing.T) {
	o, c, flush := exported(t)
	commands, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	rt, err := satchel.New(
		satchel.WithSkillFS("skills", fstest.MapFS{
			"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: Writes.\nallowed-tools: Bash(echo:*) Write\n---\nBODY\n")},
		}),
		satchel.WithRunner(satchel.Runner{Executor: commands, Artifacts: artifacts.NewMemory()}),
		satchel.WithEvents(o.Event),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	key := core.SessionKey{Session: "s", Agent: "a"}
	for id, call := range []core.ToolCall{
		{Name: "skill_load", Arguments: `{"skill":"a"}`},
		{Name: "skill_run", Arguments: `{"skill":"a","command":"echo x > $OUTPUT_DIR/x","outputs":{"globs":["$OUTPUT_DIR/*"],"save":true}}`},
		{Name: "skill_exec", Arguments: `{"skill":"a","command":"rm x"}`},
		{Name: "skill_read", Arguments: `{"skill":"a","path":"none.md"}`},
	} {
		call.ID = string(rune('1' + id))
		if _, err := rt.CallTool(t.Context(), key, call); err != nil {
			t.Fatal(err)
		}
	}
	o.Close()
	flush()

	run := c.span(t, "execute_tool skill_run")
	for _, name := range []string{"workspace.create", "workspace.stage", "workspace.run", "workspace.collect"} {
		if s := c.span(t, name); !bytes.Equal(s.ParentSpanId, run.SpanId) {
			t.Errorf("%s is not below its call", name)
		}
	}
	if got := attribute(c.span(t, "deny_tool skill_exec"), "gen_ai.tool.name"); got != "skill_exec" {
		t.Errorf("the denial is of tool %q", got)
	}
	for name, want := range map[string]string{"deny_tool skill_exec": "denied", "execute_tool skill_exec": "refused", "execute_tool skill_read": "refused", "execute_tool skill_run": ""} {
		s := c.span(t, name)
		if got := attribute(s, "error.type"); got != want || (s.Status.GetCode() == v1.Status_STATUS_CODE_ERROR) != (want != "") {
			t.Errorf("%s has error.type %q and status %v, want %q", name, got, s.Status, want)
		}
		if strings.Contains(s.Status.GetMessage(), "none.md") {
			t.Errorf("%s exports arguments: %q", name, s.Status.GetMessage())
		}
	}
	for _, name := range []string{"satchel.tool.denials", "satchel.workspace.step.duration"} {
		if c.metrics[name] == nil {
			t.Errorf("there is no %s", name)
		}
	}
}

// A run that is over has its exit code, and one that did not succeed has a status.
func TestExitCodes(t *testing.T) {
	commands, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		command string
		code    int64
		status  string
	}{{"exit 0", 0, ""}, {"exit 2", 2, "exit code 2"}, {"kill -9 $$", 137, "exit code 137"}} {
		o, spans, _ := recordingObserver(t)
		rt, err := satchel.New(
			satchel.WithSkillFS("skills", fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: Writes.\n---\nBODY\n")}}),
			satchel.WithRunner(satchel.Runner{Executor: commands, AllowUnloaded: true}), satchel.WithEvents(o.Event),
		)
		if err != nil {
			t.Fatal(err)
		}
		call := core.ToolCall{ID: "1", Name: "skill_run", Arguments: `{"skill":"a","command":"` + tt.command + `"}`}
		if _, err := rt.CallTool(t.Context(), core.SessionKey{Session: "s"}, call); err != nil {
			t.Fatal(err)
		}
		if err := rt.Close(); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, s := range spans.Ended() {
			if s.Name() != "workspace.run" {
				continue
			}
			found = true
			if s.Status().Description != tt.status || !slices.Contains(s.Attributes(), attributes.Int64("process.exit.code", tt.code)) {
				t.Errorf("%s: status %v, attributes %v", tt.command, s.Status(), s.Attributes())
			}
		}
		if !found {
			t.Errorf("%s: no span of the run", tt.command)
		}
	}
}
