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
// runtime's gate and reports the call's end. A denied call is answered with the reason, and the
// tool does not run. The result and the error of an allowed call are passed on unchanged, with
// two exceptions. Arguments that the tool cannot decode, and a transfer to an agent that does
// not exist, become an answer for the model, because the error would end the run. An adk agent
// continues after such an answer, even if the tool is one of ReturnDirectly. With [Interrupt]
// as approver, a call that needs a person's answer interrupts the run.
//
// All four kinds are set: Eino applies to a tool only the kinds that the tool implements, so a
// missing kind would be a way around the gate. Put it first in
// compose.ToolsNodeConfig.ToolCallMiddlewares, so that the host's middlewares see allowed calls
// only. Calls of tools that the node does not have bypass all middleware; see
// [Adapter.UnknownTools].
func (a *Adapter) ToolMiddleware() compose.ToolMiddleware {
	return compose.ToolMiddleware{
		Invokable: func(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
			return gated(a, next, denyText)
		},
		Streamable: func(next compose.StreamableToolEndpoint) compose.StreamableToolEndpoint {
			return gated(a, next, denyTextStream)
		},
		EnhancedInvokable: func(next compose.EnhancedInvokableToolEndpoint) compose.EnhancedInvokableToolEndpoint {
			return gated(a, next, denyParts)
		},
		EnhancedStreamable: func(next compose.EnhancedStreamableToolEndpoint) compose.EnhancedStreamableToolEndpoint {
			return gated(a, next, denyPartsStream)
		},
	}
}

// callKey finds, in the context of a tool, the call that the gate has let pass.
type callKey struct{}

// gated asks the gate before a tool is run. The end of the call is reported on
// every way out, a panic included. A tool that streams counts as ended when its
// stream begins: calls wait for loads only, and loads do not stream.
func gated[O any](a *Adapter, next func(context.Context, *compose.ToolInput) (O, error), deny func(reason string) O) func(context.Context, *compose.ToolInput) (O, error) {
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
		if text := noAgent(ctx, in); text != "" {
			goOn(ctx, in.CallID)
			return deny(text), nil
		}
		d, err := call.Gate(ctx)
		if err != nil {
			return none, err
		}
		if d.Denied {
			goOn(ctx, in.CallID)
			return deny(d.Reason), nil
		}
		if ctx, err = call.Within(ctx); err != nil {
			return none, err
		}
		out, err := next(context.WithValue(ctx, callKey{}, call), in)
		if text, ok := misread(err); ok {
			goOn(ctx, in.CallID)
			return deny(text), nil
		}
		return out, err
	}
}

// misread returns what to tell the model of arguments that a tool could not decode: JSON that
// is broken or cut off, or a value of another type. Tools that Eino makes of functions end
// the run there. Other errors are the tool's own.
func misread(err error) (text string, ok bool) {
	var broken interface { // how the decoders of Eino say where
		error
		Description() string
	}
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	if !syntax && !kind && !errors.As(err, &broken) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", false
	}
	text = err.Error()
	more := ""
	if len(text) > maxMisread {
		text, more = strings.ToValidUTF8(text[:maxMisread], ""), "…"
	}
	text = printable.Line(text) + more // decoders show what they have read
	return "error: the arguments of this call cannot be read, correct them and call again: " + text, true
}

// InvokableRun answers a call of one of the runtime's tools. It runs the very call that
// the middleware had judged; one that came without the middleware, or that another middleware has
// changed since, is judged here. What the model can act on is text; an error ends
// the agent's run.
func (t *skillTool) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	ctx, key, err := t.adapter.enter(ctx)
	if err != nil {
		return "", err
	}
	made := core.ToolCall{ID: compose.GetToolCallID(ctx), Name: t.info.Name, Arguments: arguments}
	if call, ok := ctx.Value(callKey{}).(*satchel.Call); ok && call.Key() == key && call.ToolCall() == made {
		return call.Run(ctx)
	}
	return t.adapter.rt.CallTool(ctx, key, made)
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
// one, Eino ends the run at a call of a tool that the node does not have, before any tool of
// the same message is run.
//
// For nil, the calls are answered with a text that names the tool, the most similar names and,
// for tools of other agents, what to use here. Nothing is run, so nothing is judged. A handler
// of the host is called if the function of satchel.WithGate and the lists allow it. An approver
// is asked only about tools that satchel.Permissions.HostTools describes. Its answer is cut to
// 4 KiB, and its error ends the run.
//
// Eino reports no event for such an answer. Later requests have it at its place if the history
// lacks it.
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
	return `"` + printable.CutLine(name, maxAgentName) + `"`
}
