package call

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/tools"
)

// callRecord reads and changes the session's record for one call. Its exported fields are not
// changed after its first use. It is not safe for concurrent use.
type callRecord struct {
	Stores *state.Stores
	Key    core.SessionKey
	Call   core.ToolCall
	Place  *state.Place // nil: no known response made the call
	// Observed reports that this process has seen the last response.
	Observed bool

	// record is the record that was last loaded or saved, nil if it must be loaded. hasWaited
	// reports that the call has waited for earlier calls.
	record    *state.Record
	hasWaited bool
	// reloadAnswer is the answer of Reload, "" if it has loaded nothing.
	reloadAnswer string
}

// Record returns the record that was last loaded or saved, nil if it must be loaded.
func (s *callRecord) Record() *state.Record { return s.record }

// Invalidate makes the next Load read the store, because others may have changed the record.
func (s *callRecord) Invalidate() { s.record = nil }

// Wait calls wait, which waits for earlier calls of the response. The next Load then returns a
// record with their changes.
func (s *callRecord) Wait(ctx context.Context, wait func(context.Context) (missed bool, err error)) (missed bool, err error) {
	missed, err = wait(ctx)
	if err == nil && !s.hasWaited {
		if s.hasWaited = true; s.Place.MustWait() {
			s.record = nil
		}
	}
	return missed, err
}

// Load returns the session's record. It reads the store only the first time.
func (s *callRecord) Load(ctx context.Context) (*state.Record, error) {
	if s.record == nil {
		rec, err := s.Stores.Load(ctx, s.Key)
		if err != nil {
			return nil, err
		}
		s.record = rec
	}
	return s.record, nil
}

// Update saves the record that change returns, and keeps it for Record and Load.
func (s *callRecord) Update(ctx context.Context, change skilltools.Change) (answer string, err error) {
	rec, err := s.Load(ctx)
	if err != nil {
		return "", err
	}
	rec, err = s.Stores.Of(s.Key).UpdateFrom(ctx, rec, func(rec *state.Record) (*state.Record, error) {
		next, text, err := change(rec)
		if answer = text; next != nil && next != rec {
			next.KeepBeginning(rec)
		}
		return next, err
	})
	if err != nil {
		return "", err
	}
	s.record = rec
	return answer, nil
}

// errNumberTaken reports that another call got the number that was intended for this one.
var errNumberTaken = errors.New("the number of the call is taken")

// AnswerNumbered answers a call that changes the record. It calls answer with the record and a
// number for the call, and again if another call has got the number meanwhile. done reports that
// the call ends with this answer.
func (s *callRecord) AnswerNumbered(ctx context.Context, done bool, answer func(rec *state.Record, n *Number) (string, error)) (string, error) {
	for {
		rec, err := s.Load(ctx)
		if err != nil {
			return "", err
		}
		text, err := answer(rec, s.number(rec, done))
		if !errors.Is(err, errNumberTaken) {
			return text, err
		}
		s.Invalidate()
	}
}

// Number is the number of a call that changes the record.
type Number struct {
	call *callRecord
	// Previous is the call's entry in the record, or the zero value.
	Previous state.Pending
	// pending is the entry that is saved with the answer. isOnly reports that the call is the
	// only one of its response, and isSaved that its answer is saved.
	pending         state.Pending
	isOnly, isSaved bool
}

// number returns the call's number in rec or, if it has none, the next number. The call gets that
// number when its answer is saved.
func (s *callRecord) number(rec *state.Record, done bool) *Number {
	n := &Number{call: s, isOnly: s.isOnly(), pending: state.Pending{Call: rec.Calls + 1, From: state.ShortenCall(s.Call), Done: done}}
	if i := state.FindPending(rec.Pending, s.Place, s.Call); i >= 0 {
		n.Previous = rec.Pending[i]
		n.pending.Call = n.Previous.Call
		if n.pending.Fork = n.Previous.Fork; n.pending.Fork > 0 {
			n.pending.Begun = n.Previous.Begun
		}
	}
	return n
}

// Scope makes the scope's State save changes under this number.
func (n *Number) Scope(s *skilltools.Scope) { s.State = numberedState{s.State, n} }

// numberedState is the State of a call that saves changes under a number.
type numberedState struct {
	skilltools.State
	number *Number
}

func (s numberedState) Number() int { return s.number.pending.Call }

func (s numberedState) Update(ctx context.Context, change skilltools.Change) (string, error) {
	return s.number.update(ctx, change)
}

// ownState is a State whose Record is not filtered by the call's place in the response.
type ownState struct {
	skilltools.State
	saving *callRecord
}

func (s ownState) Record(ctx context.Context) (*state.Record, error) { return s.saving.Load(ctx) }

// IsKnown reports whether the record already holds the call.
func (n *Number) IsKnown() bool { return n.Previous.Call != 0 }

// update saves the record that change returns together with the call's answer. The error wraps
// errNumberTaken if another call has got the number meanwhile.
func (n *Number) update(ctx context.Context, change skilltools.Change) (answer string, err error) {
	answer, err = n.call.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		if !n.IsKnown() && rec.Calls >= n.pending.Call {
			return nil, "", errNumberTaken
		}
		next, text, err := change(rec)
		if err != nil {
			return nil, "", err
		}
		if n.pending.Answer = text; n.pending.Fork > 0 {
			next, err = n.withForkAnswer(ctx, rec, next)
			return next, text, err
		}
		if n.IsKnown() {
			return state.WithAnswer(rec, next, n.pending), text, nil
		}
		return state.WithFirstAnswer(rec, next, n.pending, n.isOnly), text, nil
	})
	n.isSaved = err == nil
	return answer, err
}

// End saves the answer if update has not saved it. A call that has changed nothing must return
// the same answer too if it is executed again.
func (n *Number) End(ctx context.Context, answer string) (string, error) {
	var err error
	if !n.isSaved {
		answer, err = n.update(ctx, func(*state.Record) (*state.Record, string, error) { return nil, answer, nil })
	}
	if err == nil && n.isOnly && !n.IsKnown() {
		n.call.Place.SetNumber(n.pending.Call)
	}
	return answer, err
}

// isOnly reports whether the call is the only one of a response that the record does not hold
// yet.
func (s *callRecord) isOnly() bool {
	return s.Place != nil && s.Place.Number() == 0 || s.Place == nil && !s.Observed && s.Call.ID != ""
}

// Reload loads the skill that the call runs, if its load has ended but its text is still in view,
// and refuses returns false for it. scope is the scope of the call. A second Reload does nothing.
func (s *callRecord) Reload(ctx context.Context, scope *skilltools.Scope, name string, refuses func(skill string) bool) (err error) {
	if s.reloadAnswer != "" {
		return nil
	}
	scope.State = ownState{scope.State, s}
	s.reloadAnswer, err = s.AnswerNumbered(ctx, false, func(rec *state.Record, n *Number) (string, error) {
		switch {
		case n.Previous.Done: // Once returns the answer of its command
			return "", nil
		case n.Previous.Answer != "": // it has loaded the skill already
			return n.Previous.Answer, nil
		}
		skill, ok := scope.InView(ctx, s.Place.RecordFor(rec), name)
		if !ok || refuses(skill.Name) {
			return "", nil // the call will answer that the skill is not loaded
		}
		s.Place.SetBase(rec)
		n.Scope(scope)
		text, err := skilltools.Reload(ctx, scope, skill)
		if err != nil {
			return "", err
		}
		return n.End(ctx, text)
	})
	return err
}

// LoadCall returns the call with which the model itself would load a skill that another call
// reloads.
func LoadCall(call core.ToolCall, skill string) core.ToolCall {
	arguments, _ := json.Marshal(map[string]string{"skill": skill}) // strings always marshal
	return core.ToolCall{ID: call.ID, Name: "skill_load", Arguments: string(arguments)}
}

// WithReload adds the answer of Reload to the answer of the call: as the field "loaded" of a JSON
// object, or after any other text.
func (s *callRecord) WithReload(answer string) string {
	if s.reloadAnswer == "" {
		return answer
	}
	if body, ok := strings.CutSuffix(answer, "}"); ok && len(body) > 1 && json.Valid([]byte(answer)) {
		text, _ := json.Marshal(s.reloadAnswer) // a string always marshals
		return body + `,"loaded":` + string(text) + "}"
	}
	return answer + "\n" + s.reloadAnswer
}

// Scope implements what operations of one agent may use of the runtime, within a call or at the
// beginning of a turn.
type Scope struct {
	skilltools.Scope
	*Calls
	key   core.SessionKey
	agent *state.Agent
	// call and saving are zero at the beginning of a turn. awaits reports that the call sees the
	// changes of earlier calls of its response.
	call   core.ToolCall
	saving *callRecord
	awaits bool
	// Once notes that the command of the call starts, nil if that need not be noted.
	Once *Once
}

var (
	_ tools.State  = (*Scope)(nil)
	_ tools.View   = (*Scope)(nil)
	_ tools.Files  = (*Scope)(nil)
	_ tools.Events = (*Scope)(nil)
)

// TurnStart returns the scope of an agent at the beginning of a turn.
func (cs *Calls) TurnStart(key core.SessionKey, agent *state.Agent) *Scope {
	s := &Scope{Calls: cs, key: key, agent: agent}
	s.Scope = skilltools.Scope{State: s, View: s, Files: s, Events: s, Rules: cs.Rules}
	return s
}

// inCall returns the scope of a call. awaits reports that the call sees the changes of earlier
// calls of its response.
func (cs *Calls) inCall(agent *state.Agent, saving *callRecord, awaits bool) *Scope {
	s := cs.TurnStart(saving.Key, agent)
	s.call, s.saving, s.awaits = saving.Call, saving, awaits
	return s
}

// Key implements [skilltools.State].
func (s *Scope) Key() core.SessionKey { return s.key }

// Number returns 0, because [Number.Scope] replaces it for a call with a number.
func (s *Scope) Number() int { return 0 }

// Record implements [skilltools.State].
func (s *Scope) Record(ctx context.Context) (*state.Record, error) {
	if s.saving == nil {
		return s.Stores.Load(ctx, s.key)
	}
	rec, err := s.saving.Load(ctx)
	if err != nil || !s.awaits {
		return rec, err
	}
	return s.saving.Place.RecordFor(rec), nil
}

// Update implements [skilltools.State].
func (s *Scope) Update(ctx context.Context, change skilltools.Change) (answer string, err error) {
	return s.saving.Update(ctx, change)
}

// Begin implements [skilltools.State].
func (s *Scope) Begin(ctx context.Context) error {
	if s.Once == nil {
		return nil
	}
	return s.Once.Begin(ctx)
}

// ResolveSkills decides which skills an agent sees, if this process has not done so yet.
func (cs *Calls) ResolveSkills(ctx context.Context, key core.SessionKey, agent *state.Agent) error {
	if cs.Hiding == nil || agent.Skills() != nil {
		return cs.Audiences.ResolveOnce(ctx, key, agent)
	}
	return cs.resolveShown(ctx, key, agent)
}

// Catalog implements [skilltools.View].
func (s *Scope) Catalog() *catalog.Catalog { return s.Audiences.SkillsOf(s.agent) }

// IsHidden implements [skilltools.View].
func (s *Scope) IsHidden(d *state.Delivery) bool { return s.agent.IsHidden(d) }

// ReadTokens implements [skilltools.View].
func (s *Scope) ReadTokens() (all, inTurn int) { return s.agent.ReadTokens() }

// AddRead implements [skilltools.View].
func (s *Scope) AddRead(tokens, room int) (all, inTurn int, fits bool) {
	return s.agent.AddRead(s.call.ID, tokens, room)
}

// Entry implements [skilltools.View].
func (s *Scope) Entry(skill core.Skill) string { return s.Offer.Text.Entry(skill) }

// Unmet implements [skilltools.View].
func (s *Scope) Unmet(ctx context.Context, skill core.Skill) []string {
	if skill.Needs == nil {
		return nil
	}
	return s.Calls.Unmet(ctx, skill, s.agent.Tools())
}

// Restricted implements [skilltools.View].
func (s *Scope) Restricted(rec *state.Record) string {
	return s.Allowlists.Restrictions(s.agent, rec)
}

// Pin implements [skilltools.Files].
func (s *Scope) Pin(ctx context.Context, c catalog.Content) error {
	return s.Stores.Pin(ctx, s.key, c)
}

// TextSize implements [skilltools.Files].
func (s *Scope) TextSize(ctx context.Context, digest string) (int, error) {
	return s.Stores.Size(ctx, s.key, digest)
}

// Attached implements [skilltools.Files].
func (s *Scope) Attached() []core.File { return s.agent.Files() }

// Runs implements [skilltools.Files].
func (s *Scope) Runs() bool { return s.Offer.Runner != nil }

// Workspace implements [skilltools.Files].
func (s *Scope) Workspace(ctx context.Context) (string, error) {
	return s.Offer.Runner.WorkspaceAt(ctx, s.key.Session)
}

// ReadRef implements [skilltools.Files].
func (s *Scope) ReadRef(ctx context.Context, ref string) ([]byte, error) {
	return s.Offer.Runner.ReadRef(ctx, s.Public(), ref)
}

// Sessions implements [skilltools.Files].
func (s *Scope) Sessions() *terminal.Table { return s.Terminals }

// Run implements [skilltools.Files].
func (s *Scope) Run(ctx context.Context, arguments string) (string, error) {
	run := s.Offer.Command
	return run.Call(ctx, s.Public(), run.Decode(arguments))
}

// Emit implements [skilltools.Events].
func (s *Scope) Emit(ctx context.Context, e core.Event) {
	e.Key, e.Call = s.key, s.call
	s.Report.Emit(ctx, e)
}

// Found implements [skilltools.Events].
func (s *Scope) Found(names []string) { s.agent.NoteFound(names) }
