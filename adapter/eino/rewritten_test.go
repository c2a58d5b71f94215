package eino_test

import (
	"fmt"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// A user who writes as Eino's history rewriter does begins a turn all the same.
func TestWordsOfAUserThatReadLikeEinos(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		for _, words := range []string{"For context: [bob] said: the build is red.", "For context:"} {
			var seen events
			m := script(loading("1", "pdf"), say("one"), say("two"))
			cfg := &adk.ChatModelAgentConfig{Model: m}
			install(t, cfg, newRuntime(t, satchel.WithEvents(seen.hook)))
			agent := newAgent(t, cfg)
			noErrors(t, run(t, agent, "s", streaming, schema.UserMessage("q")))
			noErrors(t, run(t, agent, "s", streaming, schema.UserMessage("q"), say("one"), schema.UserMessage(words)))
			shown(t, "agent", m, pdfBody, 0, 1, 0)
			if got := seen.count(core.TurnBegun, "agent"); got != 2 {
				t.Errorf("%q: %d turns begun, want 2", words, got)
			}
		}
	})
}

// A message of another agent of the run begins no turn, even if the agents are the steps of a
// workflow.
func TestStepsOfAWorkflowAreOneTurn(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		var seen events
		rt := newRuntime(t, satchel.WithEvents(seen.hook))
		a := script(loading("1", "pdf"), say("a one"), say("a two"))
		b := script(loading("1", "csv"), say("b one"), say("b two"))
		var steps []adk.Agent
		for i, m := range []*scripted{a, b} {
			cfg := &adk.ChatModelAgentConfig{Name: fmt.Sprint("step", i), Model: m}
			install(t, cfg, rt)
			steps = append(steps, newAgent(t, cfg))
		}
		loop, err := adk.NewLoopAgent(t.Context(), &adk.LoopAgentConfig{Name: "loop", Description: "Two steps.", SubAgents: steps, MaxIterations: 2})
		if err != nil {
			t.Fatal(err)
		}
		noErrors(t, run(t, loop, "s", streaming, schema.UserMessage("q")))
		shown(t, "a", a, pdfBody, 0, 1, 1)
		shown(t, "b", b, csvBody, 0, 1, 1)
		for _, agent := range []string{"step0", "step1"} {
			if got := seen.count(core.TurnBegun, agent); got != 1 {
				t.Errorf("%s began %d turns, want 1", agent, got)
			}
		}
	})
}
