// Package call answers tool calls. It decides which tools there are, judges each call by lists
// and approvals, and saves the answer together with the change of the record.
package call

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/needs"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

// Calls answers the tool calls of a runtime's agents. Its exported fields are not changed after
// its first use.
type Calls struct {
	Offer      *Offer
	Rules      skilltools.Rules
	Stores     *state.Stores
	Agents     *state.Agents
	Audiences  *view.Audiences
	Overviews  *view.Overviews
	Hiding     *view.Hiding // nil if unmet needs hide no skill
	Allowlists *Allowlists
	Report     *view.Reporter
	// Prober knows which programs commands find. It is nil if nothing runs.
	Prober *needs.Prober
	// Terminals has the commands that keep running between calls. It is nil without a runner.
	Terminals *terminal.Table
	// Forks says which skills run as agents of their own, nil for none.
	Forks *Forks
	// Gate is the host's function that may deny a call before the lists decide, nil for none.
	// Approver decides about calls that no list decides; if it is nil, they are allowed.
	Gate     func(context.Context, core.SessionKey, core.ToolCall) core.Decision
	Approver core.Approver
	// ToolSkills maps host tools to the skills of which one must be loaded.
	ToolSkills map[string][]string
	// OpenCalls counts the open calls.
	OpenCalls OpenCalls
}

// Call is one tool call from [Calls.Open] to [Call.Close]. It caches what is known about the
// call, so that nothing is decoded, judged or looked up twice. Its methods are not safe for
// concurrent use.
type Call struct {
	*Calls
	key       core.SessionKey
	state     *state.Agent
	call      core.ToolCall
	operation *tools.Operation // nil for a tool of the host
	args      tools.Args       // decoded arguments of operation
	place     *state.Place     // nil if no known response made the call
	record    callRecord       // reads and saves the session's record

	// isOpen reports that Close was not called yet; Shutdown waits for it.
	isOpen bool

	// prepared is the prepared change of the call, nil if there is none. isApproved reports that
	// a person has allowed this call.
	prepared   *tools.PreparedChange
	isApproved bool

	// decision is nil until the call is judged. It rests on request (what the call would do), on
	// verdict (what the lists say about it), and on judgedRecord (which holds the lists).
	decision     *core.Decision
	request      permission.Request
	verdict      judging.Verdict
	judgedRecord *state.Record
	// isLapsedApproved reports that a person has allowed a call that only lapsed lists deny.
	isLapsedApproved bool
}

// Open begins a tool call of an agent, for one of Satchel's tools or the host's. It decodes the
// arguments and finds the call's place in the last response. The caller must close every call,
// because other calls of the response may wait for it. The error is that of the store, or
// [ErrShutdown].
func (cs *Calls) Open(ctx context.Context, key core.SessionKey, made core.ToolCall) (*Call, error) {
	if err := callctx.ForkOf(ctx).Check(); err != nil {
		return nil, err
	}
	if !cs.OpenCalls.Enter() {
		return nil, ErrShutdown
	}
	c := &Call{Calls: cs, key: key, call: made, state: cs.Agents.Of(key), operation: cs.Offer.Set.Operation(made.Name), isOpen: true}
	if err := cs.ResolveSkills(ctx, key, c.state); err != nil {
		cs.OpenCalls.Leave()
		return nil, err
	}
	c.record = callRecord{Stores: cs.Stores, Key: key, Call: made}
	last := c.state.LastResponse()
	if last == nil && c.needsRecord() {
		rec, err := c.record.Load(ctx)
		if err != nil {
			cs.OpenCalls.Leave()
			return nil, err
		}
		last = c.state.Recall(rec)
	}
	c.place = last.Open(made)
	if c.Report.Traces && (c.place == nil || !last.Observed()) { // another process may have made the model call
		rec := c.record.Record()
		if rec == nil {
			var err error
			if rec, err = c.Stores.Load(ctx, key); err != nil {
				cs.OpenCalls.Leave()
				return nil, err
			}
		}
		c.state.SetTurn(rec)
	}
	c.record.Place, c.record.Observed = c.place, last.Observed()
	if c.operation != nil {
		c.args = c.operation.Decode(made.Arguments)
	}
	return c, nil
}

// ToolCall returns the call as it was opened.
func (c *Call) ToolCall() core.ToolCall { return c.call }

// Key returns the session and the agent that the call belongs to.
func (c *Call) Key() core.SessionKey { return c.key }

// Close ends the call. Calls that wait for it continue. A second Close does nothing.
func (c *Call) Close() {
	c.place.End()
	if c.isOpen {
		c.isOpen = false
		c.OpenCalls.Leave()
	}
}

// scoped returns the scope in which the operation is called.
func (c *Call) scoped() *Scope {
	return c.inCall(c.state, &c.record, c.operation.Awaits())
}

// skills returns the skills that the agent sees.
func (c *Call) skills() *catalog.Snapshot {
	return c.Audiences.SkillsOf(c.state).Snapshot()
}

// needsRecord reports whether the session's record is needed to judge and answer the call.
func (c *Call) needsRecord() bool {
	return c.operation != nil || c.Allowlists.Judge.Policy != permission.Off || c.Approver != nil || len(c.ToolSkills) > 0
}

// ToolContext returns the context for the host's tool after the call was allowed. It passes the
// agent's lists to agents that run in it; see [Allowlists.ToolContext].
func (c *Call) ToolContext(ctx context.Context) (context.Context, error) {
	if c.operation != nil {
		return ctx, nil
	}
	return c.Allowlists.ToolContext(ctx, c.key, c.call, func(ctx context.Context) (*state.Record, error) {
		if _, err := c.record.Wait(ctx, c.place.WaitForChanges); err != nil {
			return nil, err
		}
		rec, err := c.record.Load(ctx)
		if err != nil {
			return nil, err
		}
		return c.place.RecordFor(rec), nil
	})
}

// ErrShutdown is the error of a request or a call after [OpenCalls.Stop].
var ErrShutdown = errors.New("the runtime is shutting down")

// OpenCalls counts the open calls of a runtime, so that a shutdown can wait for them. The zero
// value is ready to use.
type OpenCalls struct {
	mu         sync.Mutex
	n          int
	isStopping bool
	ended      chan struct{} // closed when no call is open any more; nil before Stop
}

// Enter counts a new call. It returns false, and counts nothing, after Stop.
func (o *OpenCalls) Enter() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.isStopping {
		o.n++
	}
	return !o.isStopping
}

// IsStopped reports whether Stop was called.
func (o *OpenCalls) IsStopped() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.isStopping
}

// Leave ends a call for which Enter returned true.
func (o *OpenCalls) Leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n--; o.n == 0 && o.isStopping {
		close(o.ended)
	}
}

// Stop lets Enter return false from now on. The returned channel is closed when all open calls
// have left.
func (o *OpenCalls) Stop() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.isStopping {
		o.isStopping, o.ended = true, make(chan struct{})
		if o.n == 0 {
			close(o.ended)
		}
	}
	return o.ended
}

// Run answers a call of one of Satchel's tools. It judges the call if [Call.Decide] was not
// called yet, and returns the reason as the answer if the call is denied. If no operation has the
// call's name, the tool does not exist: Run returns and keeps an answer that says so, because the
// history may lack it later.
func (c *Call) Run(ctx context.Context) (string, error) {
	started := time.Now()
	answer, err := c.run(adapter.WithKey(ctx, c.key))
	if err != nil {
		return "", err
	}
	c.Allowlists.NoteRecord(ctx, c.record.Record())
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
		if _, err := c.record.Wait(ctx, c.place.Wait); err != nil {
			return "", err
		}
	}
	if err := c.finishRefresh(ctx); err != nil {
		return "", err
	}
	var answer string
	if changes {
		answer, err = c.change(ctx)
	} else {
		answer, err = c.read(ctx)
	}
	if err != nil {
		return "", err
	}
	return answer, c.noteUse(ctx, answer)
}

// read answers a call that changes nothing that is loaded.
func (c *Call) read(ctx context.Context) (string, error) {
	s, err := c.scope(ctx)
	if err != nil {
		return "", err
	}
	if c.Offer.Runner != nil && c.Offer.Runner.Once && c.operation.StartsCommand() {
		if s.Once, err = c.record.Once(ctx); err != nil {
			return "", err
		}
		if s.Once != nil && s.Once.HasEnded {
			return s.Once.Answer, nil
		}
	}
	if load := c.record.WithReload("{ }"); load != "{ }" { // the answer contains it too
		s.Limits.Answer -= min(len(load), s.Limits.Answer/2)
		s.Limits = s.Limits.OrDefaults() // the minimum holds again
	}
	answer, err := c.answer(ctx, &s.Scope)
	if err != nil {
		return "", err
	}
	if answer = c.record.WithReload(answer); s.Once == nil {
		return answer, nil
	}
	return s.Once.End(ctx, answer)
}

// finishRefresh finishes a refresh of the catalog that is due, so that the call gets what earlier
// calls have edited. An edit does not wait for it, because it reads what it edits from the store.
func (c *Call) finishRefresh(ctx context.Context) error {
	if c.operation == nil || c.operation.Kind == tools.Edits {
		return nil
	}
	return c.Audiences.FinishRefresh(ctx)
}

// scope returns the scope of a call that was judged.
func (c *Call) scope(ctx context.Context) (s *Scope, err error) {
	s = c.scoped()
	s.ByPattern, s.Interpreted, err = c.matchPattern(ctx)
	return s, err
}

// answer calls the operation, or commits the change that it has prepared.
func (c *Call) answer(ctx context.Context, s *skilltools.Scope) (string, error) {
	if c.prepared != nil {
		return skilltools.AnswerPrepared(ctx, c.operation, s, c.args, c.prepared, c.isApproved)
	}
	return skilltools.Answer(ctx, c.operation, s, c.args)
}

// change answers a call that changes what is loaded. It saves the answer together with the
// change.
func (c *Call) change(ctx context.Context) (string, error) {
	if c.Forks == nil || callctx.ForkOf(ctx) != nil { // in a fork every skill is loaded
		return c.load(ctx, nil)
	}
	return c.loadOrFork(ctx)
}

// load answers a call that changes what is loaded. done are the answers of skills that have run as
// agents of their own, nil if none have.
func (c *Call) load(ctx context.Context, done forked) (string, error) {
	return c.record.AnswerNumbered(ctx, true, func(rec *state.Record, n *Number) (string, error) {
		if n.Previous.Done {
			return c.record.previousAnswer(ctx, n.Previous)
		}
		if n.IsKnown() {
			c.place.SetBase(rec)
		}
		s, err := c.scope(ctx)
		if err != nil {
			return "", err
		}
		n.Scope(&s.Scope)
		if s.Forked = done; done == nil && c.Forks != nil && callctx.ForkOf(ctx) == nil {
			s.RunsAsAgent = func(skill core.Skill) bool { return c.Forks.Runs(c.skills(), skill) }
		}
		answer, err := c.answer(ctx, &s.Scope)
		if err != nil {
			return "", err
		}
		return n.End(ctx, answer)
	})
}

// ShowsFiles implements [state.ReadCalls].
func (cs *Calls) ShowsFiles(tool string) bool { return cs.Offer.Set.ShowsFiles(tool) }

// ShowsFile implements [state.ReadCalls].
func (cs *Calls) ShowsFile(call *core.ToolCall) bool {
	return cs.Offer.Set.ShowsFile(call, cs.Offer.Runner != nil)
}
