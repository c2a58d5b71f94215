package library

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// ListQuery says which skills [Library.List] returns.
type ListQuery struct {
	Source string // "db" or "plugin"; "" is both
	// All includes drafts and archived skills.
	All bool
}

// List returns the skills of an actor, sorted by name and then by id. It includes hidden ones;
// their Descriptor.ModelInvocation is false.
func (l *Library) List(ctx context.Context, a Actor, q ListQuery) ([]Descriptor, error) {
	v, err := l.view(ctx, a)
	if err != nil {
		return nil, err
	}
	return v.list(ctx, q)
}

// chooses reports whether a query chooses a skill of the view.
func (v *view) chooses(q ListQuery, i *item) bool {
	shown := v.lists(i)
	if q.All {
		shown = shown || v.sees(i) && i.head != nil && i.head.State == stateArchived && (i.head.Shared || v.owns(i.head))
	} else if shown && i.head != nil && i.head.State == stateDraft {
		shown = false
	}
	return shown && (q.Source != "db" || i.base == nil) && (q.Source != "plugin" || i.base != nil)
}

// list returns the skills of a view that match a query, sorted by name and then by id.
func (v *view) list(ctx context.Context, q ListQuery) ([]Descriptor, error) {
	out := []Descriptor{}
	for _, i := range v.items {
		if !v.chooses(q, i) {
			continue
		}
		d, err := v.describe(ctx, i)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Descriptor) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return out, nil
}
