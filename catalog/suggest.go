package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/search"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// suggestion is a name and its distance from the name that a caller wrote.
type suggestion struct {
	name string
	cost int
}

// Suggest returns up to three names of skills that are similar to name, the best first. Names
// that differ only in case, underscores or spaces come first. Then come names with few typing
// errors, at most one in three letters: insertions, deletions, replacements and swapped
// neighbours. Last come prefixes of name, and names that begin with it. It never suggests hidden
// skills.
func (s *Snapshot) Suggest(name string) []string {
	var names []string
	near, _ := s.similarNames(name)
	for _, n := range near[:min(len(near), maxSuggestions)] {
		names = append(names, n.name)
	}
	return names
}

// Suggest returns up to three names of skills that a caller may have meant by name. Names that
// are one typing error away come first. Then come skills that [Catalog.Search] finds for the
// words of name, then the names of [Snapshot.Suggest].
func (c *Catalog) Suggest(name string) []string {
	near, words := c.Snapshot().similarNames(name)
	var names, weak []string
	add := func(n string) {
		if len(names) < maxSuggestions && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, n := range near {
		if n.cost <= 1 {
			add(n.name)
		}
	}
	found, err := c.Search(context.Background(), Query{Phrasings: []string{string(words)}, Limit: maxSuggestions})
	if err != nil {
		found.Hits = nil // the catalog is closed
	}
	for _, h := range found.Hits {
		if h.Strong || sharesWord(words, fold(h.Skill.Name)) {
			add(h.Skill.Name)
		} else {
			weak = append(weak, h.Skill.Name)
		}
	}
	for _, n := range near {
		add(n.name)
	}
	if len(names) == 0 {
		return weak[:min(len(weak), maxSuggestions)]
	}
	return names
}

// sharesWord reports whether two folded names have a part in common.
func sharesWord(a, b []rune) bool {
	parts := strings.FieldsFunc(string(b), isSeparator)
	return slices.ContainsFunc(strings.FieldsFunc(string(a), isSeparator), func(part string) bool { return slices.Contains(parts, part) })
}

func isSeparator(r rune) bool { return r == '-' || r == ':' || r == '.' }

// similarNames returns the names that are spelled like name, the best first. want is name in the
// form of fold.
func (s *Snapshot) similarNames(name string) (near []suggestion, want []rune) {
	if len(name) > maxCompared*utf8.UTFMax {
		name = name[:maxCompared*utf8.UTFMax]
	}
	if want = fold(skilltext.CleanName(name)); len(want) == 0 {
		return nil, nil
	}
	allowed := max(1, len(want)/3)
	for _, skill := range s.skills {
		if skill.Hidden {
			continue
		}
		if cost, ok := cost(want, fold(skill.Name), allowed); ok {
			near = append(near, suggestion{skill.Name, cost})
		}
	}
	if at := strings.LastIndexByte(name, ':'); len(near) == 0 && at >= 0 { // without its qualifier
		return s.similarNames(name[at+1:])
	}
	slices.SortFunc(near, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	return near, want
}

// fold returns the first 64 letters of name in lower case, with hyphens for underscores and
// spaces.
func fold(name string) []rune {
	if len(name) > maxCompared*utf8.UTFMax {
		name = name[:maxCompared*utf8.UTFMax]
	}
	runes := []rune(strings.ToLower(name))
	for i, r := range runes {
		if r == '_' || r == ' ' {
			runes[i] = '-'
		}
	}
	return runes[:min(len(runes), maxCompared)]
}

// cost returns the number of typing errors between two folded names, if it is at most allowed.
// Otherwise it returns allowed+1 if one name begins with the other, and else false.
func cost(want, have []rune, allowed int) (int, bool) {
	if errs := search.Distance(want, have, allowed+1); errs <= allowed && errs < max(len(want), len(have)) {
		return errs, true
	}
	short := min(len(want), len(have))
	if slices.Equal(want[:short], have[:short]) && (short >= 2 || short == len(want)) {
		return allowed + 1, true
	}
	return 0, false
}
