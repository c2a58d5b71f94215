package tools

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/session"
)

// maxDocBytes bounds the docs that one call brings into view, in bytes.
const maxDocBytes = 1 << 20

// readDocs reads and pins docs. left says which are left out and why: one that
// cannot be read, or all of them where they are too much together.
func readDocs(ctx context.Context, s *Scope, skill string, names []string) (docs []docText, left []tell, err error) {
	total := 0
	for _, name := range names {
		c, err := s.Catalog.Doc(ctx, skill, name)
		if err != nil {
			err = unreadable(ctx, err, "doc %q of %q cannot be read", name, skill)
			told := tell("")
			if !errors.As(err, &told) {
				return nil, nil, err
			}
			left = append(left, told)
			continue
		}
		if total += len(c.Text); total > maxDocBytes {
			return nil, []tell{tell(fmt.Sprintf("the docs of %q are more than %d bytes together: name those that you need", skill, maxDocBytes))}, nil
		}
		docs = append(docs, docText{name, c})
	}
	for _, doc := range docs {
		if err := s.Pin(ctx, doc.content); err != nil {
			return nil, nil, err
		}
	}
	return docs, left, nil
}

// leftOut says which docs are left out.
func leftOut(r *reply, left []tell) {
	for i, told := range left {
		if i == maxNamed {
			r.after("error: %d more docs cannot be read", len(left)-i)
			return
		}
		r.after("error: %s", told)
	}
}

// deliverDocs adds to d those docs that are not in view with the same text, and
// returns their names. It changes rec where an earlier text of one is listed.
func (s *Scope) deliverDocs(rec *session.Record, d *session.Delivery, docs []docText) (added []string) {
	for _, doc := range docs {
		digest, listed := rec.DocIn(d.Skill, doc.name)
		if listed && digest == doc.content.Digest && s.showsDoc(rec, d.Skill, doc.name) {
			continue
		}
		switch {
		case listed && s.showsDoc(rec, d.Skill, doc.name):
			rec.SupersedeDoc(d.Skill, doc.name)
			d.Supersedes = true
		case listed:
			rec.DropDoc(d.Skill, doc.name) // what nobody sees can go at once
		}
		d.Docs = append(d.Docs, session.Doc{Name: doc.name, Digest: doc.content.Digest})
		added = append(added, doc.name)
	}
	return added
}

// unknownDocs says which of the named docs no skill of the call has.
func unknownDocs(r *reply, texts []skillText, docs []string) {
	unknown := 0
	for _, doc := range docs {
		if slices.ContainsFunc(texts, func(t skillText) bool { return slices.Contains(t.known, cleanPath(doc)) }) {
			continue
		}
		if unknown++; unknown <= maxNamed {
			r.after("error: %s", unknownDoc(texts[0].skill.Name, doc, texts[0].known))
		}
	}
	if unknown > maxNamed {
		r.after("error: %d more docs are unknown", unknown-maxNamed)
	}
}

func unknownDoc(skill, doc string, known []string) tell {
	has := "it has none"
	if len(known) > 0 {
		has = "its docs are " + jsonList(known, 40)
	}
	return tell(fmt.Sprintf("skill %q has no doc %q; %s", skill, cut(doc, 200), has))
}

// known returns the cleaned names that are docs, in the order asked for.
func known(names, docs []string) []string {
	var out []string
	for _, n := range names {
		if n = cleanPath(n); slices.Contains(docs, n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// cleanPath brings a path that a model wrote to the catalog's form: "./x.md"
// and "x.md" are the same file.
func cleanPath(p string) string {
	return strings.TrimPrefix(path.Clean(p), "./")
}
