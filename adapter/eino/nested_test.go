package eino_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/loadmode"
)

// loads lists what is loaded in a session as agent:skill.
func loads(t testing.TB, rt *satchel.Runtime, session string) []string {
	t.Helper()
	all, err := rt.Loaded(satchel.WithSession(t.Context(), session))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range all {
		out = append(out, l.Agent+":"+l.Skill)
	}
	return out
}

// An agent that is a tool of another one with the same name has separate state, which is the
// same in every turn.
func TestNestedAgentsOfOneName(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		rt := newRuntime(t, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
		cm := script(loading("1", "csv"), say("child 1"), say("child 2"))
		child := newReact(t, &react.AgentConfig{ToolCallingModel: cm, MaxStep: 12}, rt)
		pm := script(loading("1", "pdf"), calling(call("2", "helper", "{}")), say("one"), calling(call("3", "helper", "{}")), say("two"))
		parent := newReact(t, &react.AgentConfig{
			ToolCallingModel: pm, MaxStep: 12,
			ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{&hostTool{name: "helper", run: func(ctx context.Context, _ string) (string, error) {
				out, err := child.Generate(ctx, []*schema.Message{schema.UserMessage("do")})
				return fmt.Sprint(out), err
			}}}},
		}, rt)
		ctx := satchel.WithSession(t.Context(), "s")
		var in []*schema.Message
		for _, question := range []string{"first", "second"} {
			in = append(in, schema.UserMessage(question))
			in = append(in, askReact(t, ctx, parent, streaming, in))
		}
		for i, want := range []int{0, 1, 1, 1, 1} {
			if req := pm.request(t, i); shows(req, pdfBody) != want || shows(req, csvBody) != 0 {
				t.Errorf("call %d of the parent shows:\n%s", i, allText(req))
			}
		}
		for i, want := range []int{0, 1, 1} {
			if req := cm.request(t, i); shows(req, csvBody) != want || shows(req, pdfBody) != 0 {
				t.Errorf("call %d of the child shows:\n%s", i, allText(req))
			}
		}
		if got := loads(t, rt, "s"); !slices.Equal(got, []string{"react:pdf", "react/react:csv"}) {
			t.Errorf("loaded are %q", got)
		}
	})
}
