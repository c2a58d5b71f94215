package library

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/skillmd"
)

// Source returns what is shared in a tenant as a source of skills: the skills of the
// database, and those of plugins with their overlays. Revisions are kept, so a skill
// can be opened as it was listed. Entry ids are canonical ids.
func (l *Library) Source(tenant string) catalog.Source {
	return &source{library: l, actor: Actor{Tenant: tenant}}
}

type source struct {
	library *Library
	actor   Actor
}

// Scan implements catalog.Source.
func (s *source) Scan(ctx context.Context, prev *catalog.Listing) (*catalog.Listing, error) {
	v, err := s.library.view(ctx, s.actor)
	if err != nil {
		return nil, err
	}
	next := &catalog.Listing{}
	for _, i := range v.items {
		if !v.lists(i) || i.head != nil && (i.head.State == Archived || i.head.State == Draft || i.overlaid() && v.served(i.head) == 0) {
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
				File: i.id, Code: "overlay-outdated", Severity: skillmd.Warning,
				Message: "the plugin has another text now than the one that was edited",
			})
		}
	}
	slices.SortFunc(next.Entries, func(a, b catalog.Entry) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(next.Diagnostics, func(a, b skillmd.Diagnostic) int { return strings.Compare(a.File, b.File) })
	if prev != nil && slices.EqualFunc(prev.Entries, next.Entries, func(a, b catalog.Entry) bool {
		return a.ID == b.ID && a.Revision == b.Revision
	}) && slices.Equal(prev.Diagnostics, next.Diagnostics) {
		return prev, nil
	}
	return next, nil
}

func (s *source) entry(ctx context.Context, v *view, i *item, prev *catalog.Listing) (catalog.Entry, error) {
	sk := &Skill{}
	revision := ""
	if i.overlaid() {
		d, err := v.describe(ctx, i)
		if err != nil {
			return catalog.Entry{}, err
		}
		revision = d.VersionRef
		if !d.Reviewed {
			revision += "-unreviewed"
		}
	} else {
		revision = i.base.ref()
	}
	if prev != nil {
		if n, found := slices.BinarySearchFunc(prev.Entries, i.id, func(e catalog.Entry, id string) int { return strings.Compare(e.ID, id) }); found && prev.Entries[n].Revision == revision {
			return prev.Entries[n], nil
		}
	}
	var err error
	if sk, err = v.open(ctx, i, ""); err != nil {
		return catalog.Entry{}, err
	}
	text, err := sk.Read(ctx, skillFile)
	if err != nil {
		return catalog.Entry{}, err
	}
	head := text
	if end := skillmd.FrontMatterEnd(text); end > 0 {
		head = text[:end]
	}
	e := catalog.Entry{ID: i.id, Revision: revision, Head: head[:min(len(head), 64<<10)], Editable: true, Unreviewed: !sk.Reviewed}
	for _, f := range sk.Files {
		e.Files = append(e.Files, catalog.File{Path: f.Path, Size: f.Size, SHA256: f.Digest})
	}
	return e, nil
}

// Open implements catalog.Source.
func (s *source) Open(ctx context.Context, id, revision string) (fs.FS, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sk, err := s.library.open(ctx, s.actor, Ref{Skill: id, Version: strings.TrimSuffix(revision, "-unreviewed")}, true)
	if isOwn(err) {
		return nil, catalog.ErrGone
	}
	if err != nil {
		return nil, err
	}
	return newTree(ctx, sk), nil
}

// Notify tells of changes of the library, if the store can.
func (s *source) Notify(f func()) (stop func()) {
	if n, ok := s.library.store.(Notifier); ok {
		return n.Notify(f)
	}
	l := s.library
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.next
	l.next++
	l.told[n] = f
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.told, n)
	}
}
