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
	// Actor returns the actor of a session. The agent sees the actor's private skills too. The
	// Tenant and the Allow of the result are not used: they are those of this struct and of
	// satchel.WithAudience. Each turn and each tool call calls Actor; with satchel.WithCatalog
	// only each tool call. Nil is a viewer without a name.
	Actor func(ctx context.Context, key core.SessionKey) (Actor, error)
	// Edit says what edits need; the default is Ask.
	Edit EditMode
	// MaxEdits is the most edits in one user turn. 0 is 30; a negative number is no bound.
	MaxEdits int
}

// rootName is the name of the catalog's root that shows the shared skills of a library.
const rootName = "library"

// The names of the tool that edits skills: the first in a profile, the second in [Vocabulary].
const (
	nameStandard = "skill_update"
	nameUpdate   = "updateSkill"
)

// With returns an option of satchel.New that gives agents the skills of a library. Skills of
// folders rank first, then the tenant's shared skills and those of the library's plugins. Agents
// edit with the tool skill_update, or with updateSkill of [Vocabulary]. The host closes the
// library's store. A runtime can have one library.
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
		x.Root, x.Audience = rootName, audienceOf(e, host.Logger)
		if x.Source = l.Source(o.Tenant); o.Actor != nil {
			x.Source = l.sourceOfAll(o.Tenant)
		}
		return x, nil
	})
}

// newEditor returns the editor of a runtime.
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

// audienceOf returns the function that hides the skills of the library that the actor of a session
// may not see. Actors without private skills share a key.
func audienceOf(e *editor, log *slog.Logger) func(context.Context, core.SessionKey) satchel.Audience {
	return func(ctx context.Context, key core.SessionKey) satchel.Audience {
		actor, err := e.Actor(ctx, key)
		if err != nil { // an actor without a name sees only shared skills
			log.WarnContext(ctx, "nobody says who acts, so private skills are not shown", "error", err)
			actor = Actor{Tenant: actor.Tenant}
		}
		who := "anybody"
		if e.Library.hasOwnView(actor) {
			who = fmt.Sprintf("%q %q %q", actor.Subject, actor.Agent, actor.Roles)
		}
		return satchel.Audience{Key: who, Allow: func(skill core.Skill) bool {
			return skill.Source != e.Root || e.Library.isShownTo(actor, skill.ID)
		}}
	}
}

// guidance is the only text about skills in requests of [Vocabulary].
const guidance = "Skills are found, read and started with runSkill, and changed with updateSkill: inspect first, send patches, not whole texts. People also manage skills in other ways; you use these tools."

// Vocabulary returns a set of two tools for agents with a library ([With]). runSkill finds, reads
// and starts skills; updateSkill changes those of the library. Every answer is one JSON object.
func Vocabulary() tools.Vocabulary {
	return tools.Vocabulary{Name: "unified", Operations: []tools.Operation{runTool(), updateTool(nameUpdate)}, Guidance: guidance, Unlisted: true, Evicts: true}
}

// EditMode says what edits of skills need.
type EditMode uint8

// The modes.
const (
	Ask   EditMode = iota // a person is asked about each edit, except dry runs
	Allow                 // permission lists and roles decide
	Never                 // agents have no tool to edit
)

// editor holds the settings and the state of the tools of one runtime. [editor.bind] passes it to
// their calls.
type editor struct {
	Library *Library
	// Actor returns the actor of a session.
	Actor func(ctx context.Context, key core.SessionKey) (Actor, error)
	// Audience returns which skills, of the library and of folders, an agent may see. Nil, or a
	// nil function, allows all.
	Audience func(ctx context.Context, key core.SessionKey) (allow func(core.Skill) bool, err error)
	// Edit says when a person is asked about an edit.
	Edit EditMode
	// MaxEdits is the most applied edits of one user turn; below 1 there is no bound.
	MaxEdits int
	// Root is the name of the catalog's root with the library. The tools leave out its skills
	// when they list those of folders.
	Root string
	// Failed, if set, is called when the store fails.
	Failed func(ctx context.Context, err error)

	mu    sync.Mutex
	edits map[core.SessionKey]editCount
}

// editCount counts the edits of a turn.
type editCount struct{ turn, edits int }

// spend counts an edit of a turn. It returns false if the turn has made too many.
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

// bind returns the operation o with the editor in the context of its calls.
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
		o.Prepare = func(ctx context.Context, s *tools.Scope, args tools.Args) (*tools.PreparedChange, error) {
			return prepare(context.WithValue(ctx, editorKey{}, d), s, args)
		}
	}
	return o
}

// editorOf returns the editor and the actor of a call. If there is no library, or it does not
// answer, the text is the answer of the call.
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

// withPlaces returns the function that calls allow with the fields that only the catalog knows:
// source, scope, qualified name and location.
func (d *editor) withPlaces(s *tools.Scope, allow func(core.Skill) bool) func(core.Skill) bool {
	places := map[string]core.Skill{}
	for _, skill := range s.Catalog().WithoutAudience().Snapshot().Skills() {
		places[skill.ID] = skill
	}
	return func(skill core.Skill) bool {
		at, ok := places[skill.ID]
		if !ok { // a draft, or a skill that the catalog has not listed yet
			at = core.Skill{Source: d.Root, Scope: core.ScopeUser, Qualified: core.ScopeUser.String() + ":" + skill.Name}
		}
		skill.Source, skill.Scope, skill.Qualified = at.Source, at.Scope, at.Qualified
		skill.Place, skill.Location = at.Place, at.Location
		return allow(skill)
	}
}
