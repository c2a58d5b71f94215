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

// Saving is one call and the record that it reads and changes. Its exported fields are
// set before its first use, and its methods are called one after another.
type Saving struct {
	Stores *state.Stores
	Key    core.SessionKey
	Call   core.ToolCall
	Place  *state.Place // nil: no known response made the call
	// Observed: this process has seen the last response.
	Observed bool

	// record is the record as it was loaded or saved last, nil where it must be loaded.
	// awaited says that the call has waited for earlier ones.
	record  *state.Record
	awaited bool
	// again is what the load answered that the call has made, "" for none.
	again string
}

// Record returns the record as it was loaded or saved last, nil where it must be loaded.
func (s *Saving) Record() *state.Record { return s.record }

// Forget says that others may have changed the record.
func (s *Saving) Forget() { s.record = nil }

// Wait waits for earlier calls of the response. What they changed is in the
// record that is loaded afterwards.
func (s *Saving) Wait(ctx context.Context, wait func(context.Context) (missed bool, err error)) (missed bool, err error) {
	missed, err = wait(ctx)
	if err == nil && !s.awaited {
		if s.awaited = true; s.Place.MustWait() {
			s.record = nil
		}
	}
	return missed, err
}

// Load returns the session's record, which it loads at most once.
func (s *Saving) Load(ctx context.Context) (*state.Record, error) {
	if s.record == nil {
		rec, err := s.Stores.Load(ctx, s.Key)
		if err != nil {
			return nil, err
		}
		s.record = rec
	}
	return s.record, nil
}

// Update saves what change makes of the record. The record that is stored
// afterwards is the call's.
func (s *Saving) Update(ctx context.Context, change skilltools.Change) (answer string, err error) {
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

// errTaken reports that another call was given the number that this one was to have.
var errTaken = errors.New("the number of the call is taken")

// Numbered answers a call that changes the record. answer gets the record and a number for
// the call, once more where another call was given the number meanwhile. done says that the
// call has ended with the answer.
func (s *Saving) Numbered(ctx context.Context, done bool, answer func(rec *state.Record, n *Number) (string, error)) (string, error) {
	for {
		rec, err := s.Load(ctx)
		if err != nil {
			return "", err
		}
		text, err := answer(rec, s.number(rec, done))
		if !errors.Is(err, errTaken) {
			return text, err
		}
		s.Forget()
	}
}

// Number is the number under which a call changes the record.
type Number struct {
	saving *Saving
	// Was is what the record knew of the call, zero for nothing.
	Was state.Pending
	// as is the call as it is saved with its answer. only says that it is the only call of
	// its response, and saved that its answer is saved.
	as          state.Pending
	only, saved bool
}

// number returns the number that rec has given the call, or else the next one, which the
// call gets with its answer.
func (s *Saving) number(rec *state.Record, done bool) *Number {
	n := &Number{saving: s, only: s.isOnly(), as: state.Pending{Call: rec.Calls + 1, From: state.ShortenCall(s.Call), Done: done}}
	if i := state.FindPending(rec.Pending, s.Place, s.Call); i >= 0 {
		n.Was = rec.Pending[i]
		n.as.Call = n.Was.Call
	}
	return n
}

// Scope lets a scope change the record under the number.
func (n *Number) Scope(s *skilltools.Scope) { s.State = numbered{s.State, n} }

// numbered is the state of a call that changes the record under a number.
type numbered struct {
	skilltools.State
	number *Number
}

func (s numbered) Number() int { return s.number.as.Call }

func (s numbered) Update(ctx context.Context, change skilltools.Change) (string, error) {
	return s.number.update(ctx, change)
}

// loaded is a state whose record is that of a call, whatever the call may see of it.
type loaded struct {
	skilltools.State
	saving *Saving
}

func (s loaded) Record(ctx context.Context) (*state.Record, error) { return s.saving.Load(ctx) }

// IsKnown reports whether the record had given the call this number.
func (n *Number) IsKnown() bool { return n.Was.Call != 0 }

// update saves what change makes of the record, and the answer of the call under its
// number. The error wraps errTaken where another call was given that meanwhile.
func (n *Number) update(ctx context.Context, change skilltools.Change) (answer string, err error) {
	answer, err = n.saving.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		if !n.IsKnown() && rec.Calls >= n.as.Call {
			return nil, "", errTaken
		}
		next, text, err := change(rec)
		if err != nil {
			return nil, "", err
		}
		if n.as.Answer = text; n.IsKnown() {
			return state.WithAnswer(rec, next, n.as), text, nil
		}
		return state.WithFirstAnswer(rec, next, n.as, n.only), text, nil
	})
	n.saved = err == nil
	return answer, err
}

// End saves the answer of a call that has changed nothing too: executed again, it must
// give the same answer and change nothing.
func (n *Number) End(ctx context.Context, answer string) (string, error) {
	var err error
	if !n.saved {
		answer, err = n.update(ctx, func(*state.Record) (*state.Record, string, error) { return nil, answer, nil })
	}
	if err == nil && n.only && !n.IsKnown() {
		n.saving.Place.SetNumber(n.as.Call)
	}
	return answer, err
}

// isOnly reports whether the call is the only one of its response, which the record
// learns of with it, also in a process that has not seen the response.
func (s *Saving) isOnly() bool {
	return s.Place != nil && s.Place.Number() == 0 || s.Place == nil && !s.Observed && s.Call.ID != ""
}

// LoadAgain loads the skill that the call runs, where only its text is left of an ended
// load, unless refuses says no to it. scope is that of the call's agent. Made again it does
// nothing.
func (s *Saving) LoadAgain(ctx context.Context, scope *skilltools.Scope, name string, refuses func(skill string) bool) (err error) {
	if s.again != "" {
		return nil
	}
	scope.State = loaded{scope.State, s}
	s.again, err = s.Numbered(ctx, false, func(rec *state.Record, n *Number) (string, error) {
		switch {
		case n.Was.Done: // with its command, whose answer is found when it is run
			return "", nil
		case n.Was.Answer != "": // it has loaded the skill already
			return n.Was.Answer, nil
		}
		skill, ok := scope.InView(ctx, s.Place.RecordFor(rec), name)
		if !ok || refuses(skill.Name) {
			return "", nil // the call will answer that the skill is not loaded
		}
		s.Place.SetBase(rec)
		n.Scope(scope)
		text, err := skilltools.LoadAgain(ctx, scope, skill)
		if err != nil {
			return "", err
		}
		return n.End(ctx, text)
	})
	return err
}

// LoadOf is the call by which the model itself would load a skill that another call loads
// again.
func LoadOf(call core.ToolCall, skill string) core.ToolCall {
	arguments, _ := json.Marshal(map[string]string{"skill": skill}) // strings always marshal
	return core.ToolCall{ID: call.ID, Name: "skill_load", Arguments: string(arguments)}
}

// WithLoad adds to an answer what LoadAgain has loaded, if anything: as the field "loaded"
// of a JSON object, after any other text.
func (s *Saving) WithLoad(answer string) string {
	if s.again == "" {
		return answer
	}
	if body, ok := strings.CutSuffix(answer, "}"); ok && len(body) > 1 && json.Valid([]byte(answer)) {
		text, _ := json.Marshal(s.again) // a string always marshals
		return body + `,"loaded":` + string(text) + "}"
	}
	return answer + "\n" + s.again
}

// Scope is what operations of one agent may use of the runtime: within a call, or where a
// turn begins.
type Scope struct {
	skilltools.Scope
	*Calls
	key   core.SessionKey
	agent *state.Agent
	// call is zero where a turn begins. Then saving is nil too, and each step gets the record.
	// awaits says that the call sees the changes of earlier calls of its response.
	call   core.ToolCall
	saving *Saving
	awaits bool
	// Once notes that the command of the call starts; nil notes nothing.
	Once *Once
}

var (
	_ tools.State  = (*Scope)(nil)
	_ tools.View   = (*Scope)(nil)
	_ tools.Files  = (*Scope)(nil)
	_ tools.Events = (*Scope)(nil)
)

// TurnStart returns what operations of one agent may use where a turn begins.
func (cs *Calls) TurnStart(key core.SessionKey, agent *state.Agent) *Scope {
	s := &Scope{Calls: cs, key: key, agent: agent}
	s.Scope = skilltools.Scope{State: s, View: s, Files: s, Events: s, Rules: cs.Rules}
	return s
}

// inCall returns what the operation of a call may use. awaits says that it sees what earlier
// calls of its response have changed.
func (cs *Calls) inCall(agent *state.Agent, saving *Saving, awaits bool) *Scope {
	s := cs.TurnStart(saving.Key, agent)
	s.call, s.saving, s.awaits = saving.Call, saving, awaits
	return s
}

// Key implements [skilltools.State].
func (s *Scope) Key() core.SessionKey { return s.key }

// Number returns 0: the number comes with the answer, see [Number.Scope].
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

// Catalog implements [skilltools.View].
func (s *Scope) Catalog() *catalog.Catalog { return s.Audiences.SeenBy(s.agent) }

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

// Restricted implements [skilltools.View].
func (s *Scope) Restricted(rec *state.Record) string {
	return s.Bounds.Restricted(s.agent, rec)
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

// NoteLoaded implements [skilltools.Events].
func (s *Scope) NoteLoaded(name, id string) { s.agent.NoteLoaded(name, id) }

// LoadedAs implements [skilltools.Events].
func (s *Scope) LoadedAs(name string) string { return s.agent.LoadedID(name) }
