package library

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/textedit"
)

// Restore makes a new version of an old one, whatever state the skill is in; version
// "base" is what is packaged with the plugin. It is for hosts and commands.
func (l *Library) Restore(ctx context.Context, a Actor, ref Ref, reason string) (Outcome, error) {
	e := &Edit{Action: Restoring, Skill: ref.Skill, Reason: reason}
	return l.again(ctx, a, e, func(v *view, i *item) (*made, error) {
		if ref.Version == "" && i.overlaid() {
			ref.Version = refOf(i.head.Version, i.head.Digest)
		}
		from, err := v.open(ctx, i, ref.Version)
		if err != nil {
			return nil, err
		}
		files, err := from.all(ctx)
		return &made{item: i, files: files, state: Active}, err
	})
}

// Rebase makes the edit of an outdated overlay anew on what the plugin has now, or
// changes nothing: the error is then that of the patch.
func (l *Library) Rebase(ctx context.Context, a Actor, ref Ref) (Outcome, error) {
	e := &Edit{Action: Rebasing, Skill: ref.Skill, Reason: "rebased on what the plugin has now"}
	return l.again(ctx, a, e, func(v *view, i *item) (*made, error) {
		if i.base == nil || !i.overlaid() || i.head.State != Active {
			return nil, refused("%s has no overlay", i.id)
		}
		now, err := v.openBase(i).all(ctx)
		if err != nil {
			return nil, err
		}
		head, err := v.newest(ctx, i)
		if err != nil {
			return nil, err
		}
		edited, err := head.all(ctx)
		if err != nil {
			return nil, err
		}
		packaged, err := l.baseOf(ctx, a.Tenant, i.head.BaseDigest)
		if err != nil {
			return nil, err
		}
		files, err := rebase(packaged, edited, now)
		if err != nil {
			return nil, err
		}
		return &made{item: i, files: files, state: Active}, nil
	})
}

// rebase makes on now the changes that lead from packaged to edited.
func rebase(packaged, edited, now map[string][]byte) (map[string][]byte, error) {
	files := maps.Clone(now)
	for _, name := range slices.Sorted(maps.Keys(edited)) {
		text, was := edited[name], packaged[name]
		switch {
		case string(text) == string(was):
		case string(now[name]) == string(was):
			files[name] = text
		default:
			d := textedit.Compare(string(was), string(text), name)
			done, err := textedit.ApplyDiff(string(now[name]), d.Unified, name)
			var f *textedit.Failure
			if errors.As(err, &f) {
				return nil, refuse(string(f.Code), ErrInvalid, "%s: %s", name, f.Text)
			}
			files[name] = []byte(done.Text)
		}
	}
	return files, nil
}

// baseBlobs are what is kept of the text below a new overlay: its files, and the list
// of them under its digest.
func baseBlobs(files []File, texts map[string][]byte) map[string][]byte {
	blobs := map[string][]byte{digestOf(files): listingOf(files)}
	for _, data := range texts {
		blobs[sumOf(data)] = data
	}
	return blobs
}

// baseOf returns the files below an overlay as they were when it was made.
func (l *Library) baseOf(ctx context.Context, tenant, digest string) (map[string][]byte, error) {
	listing, err := l.store.Blob(ctx, tenant, digest)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for line := range strings.Lines(string(listing)) {
		name, sum, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
		if !ok {
			continue
		}
		if files[name], err = l.store.Blob(ctx, tenant, sum); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// again commits a version that is made of others.
func (l *Library) again(ctx context.Context, a Actor, e *Edit, files func(*view, *item) (*made, error)) (Outcome, error) {
	v, err := l.view(ctx, a)
	if err != nil {
		return Outcome{}, err
	}
	i, err := v.find(e.Skill)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Action: e.Action, ID: i.id, Name: i.name()}
	if err := v.allowed(i, Restoring); err != nil {
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
	if out.Diagnostics, err = l.judge(ctx, e, head, m); err != nil {
		return out, err
	}
	listed, blobs := filesAndBlobs(m.files, head.Files)
	out.Digest = digestOf(listed)
	before, err := head.texts(ctx, m.files)
	if err != nil {
		return out, err
	}
	out.Diff = compareFiles(before, m.files)
	if out, err = l.commit(ctx, v, e, m, out, listed, blobs, ""); err == nil {
		l.changed()
	}
	return out, err
}

// Review approves a version as a person: its list of tools and its secrets count, and
// others load it. Only the newest version can be reviewed. It is for hosts and
// commands.
func (l *Library) Review(ctx context.Context, a Actor, ref Ref) (Descriptor, error) {
	v, err := l.view(ctx, a)
	if err != nil {
		return Descriptor{}, err
	}
	i, err := v.find(ref.Skill)
	if err != nil {
		return Descriptor{}, err
	}
	if err := need(v.role, Maintainer, "reviewing", ""); err != nil {
		return Descriptor{}, err
	}
	if !i.overlaid() {
		return v.describe(ctx, i)
	}
	s, err := v.newest(ctx, i)
	if err != nil {
		return Descriptor{}, err
	}
	if ref.Version != "" && !sameRef(ref.Version, s) {
		return Descriptor{}, refuse("conflict", ErrConflict, "the skill is at %s, not %s: only the newest version can be reviewed", s.VersionRef, ref.Version)
	}
	head := i.head.Head
	head.Reviewed, head.Served, head.Updated = head.Version, head.Version, l.now()
	entry := l.entry(a, Reviewing, head.ID, head.Version, head.Version, "applied", "")
	stored, err := l.store.Commit(ctx, Change{Tenant: a.Tenant, Head: &head, Base: head.Version, Entry: entry})
	if err != nil {
		return Descriptor{}, err
	}
	l.changed()
	i.head = &known{Head: stored, skill: i.head.skill}
	return v.describe(ctx, i)
}

// Grant gives a subject a role; it replaces the one that he was granted before. It is
// for hosts and commands.
func (l *Library) Grant(ctx context.Context, a Actor, subject string, role Role) error {
	have, err := l.roleOf(ctx, a)
	if err != nil {
		return err
	}
	if err := need(have, Maintainer, "granting roles", ""); err != nil {
		return err
	}
	if role, err = ParseRole(string(role)); err != nil {
		return err
	}
	if subject == "" {
		return invalid("subject is missing")
	}
	_, err = l.store.Commit(ctx, Change{
		Tenant: a.Tenant, Grant: &Grant{subject, role},
		Entry: l.entry(a, Granting, "", 0, 0, "applied", subject+": "+string(role)),
	})
	return err
}

// Log returns entries of the audit.
func (l *Library) Log(ctx context.Context, a Actor, q LogQuery) ([]Entry, error) {
	have, err := l.roleOf(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := need(have, Maintainer, "reading the log", ""); err != nil {
		return nil, err
	}
	return l.store.Entries(ctx, a.Tenant, q)
}

// History returns the versions of a skill, the newest first. A version that was pruned
// is left out.
func (l *Library) History(ctx context.Context, a Actor, ref Ref) iter.Seq2[Revision, error] {
	return func(yield func(Revision, error) bool) {
		v, err := l.view(ctx, a)
		if err == nil {
			var i *item
			if i, err = v.find(ref.Skill); err == nil {
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
		if err := need(v.role, Editor, "reading the history", ""); err != nil {
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
			if after = e.N; e.Action == Reviewing && e.Outcome == "applied" {
				reviewed[e.To] = cmp.Or(e.Subject, "host")
			}
		}
		if len(entries) < DefaultEntries {
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

// Diff returns the difference of two versions, of one skill or of two.
func (l *Library) Diff(ctx context.Context, a Actor, from, to Ref) (Diff, error) {
	x, err := l.Inspect(ctx, a, from)
	if err != nil {
		return Diff{}, err
	}
	y, err := l.Inspect(ctx, a, to)
	if err != nil {
		return Diff{}, err
	}
	before, err := x.all(ctx)
	if err != nil {
		return Diff{}, err
	}
	after, err := y.all(ctx)
	if err != nil {
		return Diff{}, err
	}
	return compareFiles(before, after), nil
}

// DiffFiles returns the difference of two skills' files.
func DiffFiles(before, after map[string][]byte) Diff { return compareFiles(before, after) }

// ReadAll returns all files of a skill by their paths.
func (s *Skill) ReadAll(ctx context.Context) (map[string][]byte, error) { return s.all(ctx) }

// Import adds a skill of a person: shared and reviewed, unless Edit.Private says
// otherwise. It is for hosts and commands.
func (l *Library) Import(ctx context.Context, a Actor, name string, files map[string][]byte, private bool, reason string) (Outcome, error) {
	return l.Edit(ctx, a, Edit{Action: Importing, Name: name, Files: files, Private: &private, Reason: reason})
}
