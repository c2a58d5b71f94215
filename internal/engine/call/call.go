// Package call takes a tool call from its arguments to its saved answer: which tools there
// are, what lists and approvals allow, and what is saved with an answer.
package call

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// Calls answers the tool calls of the agents of a runtime. Its exported fields are not
// changed once it is used.
type Calls struct {
	Offer     *Offer
	Rules     skilltools.Rules
	Stores    *state.Stores
	Agents    *state.Agents
	Audiences *view.Audiences
	Overviews *view.Overviews
	Bounds    *Bounds
	Report    *view.Reporter
	// Terminals are the commands that go on between calls; nil without a runner.
	Terminals *terminal.Table
	// Gate is the host's function that decides first, nil for none, and Approver decides
	// about calls that no list decides; nil allows them.
	Gate     func(context.Context, core.SessionKey, core.ToolCall) core.Decision
	Approver core.Approver
	// ToolSkills has, for tools of the host, the skills that they need.
	ToolSkills map[string][]string
	// Opened counts the open calls.
	Opened OpenCalls
}

// Call is one tool call from the moment that an agent makes it until it has ended, from
// [Calls.Open]. It holds what is known about the call, so that nothing is decoded, judged or
// looked up twice. The executor of the call uses its methods one after another.
type Call struct {
	*Calls
	key       core.SessionKey
	state     *state.Agent
	call      core.ToolCall
	operation *tools.Operation // nil: a tool of the host
	args      tools.Args       // of an operation, decoded
	place     *state.Place     // nil: no known response made the call
	saving    Saving           // its record, and what is saved of it

	// open: the call is not closed yet, and Shutdown waits for it.
	open bool

	// prepared is the change of the call, nil where the operation prepares none.
	// isApproved: a person has allowed this very call.
	prepared   *tools.Prepared
	isApproved bool

	// gate is the decision, nil until the call is judged. request, verdict and
	// judged are what it rests on: what the call would do, what the lists say of
	// it, and the record that held them.
	gate    *core.Decision
	request permission.Request
	verdict judging.Verdict
	judged  *state.Record
	// lapsed: a person has allowed what only lapsed lists deny.
	lapsed bool
}

// Open begins a tool call of an agent, one of Satchel's tools or of the host's: it decodes
// the arguments and finds the call's place in the last response. Every call must be closed:
// other calls of the response wait for those that change what is loaded. The error is one of
// the store, or [ErrShutdown].
func (cs *Calls) Open(ctx context.Context, key core.SessionKey, made core.ToolCall) (*Call, error) {
	if !cs.Opened.Enter() {
		return nil, ErrShutdown
	}
	c := &Call{Calls: cs, key: key, call: made, state: cs.Agents.Of(key), operation: cs.Offer.Set.Operation(made.Name), open: true}
	if err := cs.Audiences.Know(ctx, key, c.state); err != nil {
		cs.Opened.Leave()
		return nil, err
	}
	c.saving = Saving{Stores: cs.Stores, Key: key, Call: made}
	last := c.state.LastResponse()
	if last == nil && c.needsRecord() {
		rec, err := c.saving.Load(ctx)
		if err != nil {
			cs.Opened.Leave()
			return nil, err
		}
		last = c.state.Recall(rec)
	}
	c.place = last.Open(made)
	c.saving.Place, c.saving.Observed = c.place, last.Observed()
	if c.operation != nil {
		c.args = c.operation.Decode(made.Arguments)
	}
	return c, nil
}

// ToolCall returns the call as it was opened.
func (c *Call) ToolCall() core.ToolCall { return c.call }

// Key returns the session and the agent that the call belongs to.
func (c *Call) Key() core.SessionKey { return c.key }

// Close ends the call in whatever way it ended: answered, denied, failed or
// interrupted. Calls that wait for it go on. Closing it again changes nothing.
func (c *Call) Close() {
	c.place.End()
	if c.open {
		c.open = false
		c.Opened.Leave()
	}
}

// scoped returns what the operation may use of the runtime.
func (c *Call) scoped() *Scope {
	return c.inCall(c.state, &c.saving, c.operation.Awaits())
}

// skills are those that the agent sees.
func (c *Call) skills() *catalog.Snapshot {
	return c.Audiences.SeenBy(c.state).Snapshot()
}

// needsRecord reports whether the call cannot be judged and answered without the
// session's record.
func (c *Call) needsRecord() bool {
	return c.operation != nil || c.Bounds.Judge.Policy != permission.Off || c.Approver != nil || len(c.ToolSkills) > 0
}

// Within returns the context for the host's tool of a call that passed the gate. It holds
// the lists of the agent for the agents that run under it; see [Bounds.Within].
func (c *Call) Within(ctx context.Context) (context.Context, error) {
	if c.operation != nil {
		return ctx, nil
	}
	return c.Bounds.Within(ctx, c.key, c.call, func(ctx context.Context) (*state.Record, error) {
		if _, err := c.saving.Wait(ctx, c.place.WaitForChanges); err != nil {
			return nil, err
		}
		rec, err := c.saving.Load(ctx)
		if err != nil {
			return nil, err
		}
		return c.place.RecordFor(rec), nil
	})
}

// ErrShutdown reports a request or a call that came after [OpenCalls.Stop].
var ErrShutdown = errors.New("the runtime is shutting down")

// OpenCalls counts the open calls of all responses. A caller that closes what they use can
// wait for them. Its zero value is ready.
type OpenCalls struct {
	mu       sync.Mutex
	n        int
	stopping bool
	ended    chan struct{} // closed when no call is open any more; nil before Stop
}

// Enter counts a call, and reports false where none may enter any more.
func (o *OpenCalls) Enter() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stopping {
		o.n++
	}
	return !o.stopping
}

// Stopped reports whether no call may enter any more.
func (o *OpenCalls) Stopped() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stopping
}

// Leave ends a call that has entered.
func (o *OpenCalls) Leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n--; o.n == 0 && o.stopping {
		close(o.ended)
	}
}

// Stop lets no further call enter. What it returns is closed when those that have
// entered have left.
func (o *OpenCalls) Stop() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stopping {
		o.stopping, o.ended = true, make(chan struct{})
		if o.n == 0 {
			close(o.ended)
		}
	}
	return o.ended
}

// Run answers a call of an operation. It judges the call first if [Call.Decide] has not;
// the reason is the answer to a denied one. A call of any other tool is one of a tool that
// does not exist. It is answered and not judged, and later views have the answer if the
// history lacks it.
func (c *Call) Run(ctx context.Context) (string, error) {
	started := time.Now()
	answer, err := c.run(adapter.WithKey(ctx, c.key))
	if err != nil {
		return "", err
	}
	c.Bounds.See(ctx, c.saving.Record())
	c.Report.Emit(ctx, core.Event{Kind: core.ToolCalled, Key: c.key, Call: c.call, Detail: answer, Duration: time.Since(started), Refused: skilltools.IsRefusal(c.operation, answer)})
	return answer, nil
}

func (c *Call) run(ctx context.Context) (string, error) {
	o := c.operation
	if o == nil {
		return c.unknown(ctx)
	}
	c.place.Begin()
	d, err := c.Decide(ctx)
	if err != nil {
		return "", err
	}
	if d.Denied {
		return d.Reason, nil
	}
	changes := o.IsChange(c.args)
	if changes || o.Awaits() || o.IsOrdered() {
		if _, err := c.saving.Wait(ctx, c.place.Wait); err != nil {
			return "", err
		}
	}
	if changes {
		return c.change(ctx)
	}
	s, err := c.scope(ctx)
	if err != nil {
		return "", err
	}
	if c.Offer.Runner != nil && c.Offer.Runner.Once && o.StartsCommand() {
		if s.Once, err = c.saving.Once(ctx); err != nil {
			return "", err
		}
		if s.Once != nil && s.Once.Ended {
			return s.Once.Answer, nil
		}
	}
	if load := c.saving.WithLoad("{ }"); load != "{ }" { // it stands in the answer too
		s.Limits = s.Limits.OrDefaults()
		s.Limits.Answer -= min(len(load), s.Limits.Answer/2)
	}
	answer, err := c.answer(ctx, &s.Scope)
	if err != nil {
		return "", err
	}
	return s.Once.End(ctx, c.saving.WithLoad(answer))
}

// scope returns what the operation may use of the runtime for a call that was judged.
func (c *Call) scope(ctx context.Context) (s *Scope, err error) {
	s = c.scoped()
	s.Narrow, s.Interpreted, err = c.narrowed(ctx)
	return s, err
}

// answer answers the call by the operation, or by the commit of what it has prepared.
func (c *Call) answer(ctx context.Context, s *skilltools.Scope) (string, error) {
	if c.prepared != nil {
		return skilltools.AnswerPrepared(ctx, c.operation, s, c.args, c.prepared, c.isApproved)
	}
	return skilltools.Answer(ctx, c.operation, s, c.args)
}

// change answers a call that changes what is loaded. Its answer is saved together with
// the change.
func (c *Call) change(ctx context.Context) (string, error) {
	return c.saving.Numbered(ctx, true, func(rec *state.Record, n *Number) (string, error) {
		if n.Was.Done {
			return n.Was.Answer, nil
		}
		if n.IsKnown() {
			c.place.SetBase(rec)
		}
		s, err := c.scope(ctx)
		if err != nil {
			return "", err
		}
		n.Scope(&s.Scope)
		answer, err := c.answer(ctx, &s.Scope)
		if err != nil {
			return "", err
		}
		return n.End(ctx, answer)
	})
}

// cutAnswer ends an answer of [Call.Keep] that was too long.
const cutAnswer = "\n[the rest of this answer was cut]"

// unknown answers a call of a tool that does not exist. Nothing is run, so nothing is
// judged.
func (c *Call) unknown(ctx context.Context) (string, error) {
	rec, err := c.saving.Load(ctx)
	if err != nil {
		return "", err
	}
	answer := c.UnknownTool(ctx, rec, c.call.Name)
	return answer, c.keep(ctx, "")
}

// Keep returns and keeps the answer of the host's own handler to a call of a tool that the
// agent does not have. Frameworks leave it out of the history that hosts keep; later views
// have it at its place. It is cut to 4 KiB. The error is one of the store.
func (c *Call) Keep(ctx context.Context, answer string) (string, error) {
	answer = strings.ToValidUTF8(answer, "\uFFFD")
	if len(answer) > maxKept {
		answer = strings.ToValidUTF8(answer[:maxKept-len(cutAnswer)], "") + cutAnswer
	}
	pinned := catalog.Content{Text: answer, Digest: session.Digest(answer)}
	if err := c.Stores.Pin(ctx, c.key, pinned); err != nil {
		return "", err
	}
	return answer, c.keep(ctx, pinned.Digest)
}

// keep notes an answered call in the record.
func (c *Call) keep(ctx context.Context, text string) error {
	_, err := c.saving.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		kept := state.UnknownCall{Turn: rec.Turn, Response: c.state.ResponseNumber(), Position: c.place.Position(), Text: text}.WithCall(c.call)
		next := rec.Clone()
		if !next.KeepUnknown(kept) {
			return nil, "", nil
		}
		return next, "", nil
	})
	return err
}

// ShowsFiles implements [state.ReadCalls].
func (cs *Calls) ShowsFiles(tool string) bool { return cs.Offer.Set.ShowsFiles(tool) }

// ShowsFile implements [state.ReadCalls].
func (cs *Calls) ShowsFile(call *core.ToolCall) bool {
	return cs.Offer.Set.ShowsFile(call, cs.Offer.Runner != nil)
}
