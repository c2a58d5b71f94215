package skilltools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// addReferences adds the docs that the body names, or a list of them, to the text of a load.
func (t *skillText) addReferences(ctx context.Context, s *Scope) error {
	if s.References == tools.ReferencesOff {
		return nil
	}
	if t.known == nil {
		var err error
		if t.known, err = s.Catalog().Docs(ctx, t.skill.Name); err != nil {
			return readError(ctx, err, "docs of %q cannot be listed", t.skill.Name)
		}
	}
	named := knownDocs(skilltext.Links(t.body.Text), t.known)
	if len(named) == 0 {
		return nil
	}
	var listing string
	if s.References == tools.ReferencesList {
		var err error
		if listing, err = t.fileListing(ctx, s, named); err != nil {
			return err
		}
	} else {
		var err error
		if listing, err = t.addDocs(ctx, s, named); err != nil {
			return err
		}
	}
	if listing == "" {
		return nil
	}
	t.listing = catalog.Content{Text: listing, Digest: session.Digest(listing)}
	return s.Pin(ctx, t.listing)
}

// Refer returns the docs that a load of a skill delivers because its body names them, and pins
// their texts. framed are the names of these docs, without those in requested. listing is the
// digest of the text that follows the body, "" for none.
func (s *Scope) Refer(ctx context.Context, skill core.Skill, body catalog.Content, requested []string) (framed []string, listing string, err error) {
	t := skillText{skill: skill, body: body}
	for _, name := range requested {
		t.docs = append(t.docs, docText{name: name})
	}
	if err := t.addReferences(ctx, s); err != nil {
		return nil, "", err
	}
	for _, doc := range t.docs[len(requested):] {
		framed = append(framed, doc.name)
	}
	return framed, t.listing.Digest, nil
}

// fileListing returns the list of the files that a body names, with the sections of long docs.
func (t *skillText) fileListing(ctx context.Context, s *Scope, named []string) (string, error) {
	more := ""
	if n := len(named) - maxListedRefs; n > 0 {
		named, more = named[:maxListedRefs], fmt.Sprintf("and %d more\n", n)
	}
	if s.canSelectSections() {
		var err error
		if named, err = listedDocs(ctx, s.Catalog(), t.skill, t.known, named, maxListedHeadings); err != nil {
			return "", err
		}
	}
	return "<skill_files>\n" + strings.Join(named, "\n") + "\n" + more + "</skill_files>", nil
}

// canSelectSections reports whether the model can load docs by section. Vocabularies with another
// tool for loads have no docs.
func (s *Scope) canSelectSections() bool { return s.LoadToolName == "" }

// addDocs adds the named docs that fit, and returns lines about those that do not.
func (t *skillText) addDocs(ctx context.Context, s *Scope, named []string) (left string, err error) {
	var lines []string
	tokens, headings := 0, maxListedHeadings
	for _, name := range named {
		if slices.ContainsFunc(t.docs, func(d docText) bool { return d.name == name }) {
			continue
		}
		text, err := s.Catalog().DocOf(ctx, t.skill.Name, t.known, name)
		if err != nil {
			refused := tools.ModelError("")
			if err = readError(ctx, err, "not included: %s", name); !errors.As(err, &refused) {
				return "", err
			}
			lines = append(lines, string(refused))
			continue
		}
		n := prompttext.Estimate(text.Text)
		if tokens+n > maxInlineTokens || t.framed == maxInlineRefs {
			line := fmt.Sprintf("not included (%d tokens): %s", n, name)
			if sections := sectionNames(t.skill, name, text.Text); len(sections) > 0 && headings > 0 && s.canSelectSections() {
				sections = sections[:min(len(sections), headings)]
				line, headings = line+"; its sections: "+strings.Join(sections, ", "), headings-len(sections)
			}
			lines = append(lines, line)
			continue
		}
		tokens += n
		t.framed++
		if err := s.Pin(ctx, text); err != nil {
			return "", err
		}
		t.docs = append(t.docs, docText{name: name, content: text, framed: true})
	}
	return strings.Join(lines, "\n"), nil
}
