package library

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/satchel-go/satchel/library/internal/textedit"
)

// Pending is a version that waits for a review.
type Pending struct {
	Descriptor // of this version
	Revision   Revision
	// From is the versionRef that Diff compares with: the last reviewed version, or else that of
	// the plugin. It is "" for a new skill.
	From string
	Diff Diff
}

// Pending returns the skills whose newest version no person has made or approved, the
// oldest first. Archived ones are left out. It is for hosts and commands.
func (l *Library) Pending(ctx context.Context, a Actor) iter.Seq2[Pending, error] {
	return func(yield func(Pending, error) bool) {
		v, err := l.view(ctx, a)
		if err == nil {
			err = need(v.role, roleMaintainer, "reading what waits for a review", "")
		}
		if err != nil {
			yield(Pending{}, err)
			return
		}
		var waiting []*item
		for _, i := range v.items {
			if h := i.head; i.overlaid() && h.State != stateArchived && h.Reviewed != h.Version {
				waiting = append(waiting, i)
			}
		}
		slices.SortFunc(waiting, func(a, b *item) int { return cmp.Or(a.head.Updated.Compare(b.head.Updated), cmp.Compare(a.id, b.id)) })
		for _, i := range waiting {
			p, err := v.pending(ctx, i)
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

func (v *view) pending(ctx context.Context, i *item) (p Pending, err error) {
	if p.Revision, err = v.library.store.Load(ctx, v.actor.Tenant, i.id, i.head.Version); err != nil {
		return p, err
	}
	now, err := v.newest(ctx, i)
	if err != nil {
		return p, err
	}
	p.Descriptor = now.Descriptor
	after, err := now.ReadAll(ctx)
	if err != nil {
		return p, err
	}
	version := ""
	switch {
	case i.head.Reviewed > 0:
		version = fmt.Sprintf("v%d", i.head.Reviewed)
	case i.base != nil:
		version = "base"
	}
	var before map[string][]byte
	if version != "" {
		from, err := v.open(ctx, i, version)
		if err != nil {
			return p, err
		}
		p.From = from.VersionRef
		if before, err = from.texts(ctx, after); err != nil {
			return p, err
		}
	}
	p.Diff = Diff(textedit.CompareFiles(before, after, skillFile))
	return p, nil
}
