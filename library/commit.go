package library

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// commit ends an edit: a dry run says what would be, and the rest is one transaction.
func (l *Library) commit(ctx context.Context, v *view, e *Edit, m *made, out Outcome, files []File, blobs map[string][]byte, owner string) (Outcome, error) {
	p, err := l.prepared(ctx, v, e, m, out, files, blobs, owner)
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
func (l *Library) reviewer(a Actor, e *Edit, m *made, head Head, by string) string {
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
