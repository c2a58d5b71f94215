package typos

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// File returns the path among files that a caller who wrote asked most likely meant, "" for
// none: the same path in another case, or a file of that name in another folder, scripts/
// first.
func File(files []string, asked string) string {
	asked = path.Clean(asked)
	name := path.Base(asked)
	rank := func(f string) int {
		other := path.Base(f)
		switch inScripts := strings.HasPrefix(f, "scripts/"); {
		case f == asked || !strings.EqualFold(other, name):
			return 0
		case strings.EqualFold(f, asked):
			return 1
		case other == name && inScripts:
			return 2
		case other == name:
			return 3
		case inScripts:
			return 4
		}
		return 5
	}
	like := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return rank(f) == 0 })
	if len(like) == 0 {
		return ""
	}
	return slices.MinFunc(like, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
}
