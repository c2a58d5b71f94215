package library

import (
	"context"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/tools"
)

// EditMode says what edits of skills need.
type EditMode uint8

// The modes.
const (
	Ask   EditMode = iota // each edit but a dry run is a question
	Allow                 // lists and roles decide
	Never                 // the tool is not offered
)

// editor is what the tools work with; see [editor.bind].
type editor struct {
	// Library holds the skills.
	Library *Library
	// Actor says who acts in a session.
	Actor func(ctx context.Context, key core.SessionKey) (Actor, error)
	// Audience says which skills an agent is shown, those of the library among them; nil,
	// or a nil function, allows all.
	Audience func(ctx context.Context, key core.SessionKey) (allow func(core.Skill) bool, err error)
	// Edit says when a person is asked about an edit.
	Edit EditMode
	// MaxEdits bounds the applied edits of one user turn; below 1 nothing does.
	MaxEdits int
	// Root is the name of the catalog's root that shows the library: its skills are
	// not listed twice.
	Root string
	// Failed, if set, is called when the store fails.
	Failed func(ctx context.Context, err error)

	mu    sync.Mutex
	edits map[core.SessionKey]spent
}

// spent is how many edits a turn has made.
type spent struct{ turn, edits int }

// spend counts an edit of a turn, and reports false where there were too many.
func (d *editor) spend(key core.SessionKey, turn int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.edits == nil || len(d.edits) > maxTurns {
		d.edits = map[core.SessionKey]spent{}
	}
	s := d.edits[key]
	if s.turn != turn {
		s = spent{turn: turn}
	}
	s.edits++
	d.edits[key] = s
	return d.MaxEdits < 1 || s.edits <= d.MaxEdits
}

type editorKey struct{}

// bind returns an operation of this package as it works with the editor: its calls have the
// editor in their context.
func (d *editor) bind(o tools.Operation) tools.Operation {
	call, prepare := o.Call, o.Prepare
	o.Call = func(ctx context.Context, s *tools.Scope, args tools.Args) (string, error) {
		return call(context.WithValue(ctx, editorKey{}, d), s, args)
	}
	if prepare != nil {
		o.Prepare = func(ctx context.Context, s *tools.Scope, args tools.Args) (*tools.Prepared, error) {
			return prepare(context.WithValue(ctx, editorKey{}, d), s, args)
		}
	}
	return o
}

// editorOf returns what a call works with, and the answer where there is nothing.
func editorOf(ctx context.Context, s *tools.Scope) (*editor, Actor, string, error) {
	d, ok := ctx.Value(editorKey{}).(*editor)
	if !ok || d == nil || d.Library == nil {
		return nil, Actor{}, fail("unavailable", "there is no skill library"), nil
	}
	actor, err := d.Actor(ctx, s.Key())
	if err == nil && d.Audience != nil {
		var allow func(core.Skill) bool
		if allow, err = d.Audience(ctx, s.Key()); allow != nil {
			actor.Allow = d.placed(s, allow)
		}
	}
	if err != nil {
		text, err := d.failed(ctx, err, 0)
		return nil, actor, text, err
	}
	return d, actor, "", nil
}

// placed asks about the skills of the library as the catalog does: with their place
// among all others.
func (d *editor) placed(s *tools.Scope, allow func(core.Skill) bool) func(core.Skill) bool {
	places := map[string]core.Skill{}
	for _, skill := range s.Catalog().Whole().Snapshot().Skills() {
		places[skill.ID] = skill
	}
	return func(skill core.Skill) bool {
		at, ok := places[skill.ID]
		if !ok { // the catalog shows no drafts, and what is new a moment later
			at = core.Skill{Source: d.Root, Scope: core.ScopeUser, Qualified: core.ScopeUser.String() + ":" + skill.Name}
		}
		skill.Source, skill.Scope, skill.Qualified = at.Source, at.Scope, at.Qualified
		skill.Place, skill.Location = at.Place, at.Location
		return allow(skill)
	}
}
