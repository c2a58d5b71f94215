package turn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/engine/state"
)

// Inactive returns why a tool of the host that belongs to these skills may not be called
// yet, "" if one of them is loaded.
func Inactive(tool string, skills []string, rec *state.Record) string {
	if slices.ContainsFunc(skills, func(name string) bool { return rec.Find(name) != nil }) {
		return ""
	}
	if len(skills) == 1 {
		return fmt.Sprintf("denied: %s belongs to skill %q; load it first", tool, skills[0])
	}
	var quoted []string
	for _, name := range skills {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return fmt.Sprintf("denied: %s belongs to skills %s; load one of them first", tool, strings.Join(quoted, ", "))
}
