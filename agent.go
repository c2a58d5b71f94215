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

// Agent is one agent in one session, from [Runtime.Agent]. It is a small value
// that holds no state of its own: everything is kept under its key. It is safe
// for concurrent use.
type Agent struct {
	runtime *Runtime
	key     core.SessionKey
}

// Agent returns the agent with this key. The key names a session and an agent in
// it; nothing has to exist under it yet.
func (r *Runtime) Agent(key core.SessionKey) Agent { return Agent{runtime: r, key: key} }

// Prepare returns the request as the model should be sent it; see
// [Runtime.Prepare]. The key of req is replaced by the agent's. During
// [Runtime.Shutdown] it fails with [errShutdown].
func (a Agent) Prepare(ctx context.Context, req core.Request) (core.View, error) {
	req.Key = a.key
	return a.runtime.Prepare(ctx, req)
}

// Prepare returns the request as the model should get it. It owns all state changes of a model
// call: it loads the session's record, ends lifetimes where a user turn begins, saves the
// record if that changed it, and renders. It reads nothing from disk but the record, and the
// catalog where a session begins. The messages of req are never changed. The same messages,
// state and catalog give the same bytes, so a request may be prepared again. The files of req
// are what skills find in their workspace until the next request.
//
// The error is one of the store or of the host's own use (a declared load that cannot be
// made), never of a skill or of the model.
func (r *Runtime) Prepare(ctx context.Context, req core.Request) (core.View, error) {
	if err := admit(req.Key); err != nil {
		return core.View{}, err
	}
	loads, _ := ctx.Value(loadsKey{}).([]Load)
	return r.turns.Prepare(ctx, req, loads, ctx.Value(summaryKey{}) != nil)
}

// Call is one tool call from the moment that an agent makes it until it has ended, from
// [Agent.Open]. Nothing of it is decoded, judged or looked up twice. The executor of the
// call uses its methods one after another.
type Call struct{ made *call.Call }

// Open begins a tool call of the agent, one of Satchel's tools or of the host's. It decodes
// the arguments and finds the call's place in the last response. The caller then asks
// [Call.Gate], and lets [Call.Run] answer a call of one of [Runtime.Tools]. It must close
// every call, because other calls of the response wait for those that change what is
// loaded.
//
// The error is one of the store, or reports a reserved session id or a [Runtime.Shutdown].
func (a Agent) Open(ctx context.Context, made core.ToolCall) (*Call, error) {
	if err := admit(a.key); err != nil {
		return nil, err
	}
	c, err := a.runtime.calls.Open(ctx, a.key, made)
	if err != nil {
		return nil, err
	}
	return &Call{c}, nil
}

// ToolCall returns the call as it was opened.
func (c *Call) ToolCall() core.ToolCall { return c.made.ToolCall() }

// Key returns the session and the agent that the call belongs to.
func (c *Call) Key() core.SessionKey { return c.made.Key() }

// Gate decides whether the call may be executed: first the function of [WithGate] decides,
// then the lists of the loaded skills, then the approver. Loads that come earlier in the
// response count, later ones do not. In load mode Adaptive, a call that loads its skill again
// does so here, and the list of the skill judges it. The decision is an event. A call is
// judged once: a second Gate returns the same decision. [Call.Run] runs what was judged.
//
// An error means that the run must stop: its context ended, the store failed, or the approver
// returned it. A call whose gate failed is not judged.
func (c *Call) Gate(ctx context.Context) (core.Decision, error) { return c.made.Decide(ctx) }

// Run answers a call of one of [Runtime.Tools]. It judges the call first if [Call.Gate] has
// not; the reason is the answer to a denied one. Whatever the model can act on is in the
// text. An error means that the run itself must stop: its context ended, the store failed,
// or the approver returned it.
//
// A call of any other tool is one of a tool that does not exist. It is answered and not
// judged, and later views have the answer if the history lacks it.
func (c *Call) Run(ctx context.Context) (string, error) { return c.made.Run(ctx) }

// Keep returns and keeps the answer of the host's own handler to a call of a tool that the
// agent does not have. Frameworks leave it out of the history that hosts keep; later views
// have it at its place. It is cut to 4 KiB. The error is one of the store.
func (c *Call) Keep(ctx context.Context, answer string) (string, error) {
	return c.made.Keep(ctx, answer)
}

// Within returns the context for the host's tool of a call that passed the gate.
// The lists of the agent that made the call bound every agent that runs under this
// context, of whatever runtime, beside its own lists. They also bound an agent to which
// the call hands the conversation over, where the host's context comes from [WithSession]
// or [BeginTurn]. They hold in this process only. The error is one of the store, or that
// of ctx.
func (c *Call) Within(ctx context.Context) (context.Context, error) { return c.made.Within(ctx) }

// Close ends the call, whether it was answered, denied, failed or interrupted. Calls that
// wait for it go on. A second Close changes nothing.
func (c *Call) Close() { c.made.Close() }

// CallTool opens, judges, runs and closes a call of one of [Runtime.Tools], for a host with
// a loop of its own. The answer to a denied call is the reason. [Call.Run] says what the
// answer and the error are. A call of the last response that is made again, after an
// interrupt or a restart, gets the same answer and changes nothing.
func (r *Runtime) CallTool(ctx context.Context, key core.SessionKey, call core.ToolCall) (string, error) {
	c, err := r.Agent(key).Open(ctx, call)
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.Run(ctx)
}

// Hooks returns what an adapter needs of the runtime beside its public methods.
// A host needs it only for a loop of its own; see package adapter.
func (r *Runtime) Hooks() adapter.Runtime { return hooks{r} }

// hooks implements adapter.Runtime.
type hooks struct{ runtime *Runtime }

func (h hooks) Anonymous(agent string) core.SessionKey {
	id := anonymousPrefix + strconv.FormatInt(h.runtime.runs.Add(1), 10)
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

func (h hooks) WatchesPrefix() bool { return h.runtime.guarded }

// Observe enters a complete response of the model into the record.
func (h hooks) Observe(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error {
	if err := admit(key); err != nil {
		return err
	}
	return h.runtime.turns.Observe(ctx, key, calls)
}
