package scenario

import (
	"strings"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Fits reports whether a capture is of this conversation: the messages of its
// users are in the requests of their turns.
func (s *Scenario) Fits(c *prompt.Capture) bool {
	for _, r := range c.Requests {
		said := false
		for _, m := range r.Messages {
			said = said || r.Turn >= 0 && r.Turn < len(s.Turns) && m.Role == "user" && strings.Contains(m.Content, s.Turns[r.Turn].User)
		}
		if !said {
			return false
		}
	}
	return true
}
