package eino_test

import (
	"errors"
	"testing"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// The tokens of each call are an event without a handler of the host.
func TestUsageWithoutHandler(t *testing.T) {
	for _, selfReports := range []bool{false, true} {
		both(t, func(t *testing.T, streaming bool) {
			var seen events
			rt := newRuntime(t, satchel.WithEvents(seen.hook))
			m := script(metered(loading("1", "pdf"), 100, 40, 7), metered(say("done"), 200, 150, 8))
			m.selfReports = selfReports
			a := newReact(t, &react.AgentConfig{ToolCallingModel: m, GraphName: "helper", ToolsConfig: compose.ToolsNodeConfig{}}, rt)
			askReact(t, satchel.WithSession(t.Context(), "s"), a, streaming, []*schema.Message{schema.UserMessage("q")})
			eventually(t, "two reports of the model", func() bool { return len(seen.of(core.ModelCalled)) >= 2 })
			for i, want := range []core.Usage{{Prompt: 100, Cached: 40, Completion: 7}, {Prompt: 200, Cached: 150, Completion: 8}} {
				e := seen.of(core.ModelCalled)[i]
				if e.Usage != want || e.Duration <= 0 || e.Key != (core.SessionKey{Session: "s", Agent: "helper"}) {
					t.Errorf("call %d: %+v, want %+v", i+1, e, want)
				}
			}
			if n := len(seen.of(core.ModelFailed)); n != 0 {
				t.Errorf("%d calls failed", n)
			}
		})
	}
}

func TestFailureWithoutHandler(t *testing.T) {
	broken := errors.New("503 from the provider")
	var seen events
	rt := newRuntime(t, satchel.WithEvents(seen.hook))
	a := newReact(t, &react.AgentConfig{ToolCallingModel: answering(func([]*schema.Message) (*schema.Message, error) { return nil, broken }), GraphName: "helper", ToolsConfig: compose.ToolsNodeConfig{}}, rt)
	if _, err := a.Generate(satchel.WithSession(t.Context(), "s"), []*schema.Message{schema.UserMessage("q")}); !errors.Is(err, broken) {
		t.Fatalf("error %v", err)
	}
	if failed := seen.of(core.ModelFailed); len(failed) != 1 || !errors.Is(failed[0].Err, broken) || failed[0].Key.Session != "s" {
		t.Errorf("events %+v", failed)
	}
}
