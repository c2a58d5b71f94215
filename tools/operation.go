// Package tools holds the operations behind the tools that the model calls, one
// file for each, with its schema, its arguments and its answer. Whatever the
// model can act on is answered in text; a Go error means that the run itself must
// stop.
package tools

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/terminal"
)

// Operation is one tool: what the model is shown of it, and what a call does. A
// vocabulary is a list of operations. Other vocabularies and the run tools are
// added to this one in the same form.
type Operation struct {
	Name        string
	Description string
	Fields      []Field
	// Changes marks an operation that changes what is loaded. Its calls are
	// numbered, and in one response they take effect in their order.
	Changes bool
	// ChangesWith says which calls of an operation that Changes do; nil is all.
	ChangesWith func(args Args) bool
	// Delivers marks an operation whose results carry content in the view.
	Delivers bool
	// Awaits marks an operation that waits for the unfinished changes at earlier
	// positions in the same response.
	Awaits bool
	// Ordered marks an operation whose calls in one response are executed one
	// after another, in their order, together with those of all other Ordered
	// operations.
	Ordered bool
	// LoadsAgain marks an operation that runs the skill of its argument "skill".
	// In load mode Adaptive its call loads the skill again if the load has ended
	// and the text is still in view; see [LoadAgain].
	LoadsAgain bool
	// Once marks an operation that runs a command, which run.Runner.Once lets run
	// only once. It calls Scope.Begin just before the command starts.
	Once bool
	// Session names the argument with the id of a session command. The list of
	// the skill that started the command judges the call.
	Session string
	// Always marks an operation that no list of allowed tools restricts, because it only
	// shows what skills contain, or has roles of its own. It needs no approval but that
	// of its Question.
	Always bool
	// Request returns what lists can see of a call, without the Tool. A call
	// whose arguments cannot be read runs nothing. Without Request, only entries
	// without a pattern allow the operation.
	Request func(args Args) permission.Request
	// Needs are the operations without which this one is of no use, and Provides those in
	// whose place it stands for the needs of others.
	Needs, Provides []string
	// Runs writes the arguments of a call that runs a command as those of skill_run, by
	// which the call is judged; nil for all other operations.
	Runs func(args Args) (arguments string)
	// Question says what a person is asked about a call before it is made, whatever lists
	// allow; nil, or a nil question, is nothing. An error ends the run.
	Question func(ctx context.Context, s *Scope, args Args) (*Question, error)
	// Refuse writes the answer to a call that is not made: code is "invalid" where its
	// arguments cannot be read, "denied", or "too_large" for an answer that is too long. An operation with Refuse is strict: fields
	// that are unknown, misspelt or there twice are refused. Without it the answer is
	// plain text, and such fields are ignored with a warning.
	Refuse func(code, message string) string
	// Call answers a call. Its arguments are decoded according to Fields.
	Call func(ctx context.Context, s *Scope, args Args) (string, error)
}

// Question is what a person is asked about one call.
type Question struct {
	// Detail is what is shown, whole.
	Detail string
	// Bound identifies what the answer applies to, and Lasting what an answer for the
	// session allows, which LastingText says in words.
	Bound, Lasting, LastingText string
	// Nobody is the answer to the call where nobody can be asked.
	Nobody string
	// Denied, unless it is nil, is called where a person did not allow the call, or nobody
	// could be asked, in which case why is Nobody.
	Denied func(ctx context.Context, why string)
	// Approval is what the call finds in Scope.Approval after this very question was
	// answered; after an answer for the session it is nil.
	Approval any
}

// IsChange reports whether a call with these arguments changes what is loaded.
func (o *Operation) IsChange(args Args) bool {
	return o.Changes && (o.ChangesWith == nil || o.ChangesWith(args))
}

// Tool returns the definition that the model sees.
func (o *Operation) Tool() core.Tool {
	return core.Tool{Name: o.Name, Description: o.Description, Schema: schema(o.Fields)}
}

// Scope is what one call may use: its session, and the rooms that the runtime
// opens to it.
type Scope struct {
	Key core.SessionKey
	// Number is the call's number, for operations that change what is loaded.
	Number  int
	Catalog *catalog.Catalog
	Mode    loadmode.Mode
	// Limits bound the answer.
	Limits Limits
	// Max is the cap on loaded skills; below 1 there is none. Victim chooses
	// which skill is unloaded; nil is the least recently used.
	Max    int
	Victim loadmode.Victim
	// Budget bounds what is in view. TextSize estimates the tokens of a pinned
	// text; without it nothing is bounded.
	Budget   Budget
	TextSize func(ctx context.Context, digest string) (int, error)
	// Hidden reports whether the content of a delivery is loaded but was not part
	// of the last request.
	Hidden func(*state.Delivery) bool
	// Record returns the session's record, which must not be changed. Update
	// saves the record that change makes of it together with the answer of the
	// call, calls change again after a conflict, and returns that answer. If
	// change returns the record that it was given, nothing is saved.
	Record func(ctx context.Context) (*state.Record, error)
	Update func(ctx context.Context, change Change) (answer string, err error)
	// ReadRef returns the content of workspace://path or artifact://name; it is
	// nil if skills do not run. Errors that the model can act on are
	// [ModelError]s.
	ReadRef func(ctx context.Context, ref string) ([]byte, error)
	// WorkspaceAt returns the absolute path at which commands see the workspace.
	// If it is nil or returns "", there is none.
	WorkspaceAt func(ctx context.Context) (string, error)
	// Sessions are the session commands; nil if there are none.
	Sessions *terminal.Table
	// Files returns what users attached to the messages of the last request. The
	// result must not be changed. Nil is none.
	Files func() []core.File
	// Restricted says in one line what lists of allowed tools permit; it returns
	// "" if there are no lists. Nil says nothing.
	Restricted func(*state.Record) string
	// Narrow says that the call was allowed because a pattern matches its
	// command. Names in it must then not be taken for files that a command has
	// left.
	Narrow bool
	// Interpreted says that this pattern matches a script only as it is run by
	// the interpreter of its extension, and not by its path.
	Interpreted bool
	// Begin notes that the command of the call is about to start; nil notes
	// nothing. After an error the command must not start.
	Begin func(ctx context.Context) error
	// Run answers a call of skill_run with these arguments; nil where skills do not run.
	Run func(ctx context.Context, arguments string) (string, error)
	// References says what becomes of the docs that bodies name.
	References References
	// Evicts lets LoadAll unload skills to make room.
	Evicts bool
	// Found records the skills that a search has named; nil records nothing.
	Found func(names []string)
	// Entry returns the line of a skill as the overview shows it; nil makes a
	// plain one. Loads is the name of the tool that loads skills; "" is
	// skill_load.
	Entry func(core.Skill) string
	Loads string
	// Library is what the tools of a skill library work with; nil if there is none.
	// Approval is the Approval of the [Question] that a person has allowed for this
	// call; nil if nobody was asked, as where an answer for the session holds.
	Library  any
	Approval any
	// Pin keeps a text for the session.
	Pin func(ctx context.Context, c catalog.Content) error
	// Emit reports an event; its Key is filled in.
	Emit func(ctx context.Context, e core.Event)
}

// shows reports whether the model is really shown the content of a delivery.
func (s *Scope) shows(d *state.Delivery) bool {
	return !d.Old && !d.Spent && (s.Hidden == nil || !s.Hidden(d))
}

func (s *Scope) showsBody(rec *state.Record, skill string) bool {
	return slices.ContainsFunc(rec.Deliveries, func(d state.Delivery) bool {
		return d.Skill == skill && d.Body && s.shows(&d)
	})
}

// Change makes the next record, and the answer to the call that changes it.
type Change func(*state.Record) (next *state.Record, answer string, err error)
