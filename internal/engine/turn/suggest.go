package turn

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// Suggesting returns the activation of an agent that suggests skills, at most most; 0 means 3. Such an
// agent loads the skills that a message names in words.
func Suggesting(most int) Activation {
	return Activation{Words: true, Suggestions: cmp.Or(most, defaultSuggestions)}
}

// Suggested returns the skills that the first message of a conversation suggests. There are none if
// the message names skills, because these load.
func (a *Activation) Suggested(ctx context.Context, c *catalog.Catalog, text string) ([]string, error) {
	mentioned, denied := a.mentionedSkills(c.Snapshot(), text)
	if a.Suggestions == 0 || len(mentioned) > 0 || strings.TrimSpace(text) == "" {
		return nil, nil
	}
	names, _, err := a.likelySkills(ctx, c, new(state.Record), text, denied)
	return names, err
}

// likelySkills returns the skills that text most likely needs and that are not loaded. denied are
// skills that the user does not want. byWords is the error because of which the search did not use
// its embedder.
func (a *Activation) likelySkills(ctx context.Context, c *catalog.Catalog, rec *state.Record, text string, denied []string) (names []string, byWords, err error) {
	found, err := c.Search(ctx, catalog.Query{
		Phrasings: Phrasings(text), Messages: true, Recent: rec.LoadedLately(), Limit: a.Suggestions + len(rec.Active) + len(denied),
	})
	if err != nil {
		return nil, nil, err
	}
	isNamed := false
	for _, h := range found.Hits {
		if slices.Contains(denied, h.Skill.Name) {
			continue
		}
		if isNamed = isNamed || h.Explicit; isNamed && !h.Explicit {
			break // where the user names skills, no other is meant
		}
		if h.Strong && rec.Find(h.Skill.Name) == nil && len(names) < a.Suggestions {
			names = append(names, h.Skill.Name)
		}
	}
	return names, found.ByWords, nil
}

// Phrasings returns text, or the beginning and the end of a long text. Users write their
// request before or after a text that they paste.
func Phrasings(text string) []string {
	text = strings.TrimSpace(text)
	first, last := 0, len(text)
	for n := 0; n < maxSearched && first < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[first:])
		first += size
	}
	for n := 0; n < maxSearched && last > first; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:last])
		last -= size
	}
	if first == len(text) {
		return []string{text}
	}
	// A word that is cut at the front of the end is left out.
	if space := strings.IndexFunc(text[last:], unicode.IsSpace); last > first && space >= 0 {
		last += space
	}
	return []string{text[:first], text[last:]}
}
