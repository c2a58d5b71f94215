package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

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
	var d distance
	for _, skill := range s.skills {
		if skill.Hidden {
			continue
		}
		if cost, ok := d.cost(want, fold(skill.Name), allowed); ok {
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

// distance counts typing errors; it keeps its rows from name to name.
type distance struct{ rows [3][maxCompared + 1]int }

// cost compares two folded names: the number of typing errors if allowed, else
// one more than that if one name begins with the other.
func (d *distance) cost(want, have []rune, allowed int) (int, bool) {
	if n := len(want) - len(have); n <= allowed && -n <= allowed {
		if errs := d.errors(want, have, allowed); errs <= allowed && errs < max(len(want), len(have)) {
			return errs, true
		}
	}
	short := min(len(want), len(have))
	if slices.Equal(want[:short], have[:short]) && (short >= 2 || short == len(want)) {
		return allowed + 1, true
	}
	return 0, false
}

// errors is the optimal string alignment distance of a and b, or some number
// above limit as soon as it is known to be above.
func (d *distance) errors(a, b []rune, limit int) int {
	before, last, row := &d.rows[0], &d.rows[1], &d.rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		best := i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(replaced, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			best = min(best, row[j])
		}
		if best > limit {
			return best
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
