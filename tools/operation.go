// Package tools holds the operations behind the tools that the model calls: one
// file for each, with its schema, its arguments and its answer. Whatever the
// model can act on is answered in text; a Go error means that the run itself
// must stop.
package tools

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/terminal"
)

// Operation is one tool: what the model is told of it and what a call does. A
// vocabulary is a list of operations; other vocabularies and the run tools are
// added to this one in the same shape.
type Operation struct {
	Name        string
	Description string
	Fields      []Field
	// Changes marks an operation that changes what is loaded. Its calls are
	// numbered, and in one response they take effect in their order.
	Changes bool
	// Delivers marks an operation whose results carry content in the view.
	Delivers bool
	// Awaits marks an operation that waits for the unfinished changes of lower
	// position in its response.
	Awaits bool
	// Ordered marks an operation whose calls in one response are executed one
	// after another, in their order, together with those of all others that are
	// so marked.
	Ordered bool
	// Always marks an operation that no list of allowed tools restricts and that
	// nobody is asked about: it shows what skills hold.
	Always bool
	// Use says what a call would run, for patterns in such lists. Without it,
	// only entries without a pattern are for the operation.
	Use func(args Args) permission.Use
	// Needs are the operations without which this one is of no use.
	Needs []string
	// Call answers a call. The arguments are decoded by Fields.
	Call func(ctx context.Context, s *Scope, args Args) (string, error)
}

// Tool returns the definition that the model sees.
func (o *Operation) Tool() core.Tool {
	return core.Tool{Name: o.Name, Description: o.Description, Schema: schema(o.Fields)}
}

// Scope is what one call may use: the session that it belongs to and the rooms
// that the runtime opens to it.
type Scope struct {
	Key core.SessionKey
	// Number is the call's number, for operations that change what is loaded.
	Number  int
	Catalog *catalog.Catalog
	Mode    loadmode.Mode
	// Max is the cap on loaded skills; below 1 there is none. Victim chooses
	// who goes; nil is the least recently used.
	Max    int
	Victim loadmode.Victim
	// Hidden reports that the content of a call is loaded but was not part of
	// the last request.
	Hidden func(call int) bool
	// Record returns the session's record; it may not be changed. Update saves
	// the record that change makes of it together with the answer of the call,
	// repeating change after a conflict, and returns that answer. A change that
	// returns the record it was given saves nothing.
	Record func(ctx context.Context) (*session.Record, error)
	Update func(ctx context.Context, change Change) (answer string, err error)
	// Runner is where skills run; nil where they do not.
	Runner *Runner
	// Sessions are the commands that go on between calls; nil where there are
	// none.
	Sessions *terminal.Table
	// Files returns what users attached to the messages of the last request;
	// it must not be changed. Nil is none.
	Files func() []core.File
	// Restricted says in one line what lists of allowed tools leave, "" if there
	// are none. Nil says nothing.
	Restricted func(*session.Record) string
	// Narrow: the call was let pass because a pattern is for its command, so the
	// names in it must not stand for what a command has left.
	Narrow bool
	// Interpreted: that pattern is for a script only as it is run by the
	// interpreter of its extension, and not for its path.
	Interpreted bool
	// Pin keeps a text for the session.
	Pin func(ctx context.Context, c catalog.Content) error
	// Emit reports an event; its Key is filled in.
	Emit func(ctx context.Context, e core.Event)
}

// shows reports whether the content of a delivery is really shown to the model.
func (s *Scope) shows(d *session.Delivery) bool {
	return !d.Old && !d.Spent && (s.Hidden == nil || !s.Hidden(d.Call))
}

func (s *Scope) showsBody(rec *session.Record, skill string) bool {
	return slices.ContainsFunc(rec.Deliveries, func(d session.Delivery) bool {
		return d.Skill == skill && d.Body && s.shows(&d)
	})
}

func (s *Scope) showsAny(rec *session.Record, skill string) bool {
	return slices.ContainsFunc(rec.Deliveries, func(d session.Delivery) bool { return d.Skill == skill && s.shows(&d) })
}

func (s *Scope) showsDoc(rec *session.Record, skill, doc string) bool {
	return slices.ContainsFunc(rec.Deliveries, func(d session.Delivery) bool {
		return d.Skill == skill && s.shows(&d) &&
			slices.ContainsFunc(d.Docs, func(x session.Doc) bool { return x.Name == doc && !x.Old })
	})
}

// Change makes the next record and the answer of the call that changes it.
type Change func(*session.Record) (next *session.Record, answer string, err error)
