package eino

import (
	"context"
	"slices"
	"weak"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"

	"github.com/satchel-go/satchel/adapter"
)

// inAgentRun marks ctx with the run of the adk agent under it, and with the agents that
// have handed the conversation over to that agent. Outside of adk it returns ctx.
func inAgentRun(ctx context.Context) context.Context {
	path := agentPath(compose.GetCurrentAddress(ctx))
	if len(path) == 0 {
		return ctx
	}
	if before := path[:len(path)-1]; len(before) > 0 {
		ctx = adapter.WithAgentsBefore(ctx, before)
	}
	if state := graphState(ctx); state != nil {
		ctx = adapter.WithAttempt(ctx, weak.Make(state))
	}
	return ctx
}

// agentPath returns the names of the adk agents by which a conversation has come to the one at
// an address, which is the last. If the conversation came back to an agent, that agent is
// listed once, without those that it came back from: handing back, as a supervisor does, is an
// answer. The path of an agent that is a tool begins with that agent.
func agentPath(address compose.Address) []string {
	var names []string
	for i, at := range address {
		if at.Type != adk.AddressSegmentAgent {
			continue
		}
		if i > 0 && address[i-1].Type != adk.AddressSegmentAgent {
			names = nil
		}
		if n := slices.Index(names, at.ID); n >= 0 {
			names = names[:n]
		}
		names = append(names, at.ID)
	}
	return names
}
