package eino

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/printable"
)

// ToolMiddleware returns the middleware that checks every tool call of the agent with the
// runtime's gate, and reports the end of the call. The reason is the answer to a denied call,
// and the tool does not run. The result and the error of an allowed call are passed on
// unchanged, with two exceptions. Arguments that the tool cannot decode, and a transfer to an
// agent that does not exist, become an answer for the model, because the error would end the
// run. An adk agent continues after such an answer, even if the tool is one of ReturnDirectly.
// With [Interrupt] as approver, a call that needs a person's answer interrupts the run.
//
// All four kinds of middleware are set: Eino applies to a tool only the kinds that the tool
// implements, so a call could bypass the gate if one were missing. The middleware must be the
// first in compose.ToolsNodeConfig.ToolCallMiddlewares, so that the host's middlewares see
// allowed calls only. Calls of tools that the node does not have bypass all middleware; see
// [Adapter.UnknownTools].
func (a *Adapter) ToolMiddleware() compose.ToolMiddleware {
	return compose.ToolMiddleware{
		Invokable: func(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
			return gateCalls(a, next, denyText)
		},
		Streamable: func(next compose.StreamableToolEndpoint) compose.StreamableToolEndpoint {
			return gateCalls(a, next, denyTextStream)
		},
		EnhancedInvokable: func(next compose.EnhancedInvokableToolEndpoint) compose.EnhancedInvokableToolEndpoint {
			return gateCalls(a, next, denyParts)
		},
		EnhancedStreamable: func(next compose.EnhancedStreamableToolEndpoint) compose.EnhancedStreamableToolEndpoint {
			return gateCalls(a, next, denyPartsStream)
		},
	}
}

// callKey is the context key of the call that the gate has allowed.
type callKey struct{}

// gateCalls returns next with the gate before it. It closes the call on every way out, a panic
// included. It closes the call of a streaming tool when the stream begins: other calls wait for
// loads only, and loads do not stream.
func gateCalls[O any](a *Adapter, next func(context.Context, *compose.ToolInput) (O, error), deny func(reason string) O) func(context.Context, *compose.ToolInput) (O, error) {
	return func(ctx context.Context, in *compose.ToolInput) (O, error) {
		var none O
		ctx, key, err := a.enter(ctx)
		if err != nil {
			return none, err
		}
		call, err := a.rt.Agent(key).Open(ctx, core.ToolCall{ID: in.CallID, Name: in.Name, Arguments: in.Arguments})
		if err != nil {
			return none, err
		}
		defer call.Close()
		if text := noAgentAnswer(ctx, in); text != "" {
			continueRun(ctx, in.CallID)
			return deny(text), nil
		}
		d, err := call.Gate(ctx)
		if err != nil {
			return none, err
		}
		if d.Denied {
			continueRun(ctx, in.CallID)
			return deny(d.Reason), nil
		}
		if ctx, err = call.Within(ctx); err != nil {
			return none, err
		}
		out, err := next(context.WithValue(ctx, callKey{}, call), in)
		if text, ok := misreadAnswer(err); ok {
			continueRun(ctx, in.CallID)
			return deny(text), nil
		}
		return out, err
	}
}

// misreadAnswer returns an answer for the model if err says that a tool could not decode its
// arguments. Their JSON is broken or cut off, or a value has another type. Tools that Eino
// builds from functions return such errors, which would end the run. Other errors are the
// tool's own.
func misreadAnswer(err error) (text string, ok bool) {
	var decoderError interface { // an error of Eino's JSON decoder
		error
		Description() string
	}
	_, isSyntax := errors.AsType[*json.SyntaxError](err)
	_, isType := errors.AsType[*json.UnmarshalTypeError](err)
	if !isSyntax && !isType && !errors.As(err, &decoderError) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", false
	}
	text = err.Error()
	ellipsis := ""
	if len(text) > maxMisread {
		text, ellipsis = strings.ToValidUTF8(text[:maxMisread], ""), "…"
	}
	text = printable.Line(text) + ellipsis // the text contains parts of the arguments
	return "error: the arguments of this call cannot be read, correct them and call again: " + text, true
}

// InvokableRun answers a call of one of the runtime's tools. It runs the call that the
// middleware has judged. If there is none, or another middleware has changed the call since, it
// opens and judges the call itself. A failure that the model can act on is part of the answer;
// an error ends the agent's run.
func (t *skillTool) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	ctx, key, err := t.adapter.enter(ctx)
	if err != nil {
		return "", err
	}
	toolCall := core.ToolCall{ID: compose.GetToolCallID(ctx), Name: t.info.Name, Arguments: arguments}
	if call, ok := ctx.Value(callKey{}).(*satchel.Call); ok && call.Key() == key && call.ToolCall() == toolCall {
		answer, err := call.Run(ctx)
		return answer, waitForFork(ctx, err)
	}
	answer, err := t.adapter.rt.CallTool(ctx, key, toolCall)
	return answer, waitForFork(ctx, err)
}

// waitSegment is the last part of the address at which a call waits for the fork of an earlier call. It
// distinguishes the wait from an interrupt of the call's own fork.
const waitSegment compose.AddressSegmentType = "fork-order"

// waitForFork returns the error of a call. A call that waits for the fork of an earlier one gets an
// interrupt without a question. The resume that goes on with the earlier fork executes it again.
func waitForFork(ctx context.Context, err error) error {
	if waits, ok := errors.AsType[*adapter.ForkInterrupt](err); ok {
		return tool.Interrupt(compose.AppendAddressSegment(ctx, waitSegment, ""), waits.Error())
	}
	return err
}

func denyText(reason string) *compose.ToolOutput {
	return &compose.ToolOutput{Result: reason}
}

func denyTextStream(reason string) *compose.StreamToolOutput {
	return &compose.StreamToolOutput{Result: schema.StreamReaderFromArray([]string{reason})}
}

func denyParts(reason string) *compose.EnhancedInvokableToolOutput {
	return &compose.EnhancedInvokableToolOutput{Result: textResult(reason)}
}

func denyPartsStream(reason string) *compose.EnhancedStreamableToolOutput {
	stream := schema.StreamReaderFromArray([]*schema.ToolResult{textResult(reason)})
	return &compose.EnhancedStreamableToolOutput{Result: stream}
}

func textResult(text string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}
}

// UnknownTools returns the compose.ToolsNodeConfig.UnknownToolsHandler of the agent. Without
// one, a call of a tool that the node does not have ends the run, before any tool of the same
// message runs.
//
// If handler is nil, the answer to such a call names the tool, the most similar names and, for
// tools of other agents, what to use here. Nothing runs, so the gate is not asked. Otherwise
// the host's handler is called if the function of satchel.WithGate and the lists allow it. The
// approver is asked only about tools that satchel.Permissions.HostTools describes. The
// handler's answer is cut to 4 KiB, and its error ends the run.
//
// Eino reports no event for such an answer. Later requests contain it at its place if the
// history lacks it.
func (a *Adapter) UnknownTools(handler func(ctx context.Context, name, input string) (string, error)) func(ctx context.Context, name, input string) (string, error) {
	return func(ctx context.Context, name, input string) (string, error) {
		ctx, key, err := a.enter(ctx)
		if err != nil {
			return "", err
		}
		call, err := a.rt.Agent(key).Open(ctx, core.ToolCall{ID: compose.GetToolCallID(ctx), Name: name, Arguments: input})
		if err != nil {
			return "", err
		}
		defer call.Close()
		if handler == nil {
			return call.Run(ctx)
		}
		d, err := call.Gate(adapter.WithUnknownTool(ctx))
		if err != nil {
			return "", err
		}
		answer := d.Reason
		if !d.Denied {
			if ctx, err = call.Within(ctx); err != nil {
				return "", err
			}
			if answer, err = handler(ctx, name, input); err != nil {
				return "", err
			}
		}
		return call.Keep(ctx, answer)
	}
}

// continueRun lets an agent of adk continue after a call that was answered without its tool. If
// the tool is one of ReturnDirectly, adk would end the run with that answer, and the model
// could not correct the call.
func continueRun(ctx context.Context, callID string) {
	// The error means that the graph has no such state, so it is not one of adk.
	_ = compose.ProcessState(ctx, func(_ context.Context, st *adk.State) error {
		if st.ReturnDirectlyToolCallID == callID {
			st.HasReturnDirectly, st.ReturnDirectlyToolCallID = false, ""
		}
		return nil
	})
}

// agentEntries are the texts before and after the name of an agent in adk's instruction about
// transfers, one pair for each language of adk.
var agentEntries = [][2]string{
	{"\n- Agent name: ", "\n  Agent description: "},
	{"\n- Agent 名字: ", "\n  Agent 描述: "},
}

// noAgentAnswer returns the answer to a transfer to an agent that does not exist, or "" for any
// other call. adk would end the run. The names of the agents are read from adk's own
// instruction; without that instruction every name is accepted.
func noAgentAnswer(ctx context.Context, in *compose.ToolInput) string {
	var args struct {
		Name string `json:"agent_name"`
	}
	if in.Name != adk.TransferToAgentToolName || json.Unmarshal([]byte(in.Arguments), &args) != nil {
		return ""
	}
	var names []string
	_ = compose.ProcessState(ctx, func(_ context.Context, st *adk.State) error {
		names = agentsInInstruction(st.Messages)
		return nil
	})
	if len(names) == 0 || slices.Contains(names, args.Name) {
		return ""
	}
	for i, name := range names {
		names[i] = quotedName(name)
	}
	ellipsis := ""
	if len(names) > maxAgents {
		names, ellipsis = names[:maxAgents], ", …"
	}
	return "error: there is no agent " + quotedName(args.Name) + "; you can transfer to " + strings.Join(names, ", ") + ellipsis + ", or answer yourself"
}

// agentsInInstruction returns the names of agents in the leading system messages.
func agentsInInstruction(messages []*schema.Message) []string {
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

// quotedName returns a name in quotes on one line.
func quotedName(name string) string {
	return `"` + printable.CutLine(name, maxAgentName) + `"`
}
