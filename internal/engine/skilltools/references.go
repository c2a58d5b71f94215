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

// refer adds to a text that is read for a load what its body names.
func (t *skillText) refer(ctx context.Context, s *Scope) error {
	if s.References == tools.ReferencesOff {
		return nil
	}
	if t.known == nil {
		var err error
		if t.known, err = s.Catalog().Docs(ctx, t.skill.Name); err != nil {
			return unreadable(ctx, err, "docs of %q cannot be listed", t.skill.Name)
		}
	}
	named := known(skilltext.Links(t.body.Text), t.known)
	if len(named) == 0 {
		return nil
	}
	var listing string
	if s.References == tools.ReferencesList {
		listing = listed(named)
	} else {
		var err error
		if listing, err = t.inline(ctx, s, named); err != nil {
			return err
		}
	}
	if listing == "" {
		return nil
	}
	t.listing = catalog.Content{Text: listing, Digest: session.Digest(listing)}
	return s.Pin(ctx, t.listing)
}

// Refer returns the docs that a load of a skill brings because its body names them. framed
// are the names of those that come with the body, without the ones in asked. listing is the
// digest of the text that follows the body, "" for none. The texts are pinned.
func (s *Scope) Refer(ctx context.Context, skill core.Skill, body catalog.Content, asked []string) (framed []string, listing string, err error) {
	t := skillText{skill: skill, body: body}
	for _, name := range asked {
		t.docs = append(t.docs, docText{name: name})
	}
	if err := t.refer(ctx, s); err != nil {
		return nil, "", err
	}
	for _, doc := range t.docs[len(asked):] {
		framed = append(framed, doc.name)
	}
	return framed, t.listing.Digest, nil
}

// listed lists the files that a body names.
func listed(named []string) string {
	more := ""
	if n := len(named) - maxListedRefs; n > 0 {
		named, more = named[:maxListedRefs], fmt.Sprintf("and %d more\n", n)
	}
	return "<skill_files>\n" + strings.Join(named, "\n") + "\n" + more + "</skill_files>"
}

// inline adds the named docs that fit, and returns a line about those that do not.
func (t *skillText) inline(ctx context.Context, s *Scope, named []string) (left string, err error) {
	var lines []string
	tokens := 0
	for _, name := range named {
		if slices.ContainsFunc(t.docs, func(d docText) bool { return d.name == name }) {
			continue
		}
		text, err := s.Catalog().DocOf(ctx, t.skill.Name, t.known, name)
		if err != nil {
			told := tools.ModelError("")
			if err = unreadable(ctx, err, "not included: %s", name); !errors.As(err, &told) {
				return "", err
			}
			lines = append(lines, string(told))
			continue
		}
		n := prompttext.Estimate(text.Text)
		if tokens+n > maxInlineTokens || t.framed == maxInlineRefs {
			lines = append(lines, fmt.Sprintf("not included (%d tokens): %s", n, name))
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
