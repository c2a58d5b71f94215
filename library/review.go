package library

import (
	"cmp"
	"context"
)

// Review records that the actor, a person, approves a version. Then its list of tools and its
// secrets count, and other actors load it. Only the newest version can be reviewed. It is for
// hosts and commands.
func (l *Library) Review(ctx context.Context, a Actor, ref Ref) (Descriptor, error) {
	d, err := l.review(ctx, a, ref)
	if err != nil {
		return Descriptor{}, l.refusal(ctx, a, actionReview, cmp.Or(d.ID, idIn(ref.Skill)), err)
	}
	return d, nil
}

func (l *Library) review(ctx context.Context, a Actor, ref Ref) (Descriptor, error) {
	v, err := l.view(ctx, a)
	if err != nil {
		return Descriptor{}, err
	}
	i, err := v.find(ctx, ref.Skill)
	if err != nil {
		return Descriptor{}, err
	}
	if err := need(v.role, roleMaintainer, "reviewing", ""); err != nil {
		return Descriptor{ID: i.id}, err
	}
	if !i.overlaid() {
		return v.describe(ctx, i)
	}
	s, err := v.newest(ctx, i)
	if err != nil {
		return Descriptor{ID: i.id}, err
	}
	if ref.Version != "" && !sameRef(ref.Version, s) {
		return Descriptor{ID: i.id}, refuse("conflict", ErrConflict, "the skill is at %s, not %s: only the newest version can be reviewed", s.VersionRef, ref.Version)
	}
	head := i.head.Head
	head.Reviewed, head.Served, head.Updated = head.Version, head.Version, l.now()
	entry := l.entry(a, actionReview, head.ID, head.Version, head.Version, "applied", "")
	stored, err := l.store.Commit(ctx, Change{Tenant: a.Tenant, Head: &head, Base: head.Version, Entry: entry})
	if err != nil {
		return Descriptor{ID: i.id}, err
	}
	l.listeners.Notify()
	i.head = &parsedHead{Head: stored, skill: i.head.skill}
	return v.describe(ctx, i)
}
