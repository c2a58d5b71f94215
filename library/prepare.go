package library

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/satchel-go/satchel/skillmd"
)

// Prepared is an edit that is ready to be committed: a person can be shown it first.
// [Library.Prepare] returns one.
type Prepared struct {
	// Outcome says what the edit would do. Its Status is "dry_run", or "unchanged" where
	// the edit changes nothing. It is zero where the edit is refused.
	Outcome Outcome

	actor Actor
	edit  *Edit
	role  Role // of the actor
	made  *made
	// change is what is committed, without its time, its reviewer and its entry; without a
	// Head nothing is.
	change Change
	err    error // why the edit is refused
}

// Prepare makes an edit ready without a change of the library: [Library.Commit] commits
// it, and [Library.Denied] notes that a person said no. An error of type [Error] says that
// the edit is refused; Commit of the result, which is nil for all other errors, enters that
// into the audit.
func (l *Library) Prepare(ctx context.Context, a Actor, e Edit) (*Prepared, error) {
	p := &Prepared{actor: a, edit: shortened(&e)}
	e.DryRun, e.prepared = true, p
	out, err := l.edit(ctx, a, &e)
	if _, own := errors.AsType[*Error](err); err != nil && !own {
		return nil, err
	}
	p.Outcome, p.err = out, err
	return p, err
}

// shortened cuts the reason of an edit to its bound.
func shortened(e *Edit) *Edit {
	e.Reason = storable(e.Reason)
	if utf8.RuneCountInString(e.Reason) > maxReason {
		e.Reason = string([]rune(e.Reason)[:maxReason])
	}
	return e
}

// Commit makes exactly the change that was prepared. It fails with [ErrConflict] where
// the skill has changed since, and with [ErrRole] where the actor may do less than then. By
// is the person who has seen the whole difference. For "" the result stays unreviewed, as a
// copy always does. Commit a Prepared once.
func (l *Library) Commit(ctx context.Context, p *Prepared, by string) (Outcome, error) {
	out, err := p.Outcome, p.err
	if err == nil && p.change.Head != nil {
		if err = l.holds(ctx, p); err == nil {
			out, err = l.save(ctx, p, by)
		}
	}
	return l.audited(ctx, p.actor, p.edit, out, err)
}

// holds returns an error if a prepared change is not allowed any more, or if the store
// cannot tell that it was made for another text.
func (l *Library) holds(ctx context.Context, p *Prepared) error {
	role, err := l.roleOf(ctx, p.actor)
	if err != nil {
		return err
	}
	if err := need(role, p.role, "the change that was approved", ""); err != nil {
		return err
	}
	i := p.made.item
	if i == nil || i.base == nil || i.overlaid() { // the store compares the version
		return nil
	}
	packaged, err := l.packaged(ctx, func(plugin *plugin) bool { return plugin.shows(p.actor) })
	if err != nil {
		return err
	}
	if now := packaged[i.id]; now == nil || now.digest != i.base.digest {
		return refuse("conflict", ErrConflict, "the change that was approved is for another text: the plugin has changed. Inspect the skill and make the change anew.")
	}
	return nil
}

// save commits a change in one transaction. by has approved it, "" for no person.
func (l *Library) save(ctx context.Context, p *Prepared, by string) (Outcome, error) {
	a, e, out, now := p.actor, p.edit, p.Outcome, l.now()
	change, head := p.change, p.change.Head
	reviewer := l.reviewer(a, e, p.made, *head, by)
	switch {
	case reviewer != "":
		head.Reviewed, head.Served = head.Version, head.Version
	case e.Held && p.role != Maintainer && head.Shared:
		// head.Served stays what it was
	default:
		head.Served = head.Version
	}
	head.Updated, change.Revision.At, change.Revision.ReviewedBy = now, now, reviewer
	change.Entry = l.entry(a, e.Action, head.ID, change.Base, head.Version, "applied", e.Reason)
	_, err := l.store.Commit(ctx, change)
	out.ID = head.ID
	switch {
	case errors.Is(err, ErrNameTaken):
		return out, nameTaken(head.Name)
	case errors.Is(err, ErrConflict):
		return out, l.conflictAfterRace(ctx, a, out)
	case err != nil:
		return out, err
	}
	out.Status = "applied"
	if p.made.item != nil {
		out.Warnings = append(out.Warnings, "conversations that have loaded it keep the text that they have; run it again for the new one")
	}
	return out, nil
}

// prepared fills p with the change of an edit, all but what only its commit knows.
func (l *Library) prepared(ctx context.Context, v *view, e *Edit, m *made, out Outcome, files []File, blobs map[string][]byte, owner string) (*Prepared, error) {
	p := e.prepared
	if p == nil {
		p = &Prepared{}
	}
	*p = Prepared{actor: v.actor, edit: e, role: v.role, made: m}
	head := Head{ID: out.ID, Name: out.Name, Owner: owner, Shared: e.Private != nil && !*e.Private, Created: l.now()}
	base := 0
	if i := m.item; i != nil {
		if i.head != nil {
			head, base = i.head.Head, i.head.Version
		} else {
			head = Head{ID: i.id, Plugin: i.base.plugin.ID, Name: i.base.skill.Name, Shared: true, Created: l.now()}
		}
		if i.base != nil && (!i.overlaid() || e.Action == rebasing) {
			head.BaseDigest = i.base.digest
			packaged, err := v.openBase(i).ReadAll(ctx)
			if err != nil {
				return nil, err
			}
			for name, data := range baseBlobs(i.base.files, packaged) {
				blobs[name] = data
			}
		}
	}
	head.NameKey, head.State, head.Digest, head.Editor = skillmd.CleanName(head.Name), m.state, out.Digest, v.actor.Subject
	head.Version = base + 1
	if text := m.files[skillFile]; text != nil {
		if end := frontEnd(text); end > 0 {
			head.Front = text[:end]
		}
	}
	out.VersionRef = refOf(head.Version, head.Digest)
	p.Outcome = out
	p.change = Change{
		Tenant: v.actor.Tenant, Head: &head, Base: base, Blobs: blobs, Keep: l.keep,
		Revision: &Revision{
			ID: head.ID, Version: head.Version, Digest: head.Digest, BaseDigest: head.BaseDigest, Action: e.Action, Reason: e.Reason,
			Subject: v.actor.Subject, Agent: v.actor.Agent, Files: files,
		},
	}
	return p, nil
}
