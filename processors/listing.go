package processors

import (
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// Listing returns one line for each skill: a hash of its description, and its name. A session
// stores it to find out later what has changed in the catalog.
func (OverviewText) Listing(skills []core.Skill) string {
	var b strings.Builder
	for i := range skills {
		b.WriteString(state.MarkText(skills[i].Description))
		b.WriteByte(' ')
		b.WriteString(strings.ReplaceAll(skills[i].Name, "\n", " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// ChangeNote returns a note about how the visible skills differ from an earlier
// [OverviewText.Listing]. It has three lists: new skills, new descriptions, and removed skills.
// Each is limited, and says how many names it leaves out.
func (o OverviewText) ChangeNote(listing string, skills []core.Skill) string {
	var order []string
	before := make(map[string]string)
	for line := range strings.Lines(listing) {
		if hash, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && name != "" {
			before[name] = hash
			order = append(order, name)
		}
	}
	var added, edited []core.Skill
	for _, s := range skills {
		hash, known := before[s.Name]
		delete(before, s.Name)
		switch {
		case !known:
			added = append(added, s)
		case hash != state.MarkText(s.Description):
			edited = append(edited, s)
		}
	}
	var removed []string
	for _, name := range order {
		if _, isGone := before[name]; isGone {
			removed = append(removed, name)
		}
	}
	return o.changesText(added, edited, removed)
}

// changesText returns the note with its three lists.
func (o OverviewText) changesText(added, edited []core.Skill, removed []string) string {
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
		list.writeList(&b, part.skills)
	}
	if len(removed) > 0 {
		b.WriteString("removed:")
		remaining := noteTokens
		for i, name := range removed {
			entry := " " + prompttext.Text(name)
			if remaining -= prompttext.Estimate(entry); remaining < 0 {
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
