package processors

import (
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// noteTokens bounds a note of catalog changes.
const noteTokens = 1000

// ChangeNote writes the note by which a session is told that the catalog has
// changed since its overview. Each of its three lists is bounded and says what
// it leaves out.
func ChangeNote(o OverviewText, added, edited []core.Skill, removed []string) string {
	var b strings.Builder
	b.WriteString("<skills_changed>\n")
	for _, part := range []struct {
		title  string
		skills []core.Skill
	}{{"new:", added}, {"new description:", edited}} {
		if len(part.skills) == 0 {
			continue
		}
		b.WriteString(part.title + "\n")
		list := o
		list.Guidance, list.Tokens = "", noteTokens
		list.list(&b, part.skills)
	}
	if len(removed) > 0 {
		b.WriteString("removed:")
		left := noteTokens
		for i, name := range removed {
			entry := nameEntry(&core.Skill{Name: name})
			if left -= EstimateTokens(entry); left < 0 {
				fmt.Fprintf(&b, " and %d more", len(removed)-i)
				break
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(entry)
		}
		b.WriteByte('\n')
	}
	b.WriteString("</skills_changed>")
	return b.String()
}
