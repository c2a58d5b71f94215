package library

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// preparedEdit is an edit that is ready to be committed, so that a person can be shown it
// first. [Library.prepareEdit] returns one.
type preparedEdit struct {
	// Outcome is what the edit would do. Its Status is "dry_run", or "unchanged" if the edit
	// changes nothing. It is zero if the edit is refused.
	Outcome Outcome

	actor Actor
	edit  *Edit
	role  Role // of the actor
	made  *editResult
	// change is what is committed, without its time, its reviewer and its entry; without a
	// Head nothing is.
	change Change
	err    error // why the edit is refused
}

// prepareEdit prepares an edit and changes nothing: [Library.commitEdit] commits it, and
// [Library.deny] enters into the audit that a person said no. An error of type [Error] means
// that the edit is refused; commitEdit then enters that into the audit. For all other errors
// the result is nil.
func (l *Library) prepareEdit(ctx context.Context, a Actor, e Edit) (*preparedEdit, error) {
	p := &preparedEdit{actor: a, edit: shortenReason(&e)}
	e.DryRun, e.prepared = true, p
	out, err := l.edit(ctx, a, &e)
	if _, own := errors.AsType[*Error](err); err != nil && !own {
		return nil, err
	}
	p.Outcome, p.err = out, err
	return p, err
}

// shortenReason cuts the reason of an edit to its bound.
func shortenReason(e *Edit) *Edit {
	e.Reason = storable(e.Reason)
	if utf8.RuneCountInString(e.Reason) > maxReason {
		e.Reason = string([]rune(e.Reason)[:maxReason])
	}
	return e
}

// commitEdit makes exactly the change that was prepared. It fails with [ErrConflict] if the
// skill has changed since, and with [ErrRole] if the actor may do less than then. by is the
// person who has seen the whole difference. For "" the result stays unreviewed, as a copy
// always does. An edit is committed once.
func (l *Library) commitEdit(ctx context.Context, p *preparedEdit, by string) (Outcome, error) {
	out, err := p.Outcome, p.err
	if err == nil && p.change.Head != nil {
		if err = l.holds(ctx, p); err == nil {
			out, err = l.save(ctx, p, by)
		}
	}
	return l.auditOutcome(ctx, p.actor, p.edit, out, err)
}

// holds returns an error if a prepared change is not allowed any more, or if the store
// cannot tell that it was made for another text.
func (l *Library) holds(ctx context.Context, p *preparedEdit) error {
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
	packaged, err := l.packagedSkills(ctx, func(plugin *plugin) bool { return plugin.shows(p.actor) })
	if err != nil {
		return err
	}
	if now := packaged[i.id]; now == nil || now.digest != i.base.digest {
		return refuse("conflict", ErrConflict, "the change that was approved is for another text: the plugin has changed. Inspect the skill and make the change again.")
	}
	return nil
}

// save commits a change in one transaction. by has approved it, "" for no person.
func (l *Library) save(ctx context.Context, p *preparedEdit, by string) (Outcome, error) {
	a, e, out, now := p.actor, p.edit, p.Outcome, l.now()
	change, head := p.change, p.change.Head
	reviewer := l.reviewer(a, e, p.made, *head, by)
	switch {
	case reviewer != "":
		head.Reviewed, head.Served = head.Version, head.Version
	case e.Held && p.role != roleMaintainer && head.Shared:
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

// fillPrepared fills p with the change of an edit, all but what only its commit knows.
func (l *Library) fillPrepared(ctx context.Context, v *view, e *Edit, m *editResult, out Outcome, files []File, blobs map[string][]byte, owner string) (*preparedEdit, error) {
	p := e.prepared
	if p == nil {
		p = &preparedEdit{}
	}
	*p = preparedEdit{actor: v.actor, edit: e, role: v.role, made: m}
	head := Head{ID: out.ID, Name: out.Name, Owner: owner, Shared: e.Private != nil && !*e.Private, Created: l.now()}
	base := 0
	if i := m.item; i != nil {
		if i.head != nil {
			head, base = i.head.Head, i.head.Version
		} else {
			head = Head{ID: i.id, Plugin: i.base.plugin.ID, Name: i.base.skill.Name, Shared: true, Created: l.now()}
		}
		if i.base != nil && (!i.overlaid() || e.Action == actionRebase) {
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
	head.NameKey, head.State, head.Digest, head.Editor = skilltext.CleanName(head.Name), m.state, out.Digest, v.actor.Subject
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

// commit ends an edit: a dry run says what would be, and the rest is one transaction.
func (l *Library) commit(ctx context.Context, v *view, e *Edit, m *editResult, out Outcome, files []File, blobs map[string][]byte, owner string) (Outcome, error) {
	p, err := l.fillPrepared(ctx, v, e, m, out, files, blobs, owner)
	switch {
	case err != nil:
		return out, err
	case e.DryRun:
		p.Outcome.Status = "dry_run"
		return p.Outcome, nil
	}
	return l.save(ctx, p, "")
}

// reviewer is who has approved the very result: a person who made it, or by, who was
// shown all of it; "" for none. What a copy brings along waits for a review of its own: who allows a
// copy looks at a text of others, which he trusts because it is there.
func (l *Library) reviewer(a Actor, e *Edit, m *editResult, head Head, by string) string {
	switch {
	case e.Action == actionCopy:
		return ""
	case by != "":
		return by
	case !e.Model:
		return cmp.Or(a.Subject, "host")
	case e.Action == actionArchive && m.item != nil && head.Reviewed == head.Version-1:
		return cmp.Or(a.Subject, "host") // the text is the same
	}
	return ""
}

// filesAndBlobs lists files, keeping what is known of those of before, and returns the
// texts that are new.
func filesAndBlobs(files map[string][]byte, before []File) ([]File, map[string][]byte) {
	var listed []File
	blobs := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := files[name]
		f := File{Path: name, Digest: sumOf(data), Size: int64(len(data))}
		for _, old := range before {
			if old.Path == name {
				f.Executable = old.Executable
			}
		}
		listed = append(listed, f)
		if !slices.ContainsFunc(before, func(old File) bool { return old.Digest == f.Digest }) {
			blobs[f.Digest] = data // others are kept already
		}
	}
	return listed, blobs
}
