package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/tools"
)

// AgentOptions are the settings of [With].
type AgentOptions struct {
	// Tenant is the tenant whose skills the runtime serves. One runtime serves one tenant.
	Tenant string
	// Actor returns the actor of a session, whose private skills its agent sees too. With
	// replaces the Tenant of the actor, and satchel.WithAudience replaces its Allow. Actor is
	// called at each turn and each call, and with satchel.WithCatalog at each call only. Nil
	// is a viewer without a name.
	Actor func(ctx context.Context, key core.SessionKey) (Actor, error)
	// Edit is what edits need; the default is Ask.
	Edit EditMode
	// MaxEdits is the most edits between two messages of the user. 0 is 30, and below 0 there
	// is no bound.
	MaxEdits int
}

// rootName is the name of the catalog's root that shows the shared skills of a library.
const rootName = "library"

// The names of the tool that edits skills: among the tools of a profile, and in [Vocabulary].
const (
	nameStandard = "skill_update"
	nameUpdate   = "updateSkill"
)

// With returns an option of satchel.New that gives agents the skills of a library. The
// skills of folders stand first, then the tenant's shared skills and those of the library's
// plugins. Agents edit by skill_update, or by updateSkill of [Vocabulary]. The host closes
// the library's store. A runtime has one library.
func With(l *Library, o AgentOptions) satchel.Option {
	return satchel.WithExtension("library.With", func(host satchel.ExtensionHost) (satchel.Extension, error) {
		if l == nil || o.Edit > Never {
			return satchel.Extension{}, errors.New("no library, or an unknown mode of edits")
		}
		e := newEditor(l, o, host)
		x := satchel.Extension{Bind: e.bind}
		switch {
		case !host.HasVocabulary && o.Edit != Never:
			x.Operations = []tools.Operation{updateTool(nameStandard)}
		case host.HasVocabulary && o.Edit == Never:
			x.Omit = []string{nameUpdate}
		}
		if host.HasCatalog {
			return x, nil
		}
		x.Root, x.Audience = rootName, readers(e, host.Logger)
		if x.Source = l.Source(o.Tenant); o.Actor != nil {
			x.Source = l.sourceOfAll(o.Tenant)
		}
		return x, nil
	})
}

// newEditor returns what the tools of a runtime work with.
func newEditor(l *Library, o AgentOptions, host satchel.ExtensionHost) *editor {
	e := &editor{
		Library: l, Edit: o.Edit, MaxEdits: cmp.Or(o.MaxEdits, defaultEdits), Root: rootName,
		Actor: func(ctx context.Context, key core.SessionKey) (Actor, error) {
			var a Actor
			var err error
			if o.Actor != nil {
				a, err = o.Actor(ctx, key)
			}
			a.Tenant, a.Agent, a.Session, a.Allow = o.Tenant, key.Agent, key.Session, nil
			return a, err
		},
		Failed: func(ctx context.Context, err error) {
			host.Logger.ErrorContext(ctx, "the skill library does not answer", "error", err)
		},
	}
	if host.Audience != nil {
		e.Audience = func(ctx context.Context, key core.SessionKey) (func(core.Skill) bool, error) {
			a, err := host.Audience(ctx, key)
			return a.Allow, err
		}
	}
	return e
}

// readers returns the audience of those skills of a library that the actor is shown. Actors
// who own nothing share a key.
func readers(e *editor, log *slog.Logger) func(context.Context, core.SessionKey) satchel.Audience {
	return func(ctx context.Context, key core.SessionKey) satchel.Audience {
		actor, err := e.Actor(ctx, key)
		if err != nil { // a stranger, until it is known who acts
			log.WarnContext(ctx, "nobody says who acts, so private skills are not shown", "error", err)
			actor = Actor{Tenant: actor.Tenant}
		}
		who := "anybody"
		if e.Library.separate(actor) {
			who = fmt.Sprintf("%q %q %q", actor.Subject, actor.Agent, actor.Roles)
		}
		return satchel.Audience{Key: who, Allow: func(skill core.Skill) bool {
			return skill.Source != e.Root || e.Library.shows(actor, skill.ID)
		}}
	}
}

// guidance is the only text about skills in requests of [Vocabulary].
const guidance = "Skills are found, read and started with runSkill, and changed with updateSkill: inspect first, send patches, not whole texts. People also manage skills in other ways; you use these tools."

// Vocabulary returns two tools for everything that is done with skills, for agents that have a
// library by [With]. runSkill finds, reads and starts skills; updateSkill changes those of the
// library. Every answer is one JSON object.
func Vocabulary() tools.Vocabulary {
	return tools.Vocabulary{Name: "unified", Operations: []tools.Operation{runTool(), updateTool(nameUpdate)}, Guidance: guidance, Unlisted: true, Evicts: true}
}

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
	edits map[core.SessionKey]editCount
}

// editCount is how many edits a turn has made.
type editCount struct{ turn, edits int }

// spend counts an edit of a turn, and reports false where there were too many.
func (d *editor) spend(key core.SessionKey, turn int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.edits == nil || len(d.edits) > maxTurns {
		d.edits = map[core.SessionKey]editCount{}
	}
	s := d.edits[key]
	if s.turn != turn {
		s = editCount{turn: turn}
	}
	s.edits++
	d.edits[key] = s
	return d.MaxEdits < 1 || s.edits <= d.MaxEdits
}

type editorKey struct{}

// bind returns an operation of this package as it works with the editor: its calls have the
// editor in their context.
func (d *editor) bind(o tools.Operation) tools.Operation {
	call, prepare, refused := o.Call, o.Prepare, o.Refused
	o.Call = func(ctx context.Context, s *tools.Scope, args tools.Args) (string, error) {
		return call(context.WithValue(ctx, editorKey{}, d), s, args)
	}
	if refused != nil {
		o.Refused = func(ctx context.Context, s *tools.Scope, args tools.Args, err error) {
			refused(context.WithValue(ctx, editorKey{}, d), s, args, err)
		}
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
			actor.Allow = d.withPlaces(s, allow)
		}
	}
	if err != nil {
		text, err := d.failed(ctx, err, 0)
		return nil, actor, text, err
	}
	return d, actor, "", nil
}

// withPlaces asks about the skills of the library as the catalog does: with their place
// among all others.
func (d *editor) withPlaces(s *tools.Scope, allow func(core.Skill) bool) func(core.Skill) bool {
	places := map[string]core.Skill{}
	for _, skill := range s.Catalog().WithoutAudience().Snapshot().Skills() {
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
