package tools

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/loadmode"
)

// Scope is what one call may use, and the rules for it. The runtime makes it.
type Scope struct {
	State
	View
	Files
	Events
	Rules
}

// State is the record of the agent that a call belongs to.
type State interface {
	// Key names the session and the agent.
	Key() core.SessionKey
	// Number returns the call's number, of operations that change what is loaded.
	Number() int
	// Record returns the agent's record, which must not be changed.
	Record(ctx context.Context) (*state.Record, error)
	// Update saves the record that change makes of it together with the answer of the
	// call, calls change again after a conflict, and returns that answer. If change
	// returns the record that it was given, nothing is saved.
	Update(ctx context.Context, change Change) (answer string, err error)
	// Begin notes that the command of the call is about to start. After an error the
	// command must not start.
	Begin(ctx context.Context) error
}

// Change makes the next record, and the answer to the call that changes it.
type Change func(*state.Record) (next *state.Record, answer string, err error)

// View is what the agent sees of the skills.
type View interface {
	// Catalog holds the skills that the agent may load.
	Catalog() *catalog.Catalog
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
	// Pin keeps a text for the session.
	Pin(ctx context.Context, c catalog.Content) error
	// TextSize estimates the tokens of a pinned text.
	TextSize(ctx context.Context, digest string) (int, error)
	// Attached returns what users attached to the messages of the last request. The result
	// must not be changed.
	Attached() []core.File
	// Runs reports whether skills run here. If not, there are no workspace and no session
	// commands.
	Runs() bool
	// Workspace returns the absolute path at which commands see the workspace, "" for none.
	Workspace(ctx context.Context) (string, error)
	// ReadRef returns the content of workspace://path or artifact://name. Errors that the
	// model can act on are [ModelError]s.
	ReadRef(ctx context.Context, ref string) ([]byte, error)
	// Sessions are the session commands; nil if there are none.
	Sessions() *terminal.Table
	// Run answers a call of skill_run with these arguments.
	Run(ctx context.Context, arguments string) (string, error)
}

// Events takes what a call tells the host and later calls.
type Events interface {
	// Emit reports an event; its Key and its Call are filled in.
	Emit(ctx context.Context, e core.Event)
	// Found records the skills that a search has named.
	Found(names []string)
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
	Budget Budget
	Limits Limits
	// References says what becomes of the docs that bodies name.
	References References
	// Loads is the name of the tool that loads skills; "" is skill_load.
	Loads string
	// Narrow says that the call was allowed because a pattern matches its command. Names in
	// it must then not be taken for files that a command has left.
	Narrow bool
	// Interpreted says that this pattern matches a script only as it is run by the
	// interpreter of its extension, and not by its path.
	Interpreted bool
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
