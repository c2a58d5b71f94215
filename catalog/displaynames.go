package catalog

import (
	"strconv"

	"github.com/satchel-go/satchel/catalog/internal/scan"
)

// displayNames returns, for each place, the name that stands in front of its locations. No two
// names are equal; earlier places get the shorter names.
func displayNames(places []scan.Place) []string {
	names := make([]string, len(places))
	used := make(map[string]bool, len(places))
	for i, p := range places {
		candidates := p.DisplayNames()
		name := candidates[len(candidates)-1]
		for _, c := range candidates {
			if !used[c] {
				name = c
				break
			}
		}
		for base, n := name, 2; used[name]; n++ {
			name = base + "#" + strconv.Itoa(n)
		}
		used[name] = true
		names[i] = name
	}
	return names
}
