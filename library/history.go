package library

import (
	"cmp"
	"context"
	"errors"
	"iter"
)

// History returns the versions of a skill, the newest first. A version that was pruned
// is left out.
func (l *Library) History(ctx context.Context, a Actor, ref Ref) iter.Seq2[Revision, error] {
	return func(yield func(Revision, error) bool) {
		v, err := l.view(ctx, a)
		if err == nil {
			var i *item
			if i, err = v.find(ctx, ref.Skill); err == nil {
				err = l.history(ctx, v, i, yield)
			}
		}
		if err != nil {
			yield(Revision{}, err)
		}
	}
}

func (l *Library) history(ctx context.Context, v *view, i *item, yield func(Revision, error) bool) error {
	if i.head == nil {
		return nil
	}
	if !v.owns(i.head) {
		if err := need(v.role, roleEditor, "reading the history", ""); err != nil {
			return err
		}
	}
	reviewed := map[int]string{}
	for after := int64(0); ; {
		entries, err := l.store.Entries(ctx, v.actor.Tenant, LogQuery{ID: i.id, After: after})
		if err != nil {
			return err
		}
		for _, e := range entries {
			if after = e.N; e.Action == actionReview && e.Outcome == "applied" {
				reviewed[e.To] = cmp.Or(e.Subject, "host")
			}
		}
		if len(entries) < maxEntries {
			break
		}
	}
	for n := i.head.Version; n > 0; n-- {
		r, err := l.store.Load(ctx, v.actor.Tenant, i.id, n)
		if errors.Is(err, ErrUnknown) {
			continue
		}
		if err != nil {
			return err
		}
		if r.ReviewedBy == "" {
			r.ReviewedBy = reviewed[n]
		}
		if !yield(r, nil) {
			return nil
		}
	}
	return nil
}

// Ref returns the versionRef of a revision.
func (r *Revision) Ref() string { return refOf(r.Version, r.Digest) }
