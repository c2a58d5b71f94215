package skilltools

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/callargs"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/search"
	"github.com/satchel-go/satchel/tools"
)

// docsRead are the docs and sections that a call names, and why some of them are left out.
type docsRead struct {
	docs       []docText
	unreadable []tools.ModelError // docs that cannot be read, or all if they are too large together
	noHeading  map[string]tools.ModelError
}

// readDocs reads and pins the named docs and sections of a skill. listed are all docs that the
// skill has.
func readDocs(ctx context.Context, s *Scope, from *catalog.Catalog, skill core.Skill, listed []string, refs []docRef) (docsRead, error) {
	var read docsRead
	total, sections := 0, 0
	for _, ref := range refs {
		if ref.isSection {
			sections++
		}
		if sections > maxSections {
			return docsRead{unreadable: []tools.ModelError{tools.ModelError(fmt.Sprintf("a call may name at most %d sections: name whole docs", maxSections))}}, nil
		}
		doc, err := readRefOf(ctx, from, skill, listed, ref)
		if missing, ok := errors.AsType[unknownHeading](err); ok {
			if read.noHeading == nil {
				read.noHeading = map[string]tools.ModelError{}
			}
			read.noHeading[ref.asked] = missing.ModelError
			continue
		}
		if refused, ok := errors.AsType[tools.ModelError](err); ok {
			read.unreadable = append(read.unreadable, refused)
			continue
		}
		if err != nil {
			return docsRead{}, err
		}
		if slices.ContainsFunc(read.docs, func(d docText) bool { return d.name == doc.name }) {
			continue // named by its text and by its anchor
		}
		if total += len(doc.content.Text); total > maxDocBytes {
			return docsRead{unreadable: []tools.ModelError{tools.ModelError(fmt.Sprintf("the docs of %q are more than %d bytes together: name those that you need", skill.Name, maxDocBytes))}}, nil
		}
		read.docs = append(read.docs, doc)
	}
	for _, doc := range read.docs {
		if err := s.Pin(ctx, doc.content); err != nil {
			return docsRead{}, err
		}
	}
	return read, nil
}

// readRefOf reads one doc or section. Errors for the model are an unknownHeading or a
// [tools.ModelError].
func readRefOf(ctx context.Context, from *catalog.Catalog, skill core.Skill, listed []string, ref docRef) (docText, error) {
	c, err := from.DocOf(ctx, skill.Name, listed, ref.doc)
	switch {
	case err != nil:
		return docText{}, readError(ctx, err, "doc %q of %q cannot be read", ref.doc, skill.Name)
	case ref.isSection:
		return section(skill, ref, c)
	}
	return docText{name: ref.doc, content: c}, nil
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
		pinned = append(pinned, state.Doc{Name: d.name, Digest: d.content.Digest, Framed: d.framed, Place: d.place})
	}
	return pinned
}

// addUnknownDocs adds to the answer which of the named docs and sections no skill of the call has.
func addUnknownDocs(r *reply, texts []skillText, docs []string) {
	unknown := 0
	for _, doc := range docs {
		var err tools.ModelError
		if slices.ContainsFunc(texts, func(t skillText) bool {
			_, has := refOf(doc, t.known)
			missing, noHeading := t.noHeading[doc]
			if noHeading {
				err = missing
			}
			return has && !noHeading
		}) {
			continue
		}
		if err == "" {
			err = unknownDoc(texts[0].skill.Name, doc, texts[0].known)
		}
		if unknown++; unknown <= callargs.MaxNamed {
			r.add("error: %s", err)
		}
	}
	if unknown > callargs.MaxNamed {
		r.add("error: %d more docs are unknown", unknown-callargs.MaxNamed)
	}
}

func unknownDoc(skill, doc string, known []string) tools.ModelError {
	has := "it has none"
	if len(known) > 0 {
		file, _, _ := strings.Cut(doc, "#")
		has = "its docs are " + jsonList(known, 40) + suggestFile(known, file)
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
