// Package unified is a vocabulary of two tools for everything that is done with
// skills: runSkill finds, reads and starts them, updateSkill changes those of a skill
// library. Every answer is one JSON object.
package unified

import (
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/tools"
)

// Guidance is the only text about skills in requests of this vocabulary.
const Guidance = "Skills are found, read and started with runSkill, and changed with updateSkill: inspect first, send patches, not whole texts. People also manage skills in other ways; you use these tools."

// New returns the vocabulary. It needs a library, see [library.With].
func New() tools.Vocabulary {
	return tools.Vocabulary{Name: "unified", Operations: library.Tools(), Guidance: Guidance, Unlisted: true, Evicts: true}
}
