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

// Scope is what a call of one of Satchel's own operations may use. [Scope.Public] is the part
// of it that operations of hosts get.
type Scope struct {
	State
	View
	Files
	Events
	Rules
}

// State is the record of the agent that a call belongs to.
type State interface {
	tools.State
	// Number returns the call's number, of operations that change what is loaded.
	Number() int
	// Record returns the agent's record, which must not be changed.
	Record(ctx context.Context) (*state.Record, error)
	// Update saves the record that change makes of it together with the answer of the
	// call, calls change again after a conflict, and returns that answer. If change
	// returns the record that it was given, nothing is saved.
	Update(ctx context.Context, change Change) (answer string, err error)
}

// Change makes the next record, and the answer to the call that changes it.
type Change func(*state.Record) (next *state.Record, answer string, err error)

// View is what the agent sees of the skills.
type View interface {
	tools.View
	// IsHidden reports whether the content of a delivery is loaded but was not part of
	// the last request.
	IsHidden(d *state.Delivery) bool
	// ReadTokens estimates the text of skill files that calls of skill_read have shown. all is
	// what the last request contained and what came since. inTurn is the part of it since the
	// last message of a user.
	ReadTokens() (all, inTurn int)
	// AddRead adds the answer of this call to the tokens of ReadTokens, and returns what they
	// were before. It adds nothing and returns false if inTurn would exceed room.
	AddRead(tokens, room int) (all, inTurn int, fits bool)
	// Entry returns the line of a skill as the overview shows it.
	Entry(skill core.Skill) string
	// Restricted says in one line what lists of allowed tools permit; it returns "" if
	// there are no lists.
	Restricted(rec *state.Record) string
}

// Files are the texts and files of the agent's session.
type Files interface {
	tools.Files
	// Pin keeps a text for the session.
	Pin(ctx context.Context, c catalog.Content) error
	// TextSize estimates the tokens of a pinned text.
	TextSize(ctx context.Context, digest string) (int, error)
	// Sessions are the session commands; nil if there are none.
	Sessions() *terminal.Table
}

// Events takes what a call tells the host and later calls.
type Events interface {
	tools.Events
	// Found records the skills that a search has named.
	Found(names []string)
	// NoteLoaded records the canonical id of a skill that was loaded by a name. LoadedAs
	// returns it to later calls in this process, or "".
	NoteLoaded(name, id string)
	LoadedAs(name string) string
}

// Rules are those of the runtime for a call.
type Rules struct {
	// Mode says when loads end.
	Mode loadmode.Mode
	// Max is the cap on loaded skills; below 1 there is none. Victim chooses which skill is
	// unloaded; nil is the least recently used. Evicts lets LoadAll unload skills to make
	// room.
	Max    int
	Victim loadmode.Victim
	Evicts bool
	// Budget bounds the texts in view, and Limits the answer.
	Budget tools.Budget
	Limits tools.Limits
	// References says what becomes of the docs that bodies name.
	References tools.References
	// Loads is the name of the tool that loads skills; "" is skill_load.
	Loads string
	// Narrow says that the call was allowed because a pattern matches its command. Names in
	// it must then not be taken for files that a command has left.
	Narrow bool
	// Interpreted says that this pattern matches a script only as it is run by the
	// interpreter of its extension, and not by its path.
	Interpreted bool
}

// Public returns the scope as operations get it. [From] finds s in it.
func (s *Scope) Public() *tools.Scope {
	return &tools.Scope{State: inner{s.State, s}, View: s.View, Files: s.Files, Events: s.Events, Limits: s.Limits}
}

// inner is a state from which [From] gets the scope.
type inner struct {
	State
	scope *Scope
}

var errForeign = errors.New("the scope of the call does not come from a runtime")

// From returns the scope behind a public one. It fails for a scope that no runtime has made.
func From(s *tools.Scope) (*Scope, error) {
	if in, ok := s.State.(inner); ok {
		return in.scope, nil
	}
	return nil, errForeign
}

// With returns the Call of an operation that needs more of the scope than is public.
func With(call func(context.Context, *Scope, tools.Args) (string, error)) func(context.Context, *tools.Scope, tools.Args) (string, error) {
	return func(ctx context.Context, s *tools.Scope, args tools.Args) (string, error) {
		scope, err := From(s)
		if err != nil {
			return "", err
		}
		return call(ctx, scope, args)
	}
}

// WithRecord returns the scope as it is with another record.
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

// WithCatalog returns the scope as it is with another catalog.
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

// withNumber is a state in which the call has another number.
type withNumber struct {
	State
	number int
}

func (s withNumber) Number() int { return s.number }

// shows reports whether the model is really shown the content of a delivery.
func (s *Scope) shows(d *state.Delivery) bool {
	return !d.Old && !d.Spent && !s.IsHidden(d)
}

func (s *Scope) showsBody(rec *state.Record, skill string) bool {
	return slices.ContainsFunc(rec.Deliveries, func(d state.Delivery) bool {
		return d.Skill == skill && d.Body && s.shows(&d)
	})
}

// bound keeps an answer within the limit, whatever produced it. It cuts text
// before the receipt at its end, and says so. It replaces JSON as a whole,
// because a part of it would not be JSON.
func bound(l tools.Limits, text string) string {
	limit := l.OrDefaults().Answer
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

// checkReceipt refuses a change whose receipt takes more than half of an answer:
// the receipt names the docs, and cannot be cut.
func checkReceipt(l tools.Limits, text string) error {
	_, receipt := cutReceipt(text)
	if n, most := plainjson.Size(receipt), l.OrDefaults().Answer/2; n > most {
		return tools.ModelErrorf("nothing was changed: the names of the docs alone take %d bytes, at most %d are allowed; name the docs that you need", n, most)
	}
	return nil
}

// isJSON reports whether an answer is a JSON object or array.
func isJSON(text string) bool {
	return (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Valid([]byte(text))
}
