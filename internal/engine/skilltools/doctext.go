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

// readDocs reads and pins the named docs of a skill. listed are all docs that the skill has.
// unreadable says which docs it leaves out and why: docs that cannot be read, or all if they are
// too large together.
func readDocs(ctx context.Context, s *Scope, from *catalog.Catalog, skill string, listed, names []string) (docs []docText, unreadable []tools.ModelError, err error) {
	total := 0
	for _, name := range names {
		c, err := from.DocOf(ctx, skill, listed, name)
		if err != nil {
			err = readError(ctx, err, "doc %q of %q cannot be read", name, skill)
			refused := tools.ModelError("")
			if !errors.As(err, &refused) {
				return nil, nil, err
			}
			unreadable = append(unreadable, refused)
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
	return docs, unreadable, nil
}

// addUnreadable adds to the answer which docs could not be read.
func addUnreadable(r *reply, unreadable []tools.ModelError) {
	for i, err := range unreadable {
		if i == callargs.MaxNamed {
			r.add("error: %d more docs cannot be read", len(unreadable)-i)
			return
		}
		r.add("error: %s", err)
	}
}

// pinnedDocs converts docs for a record.
func pinnedDocs(docs []docText) []state.Doc {
	var pinned []state.Doc
	for _, d := range docs {
		pinned = append(pinned, state.Doc{Name: d.name, Digest: d.content.Digest, Framed: d.framed})
	}
	return pinned
}

// addUnknownDocs adds to the answer which of the named docs no skill of the call has.
func addUnknownDocs(r *reply, texts []skillText, docs []string) {
	unknown := 0
	for _, doc := range docs {
		if slices.ContainsFunc(texts, func(t skillText) bool { return slices.Contains(t.known, path.Clean(doc)) }) {
			continue
		}
		if unknown++; unknown <= callargs.MaxNamed {
			r.add("error: %s", unknownDoc(texts[0].skill.Name, doc, texts[0].known))
		}
	}
	if unknown > callargs.MaxNamed {
		r.add("error: %d more docs are unknown", unknown-callargs.MaxNamed)
	}
}

func unknownDoc(skill, doc string, known []string) tools.ModelError {
	has := "it has none"
	if len(known) > 0 {
		has = "its docs are " + jsonList(known, 40) + suggestFile(known, doc)
	}
	return tools.ModelError(fmt.Sprintf("skill %q has no doc %q; %s", skill, printable.Cut(doc, 200), has))
}

// suggestFile names the file that was most likely meant, or returns "".
func suggestFile(files []string, name string) string {
	like := search.NearestFile(files, name)
	if like == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", printable.Cut(like, 200))
}

// knownDocs returns the cleaned names that are in docs, each once and in order.
func knownDocs(names, docs []string) []string {
	var cleaned []string
	for _, n := range names {
		if n = path.Clean(n); slices.Contains(docs, n) && !slices.Contains(cleaned, n) {
			cleaned = append(cleaned, n)
		}
	}
	return cleaned
}
