package library

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/files/lazyfs"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// Source returns the shared skills of a tenant as a source: those of the database, and those of
// plugins with their overlays. Old revisions of skills can be opened too. Entry ids are canonical
// ids.
func (l *Library) Source(tenant string) source.RevisionSource {
	return l.SourceFor(Actor{Tenant: tenant})
}

// SourceFor is [Library.Source] for an actor: with the actor's private skills, and only the
// plugins that the actor sees.
func (l *Library) SourceFor(a Actor) source.RevisionSource {
	return &tenantSource{library: l, actor: a}
}

// sourceOfAll is [Library.Source] with all private skills and all plugins. A caller that shows one
// of them to an actor must check [Library.isShownTo] first.
func (l *Library) sourceOfAll(tenant string) source.RevisionSource {
	return &tenantSource{library: l, actor: Actor{Tenant: tenant}, isForAll: true}
}

// isShownTo reports whether an actor may see a skill of [Library.sourceOfAll]. id is its canonical
// id. isShownTo does not read the store.
func (l *Library) isShownTo(a Actor, id string) bool {
	if h := l.tenant(a.Tenant).head(id); h != nil && h.Plugin == "" {
		return h.Shared || h.Owner == a.Subject
	}
	rest, ok := strings.CutPrefix(id, "plugin:")
	name, _, _ := strings.Cut(rest, ":")
	return ok && slices.ContainsFunc(l.plugins, func(p *plugin) bool { return p.ID == name && p.isShownTo(a) })
}

// hasOwnView reports whether an actor may see other skills of [Library.sourceOfAll] than an actor
// who owns nothing and sees every plugin.
func (l *Library) hasOwnView(a Actor) bool {
	return l.tenant(a.Tenant).owns(a.Subject) || slices.ContainsFunc(l.plugins, func(p *plugin) bool { return !p.isShownTo(a) })
}

type tenantSource struct {
	library  *Library
	actor    Actor
	isForAll bool // set by sourceOfAll
}

func (s *tenantSource) view(ctx context.Context) (*view, error) {
	if s.isForAll { // as it is served to others than its makers
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

// entry returns the entry of a skill: that in prev if it is of the same revision.
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

// codeOutdated says that a plugin was upgraded after an overlay had been made from its text.
const codeOutdated skillmd.Code = "overlay-outdated"

// unreviewedMark ends the revision of an entry that no person has reviewed.
const unreviewedMark = "-unreviewed"

// revisionOf returns the revision of an entry. A review changes it, because it changes what the
// skill may do.
func revisionOf(d *Descriptor) string {
	if d.Reviewed {
		return d.VersionRef
	}
	return d.VersionRef + unreviewedMark
}

// entry returns the entry with which a source lists the skill.
func (s *Skill) entry(ctx context.Context) (source.Entry, error) {
	text, err := s.Read(ctx, skillFile)
	if err != nil {
		return source.Entry{}, err
	}
	head := text
	if end := skilltext.WholeFrontMatterEnd(text); end > 0 {
		head = text[:end]
	}
	e := source.Entry{ID: s.ID, Revision: revisionOf(&s.Descriptor), Head: head[:min(len(head), maxHead)], Editable: true, Unreviewed: !s.Reviewed}
	for _, f := range s.Files {
		e.Files = append(e.Files, source.File{Path: f.Path, Size: f.Size, SHA256: f.Digest})
	}
	return e, nil
}

// openRevision opens a skill at a revision that Scan has listed. The error is source.ErrGone if
// the skill or the revision does not exist any more.
func (s *tenantSource) openRevision(ctx context.Context, id, revision string) (*Skill, error) {
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

// Entry implements source.RevisionSource.
func (s *tenantSource) Entry(ctx context.Context, id, revision string) (source.Entry, error) {
	sk, err := s.openRevision(ctx, id, revision)
	if err != nil {
		return source.Entry{}, err
	}
	return sk.entry(ctx)
}

// Open implements catalog.Source.
func (s *tenantSource) Open(ctx context.Context, id, revision string) (fs.FS, error) {
	sk, err := s.openRevision(ctx, id, revision)
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

// Notify implements source.Notifier. Edits by this library are reported before they return. Other
// changes are reported if the store reports changes.
func (s *tenantSource) Notify(f func()) (stop func()) {
	stopOwn := s.library.listeners.Add(f)
	n, ok := s.library.store.(source.Notifier)
	if !ok {
		return stopOwn
	}
	stopStore := n.Notify(f)
	return func() {
		stopOwn()
		stopStore()
	}
}
