package library

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/library/internal/textedit"
)

// Rebase applies the edits of an outdated overlay to the installed version of the plugin. If they
// do not apply, Rebase changes nothing and returns the error of the patch.
func (l *Library) Rebase(ctx context.Context, a Actor, ref Ref) (Outcome, error) {
	e := &Edit{Action: actionRebase, Skill: ref.Skill, Reason: "rebased on what the plugin has now"}
	return l.commitVersion(ctx, a, e, func(v *view, i *item) (*editResult, error) {
		if i.base == nil || !i.overlaid() || i.head.State != stateActive {
			return nil, refused("%s has no overlay", i.id)
		}
		now, err := v.openBase(i).ReadAll(ctx)
		if err != nil {
			return nil, err
		}
		head, err := v.newest(ctx, i)
		if err != nil {
			return nil, err
		}
		edited, err := head.ReadAll(ctx)
		if err != nil {
			return nil, err
		}
		packaged, err := l.baseOf(ctx, a.Tenant, i.head.BaseDigest)
		if err != nil {
			return nil, err
		}
		files, err := l.rebase(packaged, edited, now)
		if err != nil {
			return nil, err
		}
		return &editResult{item: i, files: files, state: stateActive}, nil
	})
}

// rebase returns now with the changes from packaged to edited.
func (l *Library) rebase(packaged, edited, now map[string][]byte) (map[string][]byte, error) {
	files := maps.Clone(now)
	for _, name := range slices.Sorted(maps.Keys(edited)) {
		text, was := edited[name], packaged[name]
		switch {
		case string(text) == string(was):
		case string(now[name]) == string(was):
			files[name] = text
		default:
			d := textedit.Compare(string(was), string(text), name)
			done, err := textedit.ApplyDiff(string(now[name]), 0, d.Unified, l.limits.of(name), name)
			if f, ok := errors.AsType[*textedit.Failure](err); ok {
				return nil, refuse(string(f.Code), ErrInvalid, "%s: %s", name, f.Text)
			}
			files[name] = []byte(done.Text)
		}
	}
	return files, nil
}

// baseBlobs returns the blobs that a new overlay keeps of the plugin's text: its files, and their
// list under its digest.
func baseBlobs(files []File, texts map[string][]byte) map[string][]byte {
	blobs := map[string][]byte{digestOf(files): listingOf(files)}
	for _, data := range texts {
		blobs[sumOf(data)] = data
	}
	return blobs
}

// baseOf returns the files of the plugin from which an overlay was made.
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
