package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/typos"
	"github.com/satchel-go/satchel/skillmd"
)

const (
	maxSuggestions = 3
	// maxCompared bounds, in runes, how much of two names is compared. A valid
	// name has at most 64.
	maxCompared = 64
)

// suggestion is a name and how far it is from what was asked for.
type suggestion struct {
	name string
	cost int
}

// Suggest returns up to three names of visible skills that somebody who wrote
// name may have meant, the best first: names that differ in case, underscores
// or spaces only, then those with few typing errors (insertions, deletions,
// replacements and swapped neighbours, about one in three letters), then those
// that begin with name or begin it. The work is bounded for any name.
func (s *Snapshot) Suggest(name string) []string {
	if len(name) > maxCompared*utf8.UTFMax {
		name = name[:maxCompared*utf8.UTFMax]
	}
	want := fold(skillmd.CleanName(name))
	if len(want) == 0 {
		return nil
	}
	allowed := max(1, len(want)/3)
	var near []suggestion
	for _, skill := range s.skills {
		if skill.Hidden {
			continue
		}
		if cost, ok := cost(want, fold(skill.Name), allowed); ok {
			near = append(near, suggestion{skill.Name, cost})
		}
	}
	slices.SortFunc(near, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, n := range near[:min(len(near), maxSuggestions)] {
		names = append(names, n.name)
	}
	return names
}

// fold takes away the differences that people do not see as such, and cuts the
// name to what is compared.
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

// cost compares two folded names: the number of typing errors if allowed, else
// one more than that if one name begins with the other.
func cost(want, have []rune, allowed int) (int, bool) {
	if errs := typos.Distance(want, have, allowed+1); errs <= allowed && errs < max(len(want), len(have)) {
		return errs, true
	}
	short := min(len(want), len(have))
	if slices.Equal(want[:short], have[:short]) && (short >= 2 || short == len(want)) {
		return allowed + 1, true
	}
	return 0, false
}
