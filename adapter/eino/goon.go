package eino

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/internal/text/printable"
)

// goOn lets an agent of adk go on after a call that was answered without its tool. Some tools
// end a run when they return, and the answer would then be the end of the run: the model
// could not correct the call.
func goOn(ctx context.Context, callID string) {
	// Outside of adk there is no such state, and nothing is to do.
	_ = compose.ProcessState(ctx, func(_ context.Context, st *adk.State) error {
		if st.ReturnDirectlyToolCallID == callID {
			st.HasReturnDirectly, st.ReturnDirectlyToolCallID = false, ""
		}
		return nil
	})
}

// agentEntries are the beginnings and ends of a name in adk's instruction about the agents to
// which a conversation can be handed over, in the languages of adk.
var agentEntries = [][2]string{
	{"\n- Agent name: ", "\n  Agent description: "},
	{"\n- Agent 名字: ", "\n  Agent 描述: "},
}

// Bounds of the answer to a call of a handover to an agent that does not exist.
const (
	maxAgents    = 16
	maxAgentName = 64
)

// noAgent returns the answer to a call that hands the conversation over to an agent which
// does not exist, "" for any other call. adk ends the run there. Which agents exist is known
// from adk's own instruction: where a request has none, every name may be right.
func noAgent(ctx context.Context, in *compose.ToolInput) string {
	var args struct {
		Name string `json:"agent_name"`
	}
	if in.Name != adk.TransferToAgentToolName || json.Unmarshal([]byte(in.Arguments), &args) != nil {
		return ""
	}
	var names []string
	_ = compose.ProcessState(ctx, func(_ context.Context, st *adk.State) error {
		names = agentsToldOf(st.Messages)
		return nil
	})
	if len(names) == 0 || slices.Contains(names, args.Name) {
		return ""
	}
	for i, name := range names {
		names[i] = quotedName(name)
	}
	more := ""
	if len(names) > maxAgents {
		names, more = names[:maxAgents], ", …"
	}
	return "error: there is no agent " + quotedName(args.Name) + "; you can transfer to " + strings.Join(names, ", ") + more + ", or answer yourself"
}

// agentsToldOf returns the names in adk's instruction at the beginning of the messages.
func agentsToldOf(messages []*schema.Message) []string {
	var names []string
	for _, m := range messages {
		if m == nil || m.Role != schema.System {
			break
		}
		for _, entry := range agentEntries {
			_, rest, found := strings.Cut(m.Content, entry[0])
			for found {
				var name string
				if name, rest, found = strings.Cut(rest, entry[1]); found {
					names = append(names, name)
				}
				_, rest, found = strings.Cut(rest, entry[0])
			}
		}
	}
	return names
}

// quotedName shows a name on one line.
func quotedName(name string) string {
	if len(name) > maxAgentName {
		name = strings.ToValidUTF8(name[:maxAgentName], "") + "…"
	}
	return `"` + printable.Line(name) + `"`
}
