package search

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// NearestFile returns the path among files that asked most likely means, "" if there is none. The
// best candidate is the same path in another case. Then come files of that name in another
// folder, scripts/ first, the name with an extension, and finally similar names.
func NearestFile(files []string, asked string) string {
	if len(asked) > maxPath {
		return ""
	}
	asked = path.Clean(asked)
	name := path.Base(asked)
	rank := func(f string) int {
		other := path.Base(f)
		switch inScripts := strings.HasPrefix(f, "scripts/"); {
		case f == asked:
			return 0
		case !strings.EqualFold(other, name):
			return rankSimilar(other, name, inScripts)
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

// rankSimilar returns the rank of a file whose name differs from the asked one, 0 if it is not
// similar.
func rankSimilar(name, asked string, inScripts bool) int {
	ending := path.Ext(asked)
	stem, want := strings.ToLower(strings.TrimSuffix(name, path.Ext(name))), strings.ToLower(strings.TrimSuffix(asked, ending))
	allowed := min((len(want)+1)/4, 3)
	switch {
	case ending == "" && stem == want:
		return 6
	case ending != "" && !strings.EqualFold(path.Ext(name), ending):
		return 0
	case Distance([]byte(stem), []byte(want), allowed+1) > allowed:
		return 0
	case inScripts:
		return 7
	}
	return 8
}
