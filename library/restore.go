package library

import (
	"cmp"
	"context"

	"github.com/satchel-go/satchel/library/internal/textedit"
)

// Restore commits an old version of a skill as its new one, in any state of the skill. Version
// "base" is the version in the plugin. It is for hosts and commands.
func (l *Library) Restore(ctx context.Context, a Actor, ref Ref, reason string) (Outcome, error) {
	e := &Edit{Action: actionRestore, Skill: ref.Skill, Reason: reason}
	return l.commitVersion(ctx, a, e, func(v *view, i *item) (*editResult, error) {
		if ref.Version == "" && i.overlaid() {
			ref.Version = refOf(i.head.Version, i.head.Digest)
		}
		from, err := v.open(ctx, i, ref.Version)
		if err != nil {
			return nil, err
		}
		files, err := from.ReadAll(ctx)
		return &editResult{item: i, files: files, state: stateActive}, err
	})
}

// commitVersion commits the files that function files returns as a new version, and records a
// refusal in the audit. Restore and Rebase use it.
func (l *Library) commitVersion(ctx context.Context, a Actor, e *Edit, files func(*view, *item) (*editResult, error)) (Outcome, error) {
	out, err := l.buildVersion(ctx, a, e, files)
	if err != nil {
		return out, l.refusal(ctx, a, e.Action, cmp.Or(out.ID, idIn(e.Skill)), err)
	}
	l.listeners.Notify()
	return out, nil
}

func (l *Library) buildVersion(ctx context.Context, a Actor, e *Edit, files func(*view, *item) (*editResult, error)) (Outcome, error) {
	v, err := l.view(ctx, a)
	if err != nil {
		return Outcome{}, err
	}
	i, err := v.find(ctx, e.Skill)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Action: e.Action, ID: i.id, Name: i.name()}
	if err := v.checkRole(i, actionRestore); err != nil {
		return out, err
	}
	head, err := v.newest(ctx, i)
	if err != nil {
		return out, err
	}
	out.Previous = head.VersionRef
	m, err := files(v, i)
	if err != nil {
		return out, err
	}
	if out.Diagnostics, err = l.judge(e, head, m); err != nil {
		return out, err
	}
	listed, blobs := filesAndBlobs(m.files, head.Files)
	out.Digest = digestOf(listed)
	before, err := head.texts(ctx, m.files)
	if err != nil {
		return out, err
	}
	out.Diff = Diff(textedit.CompareFiles(before, m.files, skillFile))
	return l.commit(ctx, v, e, m, out, listed, blobs, "")
}
