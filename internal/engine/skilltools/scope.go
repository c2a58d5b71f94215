package skilltools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// Scope is what a call of one of Satchel's own operations may use. [Scope.Public] returns the
// part of it for operations of hosts.
type Scope struct {
	State
	View
	Files
	Events
	Rules
	// Forked holds the answers of skills that have run as agents of their own, by their names in
	// the call. A load answers with them in place of the skills.
	Forked map[string]string
	// RunsAsAgent reports whether a load by [LoadExternal] runs a skill as an agent of its own. If it is
	// nil, none does.
	RunsAsAgent func(skill core.Skill) bool
}

// State reads and changes the record of the call's agent.
type State interface {
	tools.State
	// Number returns the call's number, 0 if the operation does not change what is loaded.
	Number() int
	// Record returns the agent's record. Callers must not change it.
	Record(ctx context.Context) (*state.Record, error)
	// Update calls change, saves the record that it returns together with the answer, and returns
	// the answer. After a conflict it calls change again. If change returns its argument, Update
	// saves nothing.
	Update(ctx context.Context, change Change) (answer string, err error)
}

// Change returns the next record, and the answer to the call that changes it.
type Change func(*state.Record) (next *state.Record, answer string, err error)

// View is the agent's view of the skills.
type View interface {
	tools.View
	// IsHidden reports whether the last request left out the content of a delivery.
	IsHidden(d *state.Delivery) bool
	// ReadTokens estimates the text of skill files that calls of skill_read have shown, in the
	// last request and in answers after it. inTurn is the part after the last user message.
	ReadTokens() (all, inTurn int)
	// AddRead adds the answer of this call, and returns the values of ReadTokens without it. If
	// inTurn would exceed room, it adds nothing and returns false.
	AddRead(tokens, room int) (all, inTurn int, fits bool)
	// Entry returns the line of a skill in the overview.
	Entry(skill core.Skill) string
	// Unmet returns the needs of a skill that are not met for this agent, in words.
	Unmet(ctx context.Context, skill core.Skill) []string
	// Restricted returns a line about which tools the lists of rec allow, "" if there are no
	// lists.
	Restricted(rec *state.Record) string
}

// Files gives access to the texts and files of the agent's session.
type Files interface {
	tools.Files
	// Pin pins a text for the session.
	Pin(ctx context.Context, c catalog.Content) error
	// TextSize estimates the tokens of a pinned text.
	TextSize(ctx context.Context, digest string) (int, error)
	// Sessions returns the interactive commands, nil if there are none.
	Sessions() *terminal.Table
}

// Events reports what a call does to the host and to later calls.
type Events interface {
	tools.Events
	// Found notes the skills that a search has returned.
	Found(names []string)
}

// Rules holds the settings of the runtime for a call.
type Rules struct {
	// Mode decides when loads end. KeepsTexts reports that their texts stay in view until
	// clearing them pays.
	Mode       loadmode.Mode
	KeepsTexts bool
	// Max is the cap on loaded skills; a value below 1 means no cap. Victim chooses which skill to
	// unload; if it is nil, the least recently used. EvictsOnLoad lets LoadAll unload skills to
	// make room.
	Max          int
	Victim       loadmode.Victim
	EvictsOnLoad bool
	// Budget bounds the texts in view, and Limits the answer. No field of Limits is zero.
	Budget tools.Budget
	Limits tools.Limits
	// References decides about docs that bodies name.
	References tools.References
	// Reports reports that a hook of the host or a tracer gets the events.
	Reports bool
	// HidesUnmet reports that skills with unmet needs are hidden from the model.
	HidesUnmet bool
	// OffersArguments reports that the model sees the field of skill_load for arguments.
	OffersArguments bool
	// LoadToolName is the name of the tool that loads skills, "" for skill_load.
	LoadToolName string
	// ByPattern reports that the call is allowed only because a pattern matches its command.
	// Names in the command must then not be resolved as files that an earlier command has
	// written.
	ByPattern bool
	// Interpreted reports that this pattern matches a script only with the interpreter for its
	// extension, and not by its path.
	Interpreted bool
}

// Public returns the scope for operations. [From] returns s again.
func (s *Scope) Public() *tools.Scope {
	return &tools.Scope{State: publicState{s.State, s}, View: s.View, Files: s.Files, Events: s.Events, Limits: s.Limits}
}

// publicState is the State of a public scope; [From] finds the scope in it.
type publicState struct {
	State
	scope *Scope
}

var errForeign = errors.New("the scope of the call does not come from a runtime")

// From returns the scope behind a public one. It returns an error for a scope that no runtime has
// made.
func From(s *tools.Scope) (*Scope, error) {
	if in, ok := s.State.(publicState); ok {
		return in.scope, nil
	}
	return nil, errForeign
}

// With returns the Call function of an operation that needs the whole Scope.
func With(call func(context.Context, *Scope, tools.Args) (string, error)) func(context.Context, *tools.Scope, tools.Args) (string, error) {
	return func(ctx context.Context, s *tools.Scope, args tools.Args) (string, error) {
		scope, err := From(s)
		if err != nil {
			return "", err
		}
		return call(ctx, scope, args)
	}
}

// WithRecord returns a copy of s with another record.
func (s *Scope) WithRecord(rec *state.Record) *Scope {
	scope := *s
	scope.State = withRecord{s.State, rec}
	return &scope
}

type withRecord struct {
	State
	rec *state.Record
}

func (s withRecord) Record(context.Context) (*state.Record, error) { return s.rec, nil }

// WithCatalog returns a copy of s with another catalog.
func (s *Scope) WithCatalog(c *catalog.Catalog) *Scope {
	scope := *s
	scope.View = withCatalog{s.View, c}
	return &scope
}

type withCatalog struct {
	View
	catalog *catalog.Catalog
}

func (v withCatalog) Catalog() *catalog.Catalog { return v.catalog }

// withNumber is a State in which the call has another number.
type withNumber struct {
	State
	number int
}

func (s withNumber) Number() int { return s.number }

// shows reports whether the model sees the content of a delivery.
func (s *Scope) shows(d *state.Delivery) bool {
	return !d.Old && !d.Spent && !s.IsHidden(d)
}

func (s *Scope) showsBody(rec *state.Record, skill string) bool {
	return slices.ContainsFunc(rec.Deliveries, func(d state.Delivery) bool {
		return d.Skill == skill && d.Body && s.shows(&d)
	})
}

// beforeBudget returns a copy of a record for [Scope.cleared], or nil if no hook gets its events.
func (s *Scope) beforeBudget(rec *state.Record) *state.Record {
	if !s.Reports {
		return nil
	}
	return rec.Clone()
}

// cleared returns the events of the texts that a change from before to after has cleared. It returns nil
// if no hook gets them.
func (s *Scope) cleared(before, after *state.Record, cause string) []core.Event {
	if !s.Reports {
		return nil
	}
	return before.ClearedEvents(after, state.Clearing{Cause: cause, IsHidden: s.IsHidden})
}

// tokensOf estimates the tokens of a delivery for an event. It returns 0 if no hook gets the event.
func (s *Scope) tokensOf(ctx context.Context, d *state.Delivery) (int, error) {
	if !s.Reports {
		return 0, nil
	}
	m := newMeasurer(s)
	return m.delivery(ctx, d), m.err
}

// emitAll sends events.
func (s *Scope) emitAll(ctx context.Context, events []core.Event) {
	for _, e := range events {
		s.Emit(ctx, e)
	}
}

// boundAnswer cuts an answer to the limit. It cuts text before the receipt at the end, and says
// so. It replaces JSON by an error, because a part of JSON is not JSON.
func boundAnswer(l tools.Limits, text string) string {
	limit := l.Answer
	if len(text) <= limit/6 {
		return text
	}
	if isJSON(text) {
		if len(text) <= limit {
			return text
		}
		return fmt.Sprintf(`{"error":"the answer has %d bytes and at most %d are allowed: ask for less"}`, len(text), limit)
	}
	if plainjson.Size(text) <= limit {
		return text
	}
	text, receipt := cutReceipt(text)
	note := fmt.Sprintf("\n[the answer was cut: it had %d bytes; ask for less]", len(text))
	return plainjson.Prefix(text, limit-plainjson.Size(note)-plainjson.Size(receipt)) + note + receipt
}

// checkReceipt returns an error if the receipt would take more than half of an answer. The
// receipt lists the docs and cannot be cut.
func checkReceipt(l tools.Limits, text string) error {
	_, receipt := cutReceipt(text)
	if n, most := plainjson.Size(receipt), l.Answer/2; n > most {
		return tools.ModelErrorf("nothing was changed: the names of the docs alone take %d bytes, at most %d are allowed; name the docs that you need", n, most)
	}
	return nil
}

// isJSON reports whether an answer is a JSON object or array.
func isJSON(text string) bool {
	return (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Valid([]byte(text))
}
