// Package turn takes the records of agents from one user turn to the next, and enters the
// responses of the model into them.
package turn

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"weak"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/hostfiles"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// Turns prepares the requests and observes the responses of a runtime's agents. Its fields are
// not changed after its first use.
type Turns struct {
	Activation Activation
	Calls      *call.Calls
	Clearing   *view.Clearing
	Requests   *view.Requests

	// hasRequests reports that the host reports requests of other agents than forks. A host that does not may
	// have no model.
	hasRequests atomic.Bool
}

// mode returns the load mode.
func (t *Turns) mode() loadmode.Mode { return t.Calls.Rules.Mode }

// Prepare returns the request for the model, and saves the changes of the record that it causes.
// If the request begins a turn, loads are the skills that the host has declared for it. isSummary
// reports that a summary replaces part of the history.
func (t *Turns) Prepare(ctx context.Context, req core.Request, loads []tools.Load, isSummary bool) (_ core.View, err error) {
	calls := t.Calls
	if calls.OpenCalls.IsStopped() {
		return core.View{}, call.ErrShutdown
	}
	if err := noteForkRequest(ctx, &req); err != nil {
		return core.View{}, err
	}
	isFork := callctx.ForkOf(ctx).Is(req.Key)
	if isFork {
		loads, isSummary = nil, false
		defer func() {
			if err != nil {
				callctx.ForkOf(ctx).TakeBack()
			}
		}()
	}
	if err := calls.Audiences.FinishRefresh(ctx); err != nil {
		return core.View{}, err
	}
	agent := calls.Agents.Of(req.Key)
	rec, err := calls.Stores.Load(ctx, req.Key)
	if err != nil {
		return core.View{}, err
	}
	var reads state.ReadCalls
	if calls.Rules.Budget != (tools.Budget{}) {
		reads = calls
	}
	scan := agent.Scan(req.Messages, rec.Front.Messages, reads)
	if rec, err = t.advance(ctx, &req, &scan, agent, rec, loads); err != nil {
		return core.View{}, err
	}
	if err := calls.ResolveSkills(ctx, req.Key, agent); err != nil {
		return core.View{}, err
	}
	if calls.Offer.Runner != nil {
		if len(req.Files) > 0 {
			req.Files = hostfiles.NameAll(req.Files, &scan, rec)
		}
		if isFork && len(req.Files) == 0 { // its commands find the files of the conversation
			req.Files = calls.Agents.Of(callctx.ForkOf(ctx).Parent).Files()
		}
		calls.Agents.SetFiles(agent, req.Files)
	}
	if len(req.Tools) > 0 {
		agent.SetTools(req.Tools)
		if !isFork { // its tools are mostly those of its parent
			calls.Allowlists.WarnUnmapped(ctx, req.Key, req.Tools)
		}
	}
	calls.Allowlists.NoteRecord(ctx, rec)
	agent.NoteRequest(&scan)
	answer := calls.Missing(ctx, &req, rec)
	if rec.NoSkills && len(rec.Deliveries) == 0 && len(rec.Preloads) == 0 {
		messages := req.Messages
		if answer != nil {
			messages = steps.AnswerAll(slices.Clone(messages), answer)
		}
		view := core.View{Messages: messages, NoSkills: true}
		if t.Requests.Tracing != nil {
			view.Trace = t.Requests.Tracing.Describe(ctx, &scan, rec, nil, nil, nil)
		}
		return view, nil
	}
	return t.Requests.Render(ctx, &req, &scan, agent, rec, isSummary, answer)
}

// noteForkRequest counts a model call of a fork. It returns an error if the fork has ended or has
// reached its limit.
func noteForkRequest(ctx context.Context, req *core.Request) error {
	f := callctx.ForkOf(ctx)
	if !f.Is(req.Key) {
		return f.Check()
	}
	said := ""
	for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role != core.User && said == ""; i-- {
		if m := &req.Messages[i]; m.Role == core.Assistant {
			said = strings.TrimSpace(m.Text)
		}
	}
	return f.Begin(said)
}

// advance returns the record of a request. rec is the record that was loaded for it. If the
// request begins a user turn, advance builds and saves the record of that turn, with the declared
// loads.
func (t *Turns) advance(ctx context.Context, req *core.Request, scan *state.Scan, agent *state.Agent, rec *state.Record, loads []tools.Load) (*state.Record, error) {
	agent.NoteRecord(rec)
	agent.SetTurn(rec)
	token := ""
	if turn := adapter.TurnOf(ctx); turn != nil {
		token = turn.Token
	}
	isNewRun := agent.NoteRun(attemptID(ctx))
	turn := lifetime.FindTurn(rec, scan, token, agent.IsAnswered(), agent.MarkText)
	if turn.Begins {
		return t.begin(ctx, token, turnStart{Turns: t, req: *req, scan: *scan, state: agent, loads: loads, isFork: callctx.ForkOf(ctx).Is(req.Key)}, rec)
	}
	if isNewRun && turn.BeginsAgain(rec) {
		reset, events, err := t.Calls.Stores.BeginAgain(ctx, rec, t.mode())
		if err != nil {
			return nil, err
		}
		rec = reset
		agent.BeginAgain()
		t.Calls.Report.EmitAll(ctx, req.Key, events)
	}
	var read []string
	if t.Clearing.IsBroken(rec, scan) {
		read = t.readSkills(rec, scan, rec.Turn)
	}
	noted, cleared, err := t.Clearing.NoteRequest(ctx, t.Calls.Stores.Of(req.Key), rec, scan, read)
	if noted != rec && err == nil && t.Calls.Report.Hook != nil {
		cleared = append(cleared, rec.ClearedEvents(noted, state.Clearing{Cause: state.ClearedByBreak, IsHidden: agent.IsHidden, Reported: cleared})...)
	}
	t.Calls.Report.EmitAll(ctx, req.Key, cleared)
	return noted, err
}

// begin saves and returns the record with which a turn begins. rec is the record before it.
func (t *Turns) begin(ctx context.Context, token string, first turnStart, rec *state.Record) (*state.Record, error) {
	key, agent := first.req.Key, first.state
	var start turnStart
	rec, err := t.Calls.Stores.Of(key).UpdateFrom(ctx, rec, func(rec *state.Record) (*state.Record, error) {
		start = first // after a conflict the record is built again
		turn := lifetime.FindTurn(rec, &start.scan, token, agent.IsAnswered(), agent.MarkText)
		if !turn.Begins {
			return nil, nil // a concurrent request has begun the turn
		}
		return start.build(ctx, rec, turn)
	})
	if err != nil {
		return nil, err
	}
	agent.BeginTurn()
	if start.next != nil && start.next.Traced.IsNext {
		agent.ReserveCall(rec)
	} else {
		agent.SetTurn(rec)
	}
	t.Calls.Allowlists.NoteTurn(ctx, key.Agent)
	t.Calls.Report.EmitAll(ctx, key, start.events)
	for _, r := range start.refused {
		t.Calls.Report.Log.WarnContext(ctx, "a skill that the message names is not loaded", "skill", r.Name, "why", r.Why)
	}
	return rec, nil
}

// attemptID identifies the attempt to answer a turn to which ctx belongs, nil if it is not known.
// Two requests with different ids belong to different attempts. The id stands for the turn of
// satchel.BeginTurn, or else for the framework's run.
func attemptID(ctx context.Context) any {
	if t := adapter.TurnOf(ctx); t != nil {
		if t.Continues {
			return nil
		}
		return weak.Make(t)
	}
	return callctx.AttemptOf(ctx)
}

// Observe records a complete response of the model.
func (t *Turns) Observe(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error {
	agent := t.Calls.Agents.Of(key)
	made, changes := t.classify(agent, calls)
	isRepeat := t.Requests.Once && !agent.HasResult(calls)
	clean := true
	if changes || t.mode() == loadmode.Once || !agent.IsClean() {
		var events []core.Event
		rec, err := t.Calls.Stores.Of(key).Update(ctx, key, func(rec *state.Record) (*state.Record, error) {
			next := rec.Clone()
			events = nil
			changed := lifetime.Spend(next, t.mode())
			if changed {
				events = t.answeredEvents(agent, rec, next)
			}
			if !state.CanRecordLater(rec, made) {
				changed = state.RecordCalls(next, made, isRepeat) || changed
			}
			if !changed {
				return nil, nil
			}
			next.KeepBeginning(rec)
			return next, nil
		})
		if err != nil {
			return err
		}
		t.Calls.Report.EmitAll(ctx, key, events)
		clean = len(rec.Unnumbered) == 0
	}
	agent.SetResponse(state.NewResponse(made, time.After), len(calls), clean)
	return nil
}

// CountCall counts a model call for a tracer, and returns its number. The number follows those that
// this process knows, from its calls and from the record of the last request. If the record does not have
// it, CountCall begins to save it there, and does not wait for that. isSubagent reports that another agent
// of the session came first.
func (t *Turns) CountCall(ctx context.Context, key core.SessionKey) (number int, isSubagent bool) {
	if callctx.ForkOf(ctx) == nil {
		t.hasRequests.Store(true)
	}
	number, isSubagent, isSaved := t.Calls.Agents.Of(key).CountCall()
	if !isSaved {
		records := t.Calls.Stores.Of(key)
		records.Numbers.Save(ctx, records, key, number)
	}
	return number, isSubagent
}

// AwaitNumber waits for the save of the number of a call that was answered, but at most maxNumberWait.
// Another process may go on with the conversation as soon as the host has the answer.
func (t *Turns) AwaitNumber(ctx context.Context, key core.SessionKey) {
	t.Calls.Stores.Of(key).Numbers.Wait(ctx, key, maxNumberWait)
}

// answeredEvents returns the events of the loads in mode Once that the model has now answered.
func (t *Turns) answeredEvents(agent *state.Agent, rec, next *state.Record) []core.Event {
	events := state.AnsweredEvents(rec, next)
	if t.Calls.Report.Hook == nil {
		return events
	}
	return append(events, rec.ClearedEvents(next, state.Clearing{Cause: state.ClearedByUnload, IsHidden: agent.IsHidden})...)
}

// classify returns what each call of a response may do, and whether any may change the record.
func (t *Turns) classify(agent *state.Agent, calls []core.ToolCall) (made []state.ModelCall, changes bool) {
	made = make([]state.ModelCall, 0, len(calls))
	own := 0
	for _, call := range calls {
		m := state.ModelCall{Call: call}
		o := t.Calls.Offer.Set.Operation(call.Name)
		if o != nil {
			own++
			m.Excess = own > maxCalls
		}
		if o != nil && !m.Excess {
			m.Changes, m.Ordered = o.Kind == tools.Changes && (o.ChangesWith == nil || o.IsChange(o.Decode(call.Arguments))) || t.mayReload(agent, o, call), o.IsOrdered()
			m.Once = t.Requests.Once && o.StartsCommand()
		}
		changes = changes || m.Changes || m.Once
		made = append(made, m)
	}
	return made, changes
}

// mayReload reports whether a call of a new response may reload its skill. In mode Adaptive that
// is a command of a skill whose load has ended and whose text the last request showed. Such a
// call gets a number, like a load.
func (t *Turns) mayReload(agent *state.Agent, o *tools.Operation, call core.ToolCall) bool {
	rec := agent.LastRecord()
	if !t.Calls.Rules.KeepsTexts || !o.Reloads() || rec == nil || !slices.ContainsFunc(rec.Deliveries, hasEnded) {
		return false
	}
	name := o.Decode(call.Arguments).Text("skill")
	if skill, err := skilltools.ResolveFor(t.Calls.Audiences.SkillsOf(agent).Snapshot(), rec, name); err == nil {
		if name = skill.Name; rec.Find(name) != nil {
			return false
		}
	}
	return slices.ContainsFunc(rec.Deliveries, func(d state.Delivery) bool {
		return hasEnded(d) && state.BaseName(d.Skill) == state.BaseName(name)
	})
}

func hasEnded(d state.Delivery) bool { return d.Ended }

// readSkills returns the skills of which the turn of rec, whose messages are in the request, has read
// files. turn is the present user turn.
func (t *Turns) readSkills(rec *state.Record, scan *state.Scan, turn int) (skills []string) {
	if len(rec.Deliveries) == 0 {
		return nil
	}
	for i := scan.Anchor(rec.User, turn) + 1; i > 0 && i < len(scan.Messages); i++ {
		for j := range scan.Messages[i].Calls {
			c := &scan.Messages[i].Calls[j]
			if t.Calls.ShowsFiles(c.Name) && t.Calls.ShowsFile(c) {
				name := t.Calls.Offer.Set.Operation(c.Name).Decode(c.Arguments).Text("skill")
				if !slices.Contains(skills, name) {
					skills = append(skills, name)
				}
			}
		}
	}
	return skills
}
