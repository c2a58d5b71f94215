package permission

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of what is told of lists, which come from skills.
const (
	maxTold      = 40
	maxToldEntry = 120 // bytes
)

// denial is the answer to a call that is not listed.
func (j *Judge) denial(u *Use, it *item, lists []List) string {
	var b strings.Builder
	fmt.Fprintf(&b, "denied: %s", shown(u.Tool.Name))
	switch {
	case it.what != u.Tool.Name && it.what != "":
		fmt.Fprintf(&b, " %q", shown(it.what))
	case isNamed(&it.of.Tool, lists):
		b.WriteString(", called like this,")
	}
	b.WriteString(" is not among the allowed-tools of the loaded skills")
	if it.plain != "" && isNamed(&it.of.Tool, lists) {
		fmt.Fprintf(&b, " (no pattern is for it: %s)", it.plain)
	}
	fmt.Fprintf(&b, ". Allowed: %s. ", j.Allowed(lists))
	b.WriteString("This holds until the user's next message, also after an unload. Use what is allowed, or say what you would need.")
	return b.String()
}

func isNamed(t *Tool, lists []List) bool {
	return slices.ContainsFunc(lists, func(l List) bool {
		return slices.ContainsFunc(l.Rules, func(r Rule) bool { return r.names(t) })
	})
}

// Allowed says in one line what lists allow.
func (j *Judge) Allowed(lists []List) string {
	skills := skillsOf(lists)
	if j.Combine == Latest && len(skills) > 0 {
		skills = skills[len(skills)-1:]
	}
	separator := ", "
	if j.Combine == Intersection {
		separator = "; and also in: "
	}
	var sets []string
	for _, skill := range skills {
		var entries []string
		for _, l := range lists {
			if l.Skill != skill {
				continue
			}
			for _, r := range l.Rules {
				if text := shown(r.Text); !slices.Contains(entries, text) {
					entries = append(entries, text)
				}
			}
		}
		if more := len(entries) - maxTold; more > 0 {
			entries = append(entries[:maxTold], fmt.Sprintf("%d more", more))
		}
		if len(entries) > 0 || j.Combine == Intersection {
			sets = append(sets, strings.Join(entries, ", "))
		}
	}
	if text := strings.Join(sets, separator); text != "" {
		return text
	}
	return "nothing but the tools that load, unload, list and read skills"
}

// shown makes outside text fit for one line of an answer.
func shown(text string) string {
	if len(text) > maxToldEntry {
		text = text[:maxToldEntry] + "…"
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}
