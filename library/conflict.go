package library

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/library/internal/textedit"
)

// conflict returns the error for an edit of an old version. from is that version, or nil if it is
// not kept; head is the current one.
func (l *Library) conflict(ctx context.Context, v *view, i *item, from, head *Skill, expected string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := refuse("conflict", ErrConflict, "the skill is at %s, not %s: it was changed. Inspect it and make the change anew.", head.VersionRef, printable.Cut(expected, 40))
	if head.Version > 0 {
		r, err := l.store.Load(ctx, v.actor.Tenant, i.id, head.Version)
		if err != nil {
			return err
		}
		e.Message = fmt.Sprintf("the skill is at %s, not %s: it was changed by %s (%q). Inspect it and make the change anew.", head.VersionRef, printable.Cut(expected, 40), r.Subject, r.Reason)
	}
	e.VersionRef = head.VersionRef
	if from == nil {
		return e
	}
	after, err := head.ReadAll(ctx)
	if err != nil {
		return err
	}
	before, err := from.texts(ctx, after)
	if err != nil {
		return err
	}
	e.ChangedSince = textedit.CompareFiles(before, after, skillFile).Numbered
	return e
}

// conflictAfterRace builds the error for an edit that lost to a concurrent writer.
func (l *Library) conflictAfterRace(ctx context.Context, a Actor, out Outcome) error {
	v, err := l.view(ctx, a)
	if err != nil {
		return err
	}
	i, err := v.find(ctx, out.ID)
	if err != nil {
		return err
	}
	head, err := v.newest(ctx, i)
	if err != nil {
		return err
	}
	from, err := v.open(ctx, i, out.Previous)
	if err != nil {
		from = nil
	}
	return l.conflict(ctx, v, i, from, head, out.Previous)
}
