package library

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/files/lazyfs"
	"github.com/satchel-go/satchel/skillmd"
)

// Source returns what is shared in a tenant as a source of skills: the skills of the
// database, and those of plugins with their overlays. Revisions are kept, so a skill
// can be opened as it was listed. Entry ids are canonical ids.
func (l *Library) Source(tenant string) source.Keeper {
	return l.SourceFor(Actor{Tenant: tenant})
}

// SourceFor is [Library.Source] with the private skills of an actor, and the plugins
// that he sees.
func (l *Library) SourceFor(a Actor) source.Keeper { return &tenantSource{library: l, actor: a} }

// sourceOfAll is [Library.Source] with the private skills of everybody and with all
// plugins. Who shows them to somebody asks [Library.shows] about each.
func (l *Library) sourceOfAll(tenant string) source.Keeper {
	return &tenantSource{library: l, actor: Actor{Tenant: tenant}, all: true}
}

// shows reports whether a skill that [Library.sourceOfAll] has listed is one of those
// that an actor is shown: by its canonical id, and without asking the store.
func (l *Library) shows(a Actor, id string) bool {
	if h := l.tenant(a.Tenant).head(id); h != nil && h.Plugin == "" {
		return h.Shared || h.Owner == a.Subject
	}
	rest, ok := strings.CutPrefix(id, "plugin:")
	name, _, _ := strings.Cut(rest, ":")
	return ok && slices.ContainsFunc(l.plugins, func(p *plugin) bool { return p.ID == name && p.shows(a) })
}

// separate reports whether an actor may see more or less of [Library.sourceOfAll] than one
// who owns nothing and sees every plugin.
func (l *Library) separate(a Actor) bool {
	return l.tenant(a.Tenant).owns(a.Subject) || slices.ContainsFunc(l.plugins, func(p *plugin) bool { return !p.shows(a) })
}

type tenantSource struct {
	library *Library
	actor   Actor
	all     bool // of everybody
}

func (s *tenantSource) view(ctx context.Context) (*view, error) {
	if s.all { // as it is served to others than its makers
		return s.library.viewAs(ctx, &view{library: s.library, actor: s.actor, role: roleViewer, all: true})
	}
	return s.library.view(ctx, s.actor)
}

// Scan implements catalog.Source.
func (s *tenantSource) Scan(ctx context.Context, prev *source.Listing) (*source.Listing, error) {
	v, err := s.view(ctx)
	if err != nil {
		return nil, err
	}
	next := &source.Listing{}
	for _, i := range v.items {
		if !v.lists(i) || i.head != nil && (i.head.State == stateArchived || i.head.State == stateDraft || i.overlaid() && v.served(i.head) == 0) {
			continue
		}
		e, err := s.entry(ctx, v, i, prev)
		if err != nil {
			if isStale(err) {
				continue
			}
			return nil, err
		}
		next.Entries = append(next.Entries, e)
		if i.overlaid() && i.base != nil && i.head.BaseDigest != i.base.digest {
			next.Diagnostics = append(next.Diagnostics, skillmd.Diagnostic{
				File: i.id, Code: codeOutdated, Severity: skillmd.Warning,
				Message: "the plugin has another text now than the one that was edited",
			})
		}
	}
	slices.SortFunc(next.Entries, func(a, b source.Entry) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(next.Diagnostics, func(a, b skillmd.Diagnostic) int { return strings.Compare(a.File, b.File) })
	if prev != nil && slices.EqualFunc(prev.Entries, next.Entries, func(a, b source.Entry) bool {
		return a.ID == b.ID && a.Revision == b.Revision
	}) && slices.Equal(prev.Diagnostics, next.Diagnostics) {
		return prev, nil
	}
	return next, nil
}

// entry lists a skill; what prev says of the same revision is taken over.
func (s *tenantSource) entry(ctx context.Context, v *view, i *item, prev *source.Listing) (source.Entry, error) {
	d, err := v.describe(ctx, i)
	if err != nil {
		return source.Entry{}, err
	}
	revision := revisionOf(&d)
	if prev != nil {
		if n, found := slices.BinarySearchFunc(prev.Entries, i.id, func(e source.Entry, id string) int { return strings.Compare(e.ID, id) }); found && prev.Entries[n].Revision == revision {
			return prev.Entries[n], nil
		}
	}
	sk, err := v.open(ctx, i, "")
	if err != nil {
		return source.Entry{}, err
	}
	return sk.entry(ctx)
}

// codeOutdated is the code of the diagnostic of an overlay whose plugin has another text now
// than the one that it edits.
const codeOutdated skillmd.Code = "overlay-outdated"

// unreviewedMark ends the revision of what no person has looked at.
const unreviewedMark = "-unreviewed"

// revisionOf is the revision of an entry. A review makes another one of it, because
// it changes what the skill may do.
func revisionOf(d *Descriptor) string {
	if d.Reviewed {
		return d.VersionRef
	}
	return d.VersionRef + unreviewedMark
}

// entry is the skill as a source lists it.
func (s *Skill) entry(ctx context.Context) (source.Entry, error) {
	text, err := s.Read(ctx, skillFile)
	if err != nil {
		return source.Entry{}, err
	}
	head := text
	if end := frontEnd(text); end > 0 {
		head = text[:end]
	}
	e := source.Entry{ID: s.ID, Revision: revisionOf(&s.Descriptor), Head: head[:min(len(head), maxHead)], Editable: true, Unreviewed: !s.Reviewed}
	for _, f := range s.Files {
		e.Files = append(e.Files, source.File{Path: f.Path, Size: f.Size, SHA256: f.Digest})
	}
	return e, nil
}

// at opens a skill at a revision that was listed. One that is gone is source.ErrGone.
func (s *tenantSource) at(ctx context.Context, id, revision string) (*Skill, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v, err := s.view(ctx)
	if err != nil {
		return nil, err
	}
	i, err := v.find(ctx, id)
	if err != nil {
		return nil, source.ErrGone
	}
	sk, err := v.open(ctx, i, strings.TrimSuffix(revision, unreviewedMark))
	if isOwn(err) {
		return nil, source.ErrGone
	}
	return sk, err
}

// Entry implements source.Keeper.
func (s *tenantSource) Entry(ctx context.Context, id, revision string) (source.Entry, error) {
	sk, err := s.at(ctx, id, revision)
	if err != nil {
		return source.Entry{}, err
	}
	return sk.entry(ctx)
}

// Open implements catalog.Source.
func (s *tenantSource) Open(ctx context.Context, id, revision string) (fs.FS, error) {
	sk, err := s.at(ctx, id, revision)
	if err != nil {
		return nil, err
	}
	files := make([]lazyfs.File, len(sk.Files))
	byPath := make(map[string]File, len(sk.Files))
	for i, f := range sk.Files {
		files[i], byPath[f.Path] = lazyfs.File{Path: f.Path, Size: f.Size, Executable: f.Executable}, f
	}
	return lazyfs.New(files, func(path string) ([]byte, error) { return sk.read(ctx, byPath[path]) }), nil
}

// Notify tells of changes of the library, if the store can.
func (s *tenantSource) Notify(f func()) (stop func()) {
	if n, ok := s.library.store.(source.Notifier); ok {
		return n.Notify(f)
	}
	return s.library.waiting.Add(f)
}
