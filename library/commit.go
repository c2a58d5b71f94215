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

// preparedEdit is an edit that is ready to be committed. So a person can see it before.
// [Library.prepareEdit] returns one.
type preparedEdit struct {
	// Outcome is what the edit would do. Its Status is "dry_run", or "unchanged" if the edit
	// changes nothing. It is zero if the edit is refused.
	Outcome Outcome

	actor  Actor
	edit   *Edit
	role   Role // of the actor
	result *editResult
	// change is the change to commit, without its time, its reviewer and its entry. If it has no
	// Head, there is nothing to commit.
	change Change
	err    error // why the edit is refused
}

// prepareEdit prepares an edit and changes nothing. [Library.commitEdit] commits it, and
// [Library.deny] records that a person refused it. An error of type [Error] means that a rule
// refuses the edit; commitEdit then records that. For all other errors the result is nil.
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
	e.Reason = storableText(e.Reason)
	if utf8.RuneCountInString(e.Reason) > maxReason {
		e.Reason = string([]rune(e.Reason)[:maxReason])
	}
	return e
}

// commitEdit commits exactly the prepared change; call it once. It fails with [ErrConflict] if the
// skill has changed since, and with [ErrRole] if the actor has lost the role. by is the person who
// has seen the whole difference. If by is "", the result stays unreviewed, as a copy always does.
func (l *Library) commitEdit(ctx context.Context, p *preparedEdit, by string) (Outcome, error) {
	out, err := p.Outcome, p.err
	if err == nil && p.change.Head != nil {
		if err = l.checkPrepared(ctx, p); err == nil {
			out, err = l.save(ctx, p, by)
		}
	}
	return l.auditOutcome(ctx, p.actor, p.edit, out, err)
}

// checkPrepared returns an error if the actor has lost the role for a prepared change. It also
// does if the plugin's text has changed, because the store compares only versions of heads.
func (l *Library) checkPrepared(ctx context.Context, p *preparedEdit) error {
	role, err := l.roleOf(ctx, p.actor)
	if err != nil {
		return err
	}
	if err := need(role, p.role, "the change that was approved", ""); err != nil {
		return err
	}
	i := p.result.item
	if i == nil || i.base == nil || i.overlaid() { // the store compares the version
		return nil
	}
	packaged, err := l.packagedSkills(ctx, func(plugin *plugin) bool { return plugin.isShownTo(p.actor) })
	if err != nil {
		return err
	}
	if now := packaged[i.id]; now == nil || now.digest != i.base.digest {
		return refuse("conflict", ErrConflict, "the change that was approved is for another text: the plugin has changed. Inspect the skill and make the change again.")
	}
	return nil
}

// save commits a prepared change in one transaction. by is the person who has approved it, or "".
func (l *Library) save(ctx context.Context, p *preparedEdit, by string) (Outcome, error) {
	a, e, out, now := p.actor, p.edit, p.Outcome, l.now()
	change, head := p.change, p.change.Head
	reviewer := l.reviewer(a, e, p.result, *head, by)
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
	if p.result.item != nil {
		out.Warnings = append(out.Warnings, "conversations that have loaded it keep the text that they have; run it again for the new one")
	}
	return out, nil
}

// fillPrepared returns the prepared edit, without the fields that only save knows. If e.prepared is
// set, it fills that.
func (l *Library) fillPrepared(ctx context.Context, v *view, e *Edit, m *editResult, out Outcome, files []File, blobs map[string][]byte, owner string) (*preparedEdit, error) {
	p := e.prepared
	if p == nil {
		p = &preparedEdit{}
	}
	*p = preparedEdit{actor: v.actor, edit: e, role: v.role, result: m}
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
		if end := skilltext.WholeFrontMatterEnd(text); end > 0 {
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

// commit commits the result of an edit in one transaction, or returns its outcome for a dry run.
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

// reviewer returns the person who has approved the result of an edit: its author, or by, who has
// seen all of it. It returns "" for none. A copy always needs a review of its own, because a person
// who allows a copy may not have read the text of others.
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

// filesAndBlobs returns the list of files, and the texts that before does not have, by digest. A
// file keeps the mode that it has in before.
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
