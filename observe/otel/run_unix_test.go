//go:build unix

package otel_test

import (
	"bytes"
	"testing"
	"testing/fstest"

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
	for _, name := range []string{"satchel.tool.denials", "satchel.workspace.step.duration"} {
		if c.metrics[name] == nil {
			t.Errorf("there is no %s", name)
		}
	}
}
