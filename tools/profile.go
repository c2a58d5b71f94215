package tools

import (
	"errors"
	"fmt"
	"slices"
)

// Profile is a named selection of tools.
type Profile string

// The profiles of the default vocabulary.
const (
	// Full offers every tool. The default.
	Full Profile = "full"
	// KnowledgeOnly offers the tools that show instructions and docs, and none
	// that reads other files or executes anything.
	KnowledgeOnly Profile = "knowledge_only"
)

// ErrProfile reports an unknown profile.
var ErrProfile = errors.New("unknown tool profile")

// Default returns the operations of the default vocabulary in their order, except
// [Search], which is offered if there are more skills than an overview describes.
func Default() []Operation {
	return []Operation{Load(), SelectDocs(), ListDocs(), Unload(), Read()}
}

// Names returns the tools of the profile.
func (p Profile) Names() ([]string, error) {
	switch p {
	case Full, "":
		var names []string
		for _, o := range Default() {
			names = append(names, o.Name)
		}
		return names, nil
	case KnowledgeOnly:
		return []string{"skill_load", "skill_select_docs", "skill_list_docs"}, nil
	}
	return nil, fmt.Errorf("%w %q: use full or knowledge_only", ErrProfile, string(p))
}

// Choose builds the set of the named operations, in the order of operations. The
// error wraps ErrSet and says what is missing: a name that does not exist, or
// another tool that a chosen one needs.
func Choose(operations []Operation, names []string) (*Set, error) {
	var chosen []Operation
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
			return nil, fmt.Errorf("%w: there is no tool %q", ErrSet, n)
		}
	}
	for i := range chosen {
		for _, need := range chosen[i].Needs {
			if !slices.ContainsFunc(chosen, func(o Operation) bool { return o.provides(need) }) {
				return nil, fmt.Errorf("%w: %s is of no use without %s", ErrSet, chosen[i].Name, need)
			}
		}
	}
	return set, nil
}
