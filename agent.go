package satchel

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// Agent is one agent in one session; [Runtime.Agent] returns it. It is a small value that holds
// no state: the runtime keeps the state under the agent's key. It is safe for concurrent use.
type Agent struct {
	runtime *Runtime
	key     core.SessionKey
}

// Agent returns the agent with this key. The key names a session and an agent in
// it; nothing has to exist under it yet.
func (r *Runtime) Agent(key core.SessionKey) Agent { return Agent{runtime: r, key: key} }

// Prepare returns the request to send to the model; see [Runtime.Prepare]. The agent's key
// replaces that of req.
func (a Agent) Prepare(ctx context.Context, req core.Request) (core.View, error) {
	req.Key = a.key
	return a.runtime.Prepare(ctx, req)
}

// Prepare returns the request to send to the model. It loads the agent's record from the store,
// and ends lifetimes if a user turn begins. It saves the record if that changed it, and then
// builds the view. It reads nothing else from disk, except the catalog when a session begins.
// Prepare never changes the messages of req. The same messages, state and catalog give the same
// bytes, so the caller may prepare a request again. Commands of skills find the files of req in
// their workspace until the agent's next request.
//
// Prepare returns an error if the store fails, if the host declares a load that cannot be made,
// or once [Runtime.Shutdown] has begun. A skill or the model never causes one.
func (r *Runtime) Prepare(ctx context.Context, req core.Request) (core.View, error) {
	if err := admit(req.Key); err != nil {
		return core.View{}, err
	}
	loads, _ := ctx.Value(loadsKey{}).([]Load)
	return r.turns.Prepare(ctx, req, loads, ctx.Value(summaryKey{}) != nil)
}

// Call is one open tool call of an agent, from [Agent.Open] to [Call.Close]. The caller uses
// its methods one after another.
type Call struct{ call *call.Call }

// Open begins a tool call of the agent, whether the tool is Satchel's or the host's. It decodes
// the arguments and finds the place of the call in the model's last response. The caller then
// uses [Call.Gate], and [Call.Run] if the tool is one of [Runtime.Tools]. It must close every
// call, because a call that changes what is loaded makes later calls of the response wait.
//
// Open returns an error if the store fails, if the session id is reserved, or once
// [Runtime.Shutdown] has begun.
func (a Agent) Open(ctx context.Context, toolCall core.ToolCall) (*Call, error) {
	if err := admit(a.key); err != nil {
		return nil, err
	}
	c, err := a.runtime.calls.Open(ctx, a.key, toolCall)
	if err != nil {
		return nil, err
	}
	return &Call{c}, nil
}

// ToolCall returns the call as it was opened.
func (c *Call) ToolCall() core.ToolCall { return c.call.ToolCall() }

// Key returns the session and the agent that the call belongs to.
func (c *Call) Key() core.SessionKey { return c.call.Key() }

// Gate decides whether the call may be executed. The function of [WithGate] decides first, then
// the allowed-tools lists of the loaded skills, then the approver. Loads that come earlier in
// the response count, later ones do not. In load mode Adaptive, Gate loads the skill of a call
// again if the skill's load has ended, and then applies its list. Gate reports the decision as
// an event. It decides once: a second Gate returns the same decision. [Call.Run] runs exactly
// what was judged.
//
// An error means that the run must stop: ctx has ended, the store failed, or the approver
// returned the error. The call is then not judged yet.
func (c *Call) Gate(ctx context.Context) (core.Decision, error) { return c.call.Decide(ctx) }

// Run answers a call of one of [Runtime.Tools]. It judges the call first if [Call.Gate] has
// not; the answer to a denied call is the reason. The answer also reports every failure that
// the model can act on. An error means that the run itself must stop: ctx has ended, the store
// failed, or the approver returned the error.
//
// To a call of any other tool, Run answers without judging it that the tool does not exist.
// Later views contain that answer if the host's history lacks it.
func (c *Call) Run(ctx context.Context) (string, error) { return c.call.Run(ctx) }

// Keep records the answer that the host's own handler gives to a call of an unknown tool, and
// returns it cut to 4 KiB. Frameworks leave such an answer out of the history that hosts keep;
// later views contain it at its place. Keep returns an error if the store fails.
func (c *Call) Keep(ctx context.Context, answer string) (string, error) {
	return c.call.Keep(ctx, answer)
}

// Within returns the context in which the host executes its own tool after the gate has allowed
// the call. Agents that run under this context, of any runtime, are bound by the lists of the
// calling agent in addition to their own. So is an agent to which the call hands the
// conversation over, if the host's context comes from [WithSession] or [BeginTurn]. The lists
// hold in this process only. Within returns an error if the store fails or ctx has ended.
func (c *Call) Within(ctx context.Context) (context.Context, error) { return c.call.ToolContext(ctx) }

// Close ends the call, whether it was answered, denied, failed or interrupted. Calls of the
// response that wait for it continue. A second Close changes nothing.
func (c *Call) Close() { c.call.Close() }

// CallTool opens, judges, runs and closes a call of one of [Runtime.Tools], for a host with a
// loop of its own. It returns what [Call.Run] returns. A host may repeat a call of the last
// response after an interrupt or a restart: it gets the same answer, and nothing changes.
func (r *Runtime) CallTool(ctx context.Context, key core.SessionKey, call core.ToolCall) (string, error) {
	c, err := r.Agent(key).Open(ctx, call)
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.Run(ctx)
}

// Hooks returns what an adapter needs of the runtime in addition to its public methods. A host
// needs it only for a loop of its own; see package adapter.
func (r *Runtime) Hooks() adapter.Runtime { return hooks{r} }

// hooks implements adapter.Runtime.
type hooks struct{ runtime *Runtime }

func (h hooks) Anonymous(agent string) core.SessionKey {
	id := anonymousPrefix + strconv.FormatInt(h.runtime.anonymous.Add(1), 10)
	return core.SessionKey{Session: id, Agent: agent, Anonymous: true}
}

func (h hooks) EndAnonymous(ctx context.Context, key core.SessionKey) error {
	return h.runtime.endSession(ctx, key)
}

func (h hooks) Owns(name string) bool { return h.runtime.calls.Offer.Set.Has(name) }

func (h hooks) UnknownTool(name string, host ...string) string {
	return h.runtime.calls.UnknownTool(adapter.WithHostTools(context.Background(), host), &state.Record{}, name)
}

func (h hooks) Emit(ctx context.Context, e core.Event) { h.runtime.calls.Report.Emit(ctx, e) }

func (h hooks) Logger() *slog.Logger { return h.runtime.logger }

func (h hooks) RunsForks() bool { return h.runtime.fork != nil }

func (h hooks) WatchesPrefix() bool { return h.runtime.guardsPrefix || h.Traces() }

func (h hooks) Traces() bool { return h.runtime.tracer != nil }

func (h hooks) TraceRequest(ctx context.Context, r core.ModelRequest) uint64 {
	if !h.Traces() {
		return 0
	}
	r.ID = h.runtime.requests.Add(1)
	r.ModelCall, r.IsSubagent = h.runtime.turns.CountCall(ctx, r.Key)
	h.runtime.tracer.Request(ctx, r)
	return r.ID
}

func (h hooks) Answered(ctx context.Context, a core.ModelAnswer) {
	if h.Traces() {
		h.runtime.tracer.Answer(ctx, a)
		h.runtime.turns.AwaitNumber(ctx, a.Key)
	}
	if h.runtime.calls.Report.Hook != nil {
		h.runtime.turns.NoteAnswer(ctx, &a)
	}
}

// Observe adds a complete response of the model to the agent's record.
func (h hooks) Observe(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error {
	if err := admit(key); err != nil {
		return err
	}
	return h.runtime.turns.Observe(ctx, key, calls)
}
