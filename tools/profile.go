package tools

import (
	"errors"
	"fmt"
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

// ErrSet reports tools that do not exist or cannot work together.
var ErrSet = errors.New("tools cannot work together")

// Names returns the tools of the profile.
func (p Profile) Names() ([]string, error) {
	switch p {
	case Full, "":
		return []string{"skill_load", "skill_select_docs", "skill_list_docs", "skill_unload", "skill_read"}, nil
	case KnowledgeOnly:
		return []string{"skill_load", "skill_select_docs", "skill_list_docs"}, nil
	}
	return nil, fmt.Errorf("%w: unknown tool profile %q: use full or knowledge_only", ErrSet, string(p))
}
