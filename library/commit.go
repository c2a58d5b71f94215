package library

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/satchel-go/satchel/skillmd"
)

// commit ends an edit: a dry run says what would be, an approval is compared, and the
// rest is one transaction.
func (l *Library) commit(ctx context.Context, v *view, e *Edit, m *made, out Outcome, files []File, blobs map[string][]byte, owner string) (Outcome, error) {
	a, now := v.actor, l.now()
	head := Head{ID: out.ID, Name: out.Name, Owner: owner, Shared: e.Private != nil && !*e.Private, Created: now}
	base := 0
	if i := m.item; i != nil {
		if i.head != nil {
			head, base = i.head.Head, i.head.Version
		} else {
			head = Head{ID: i.id, Plugin: i.base.plugin.ID, Name: i.base.skill.Name, Shared: true, Created: now}
		}
		if i.base != nil && (!i.overlaid() || e.Action == rebasing) {
			head.BaseDigest = i.base.digest
			packaged, err := v.openBase(i).ReadAll(ctx)
			if err != nil {
				return out, err
			}
			maps.Copy(blobs, baseBlobs(i.base.files, packaged))
		}
	}
	head.NameKey, head.State, head.Digest, head.Editor, head.Updated = skillmd.CleanName(head.Name), m.state, out.Digest, a.Subject, now
	head.Version = base + 1
	if text := m.files[skillFile]; text != nil {
		if end := frontEnd(text); end > 0 {
			head.Front = text[:end]
		}
	}
	out.VersionRef = refOf(head.Version, head.Digest)
	if e.Approval != nil && (e.Approval.Digest != out.Digest || e.Approval.Base != out.Previous || m.item != nil && e.Approval.ID != out.ID) {
		return out, approvedOther()
	}
	reviewer := l.reviewer(a, e, m, head)
	switch {
	case reviewer != "":
		head.Reviewed, head.Served = head.Version, head.Version
	case e.Held && v.role != Maintainer && head.Shared:
		// head.Served stays what it was
	default:
		head.Served = head.Version
	}
	if e.DryRun {
		out.Status = "dry_run"
		return out, nil
	}
	revision := Revision{
		ID: head.ID, Version: head.Version, Digest: head.Digest, BaseDigest: head.BaseDigest, Action: e.Action, Reason: e.Reason,
		Subject: a.Subject, Agent: a.Agent, ReviewedBy: reviewer, At: now, Files: files,
	}
	entry := l.entry(a, e.Action, head.ID, base, head.Version, "applied", e.Reason)
	_, err := l.store.Commit(ctx, Change{Tenant: a.Tenant, Head: &head, Base: base, Revision: &revision, Blobs: blobs, Entry: entry, Keep: l.keep})
	switch {
	case errors.Is(err, ErrNameTaken):
		return out, nameTaken(head.Name)
	case errors.Is(err, ErrConflict):
		return out, l.raced(ctx, a, out)
	case err != nil:
		return out, err
	}
	out.Status = "applied"
	if m.item != nil {
		out.Warnings = append(out.Warnings, "conversations that have loaded it keep the text that they have; run it again for the new one")
	}
	return out, nil
}

// reviewer is who has approved the very result: a person who made it, or one who was
// shown all of it. What a copy brings along waits for a review of its own: who allows a
// copy looks at a text of others, which he trusts because it is there.
func (l *Library) reviewer(a Actor, e *Edit, m *made, head Head) string {
	switch {
	case e.Action == Copy:
		return ""
	case e.Approval != nil && e.Approval.By != "":
		return e.Approval.By
	case !e.Model:
		return cmp.Or(a.Subject, "host")
	case e.Action == Archive && m.item != nil && head.Reviewed == head.Version-1:
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
