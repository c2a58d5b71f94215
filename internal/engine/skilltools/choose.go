package skilltools

import (
	"fmt"
	"github.com/satchel-go/satchel/tools"
	"slices"
)

// Default returns the operations of the default vocabulary in their order, without [Search]. A
// runtime offers Search if there are more skills than an overview describes.
func Default() []tools.Operation {
	return []tools.Operation{Load(), SelectDocs(), ListDocs(), Unload(), Read()}
}

// Choose returns the set of the operations with these names, in the order of operations. The
// error wraps tools.ErrSet if a name does not exist, or if a chosen tool needs another one that
// is not chosen.
func Choose(operations []tools.Operation, names []string) (*Set, error) {
	var chosen []tools.Operation
	for _, o := range operations {
		if slices.Contains(names, o.Name) {
			chosen = append(chosen, o)
		}
	}
	set, err := NewSet(chosen...)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if !set.Has(n) {
			return nil, fmt.Errorf("%w: there is no tool %q", tools.ErrSet, n)
		}
	}
	for i := range chosen {
		for _, need := range chosen[i].Needs {
			if !slices.ContainsFunc(chosen, func(o tools.Operation) bool { return o.StandsFor(need) }) {
				return nil, fmt.Errorf("%w: %s is of no use without %s", tools.ErrSet, chosen[i].Name, need)
			}
		}
	}
	return set, nil
}
