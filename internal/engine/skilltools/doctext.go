package skilltools

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/callargs"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/search"
	"github.com/satchel-go/satchel/tools"
)

// readDocs reads and pins the named docs of a catalog that are listed. left says which docs
// are left out and why: single docs that cannot be read, or all of them if they
// are too large together.
func readDocs(ctx context.Context, s *Scope, from *catalog.Catalog, skill string, listed, names []string) (docs []docText, left []tools.ModelError, err error) {
	total := 0
	for _, name := range names {
		c, err := from.DocOf(ctx, skill, listed, name)
		if err != nil {
			err = unreadable(ctx, err, "doc %q of %q cannot be read", name, skill)
			told := tools.ModelError("")
			if !errors.As(err, &told) {
				return nil, nil, err
			}
			left = append(left, told)
			continue
		}
		if total += len(c.Text); total > maxDocBytes {
			return nil, []tools.ModelError{tools.ModelError(fmt.Sprintf("the docs of %q are more than %d bytes together: name those that you need", skill, maxDocBytes))}, nil
		}
		docs = append(docs, docText{name: name, content: c})
	}
	for _, doc := range docs {
		if err := s.Pin(ctx, doc.content); err != nil {
			return nil, nil, err
		}
	}
	return docs, left, nil
}

// leftOut adds to the answer which docs are left out.
func leftOut(r *reply, left []tools.ModelError) {
	for i, told := range left {
		if i == callargs.MaxNamed {
			r.after("error: %d more docs cannot be read", len(left)-i)
			return
		}
		r.after("error: %s", told)
	}
}

// pinnedDocs returns the docs as a record keeps them.
func pinnedDocs(docs []docText) []state.Doc {
	var pinned []state.Doc
	for _, d := range docs {
		pinned = append(pinned, state.Doc{Name: d.name, Digest: d.content.Digest, Framed: d.framed})
	}
	return pinned
}

// unknownDocs adds to the answer which of the named docs no skill of the call
// has.
func unknownDocs(r *reply, texts []skillText, docs []string) {
	unknown := 0
	for _, doc := range docs {
		if slices.ContainsFunc(texts, func(t skillText) bool { return slices.Contains(t.known, path.Clean(doc)) }) {
			continue
		}
		if unknown++; unknown <= callargs.MaxNamed {
			r.after("error: %s", unknownDoc(texts[0].skill.Name, doc, texts[0].known))
		}
	}
	if unknown > callargs.MaxNamed {
		r.after("error: %d more docs are unknown", unknown-callargs.MaxNamed)
	}
}

func unknownDoc(skill, doc string, known []string) tools.ModelError {
	has := "it has none"
	if len(known) > 0 {
		has = "its docs are " + jsonList(known, 40) + didYouMean(known, doc)
	}
	return tools.ModelError(fmt.Sprintf("skill %q has no doc %q; %s", skill, printable.Cut(doc, 200), has))
}

// didYouMean names the file that was most likely meant, or is "".
func didYouMean(files []string, asked string) string {
	like := search.NearestFile(files, asked)
	if like == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", printable.Cut(like, 200))
}

// known returns the cleaned names that are docs, in the order in which they were
// named.
func known(names, docs []string) []string {
	var out []string
	for _, n := range names {
		if n = path.Clean(n); slices.Contains(docs, n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
