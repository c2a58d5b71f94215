package judging

import (
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/permission"
)

// denial is the answer to a call that is not listed.
func (j *Judge) denial(q *permission.Request, a *action, lists []List) string {
	var b strings.Builder
	fmt.Fprintf(&b, "denied: %s", shown(q.Tool.Name))
	switch {
	case a.what != q.Tool.Name && a.what != "":
		fmt.Fprintf(&b, " %q", printable.Cut(a.what, maxNamedEntry))
	case isNamed(&a.request.Tool, lists):
		b.WriteString(", called like this,")
	}
	b.WriteString(j.unlisted(lists))
	if a.noPattern != "" && isNamed(&a.request.Tool, lists) {
		fmt.Fprintf(&b, " (no pattern matches: %s)", a.noPattern)
	}
	until := j.Until(lists)
	if until == untilNext {
		until += ", also after an unload"
	}
	fmt.Fprintf(&b, ". Allowed: %s. %sThis holds %s. Use what is allowed, or say what you would need.", j.Allowed(lists), j.usable(q.Offered, lists), until)
	return b.String()
}

// lapsed says why a person is asked about a call that only lapsed lists deny.
func (j *Judge) lapsed(q *permission.Request, lists []List) string {
	var gone []string
	for _, l := range lists {
		if name := shown(l.Skill); l.Lapsed && !slices.Contains(gone, name) {
			gone = append(gone, name)
		}
	}
	return fmt.Sprintf("%s is not among the allowed-tools of %s, which was unloaded or changed in this turn; its list holds %s",
		shown(q.Tool.Name), strings.Join(told(gone), ", "), untilNext)
}

// Lapses reports whether a person may allow calls of a tool that the lists deny.
func (j *Judge) Lapses(t permission.Tool, lists []List) bool {
	return !j.Names(t, lists) && j.Names(t, live(lists))
}

// usable says which tools of the agent the lists allow.
func (j *Judge) usable(offered []permission.Tool, lists []List) string {
	if len(offered) == 0 {
		return ""
	}
	var all []string
	for i := range offered {
		t := &offered[i]
		if t.Always || !isNamed(t, lists) || !j.Names(*t, lists) {
			continue
		}
		if text := shown(t.Name) + forPatterns(t, lists); !strings.HasSuffix(text, "()") && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return "You have none of these tools. "
	}
	return "With your tools that is: " + strings.Join(told(all), ", ") + ". "
}

// forPatterns names the patterns by which lists allow a tool, in parentheses:
// none where an entry has no pattern, and "()" where no pattern can match.
func forPatterns(t *permission.Tool, lists []List) string {
	var patterns []string
	for i := range lists {
		for k := range lists[i].Rules {
			r := &lists[i].Rules[k]
			switch {
			case !r.names(t) || r.Fault != "":
			case r.Any:
				return ""
			case t.Takes != opaque && !slices.Contains(patterns, shown(r.Pattern)):
				patterns = append(patterns, shown(r.Pattern))
			}
		}
	}
	return "(" + strings.Join(told(patterns), ", ") + ")"
}

// unlisted says where an entry is missed.
func (j *Judge) unlisted(lists []List) string {
	skills := skillsOf(lists)
	switch {
	case len(skills) == 1:
		return " is not among the allowed-tools of " + shown(skills[0])
	case j.Combine == permission.Latest:
		return " is not among the allowed-tools of " + shown(skills[len(skills)-1]) + ", which was loaded last"
	case j.Combine == permission.Intersection:
		return " is not among the allowed-tools of every loaded skill"
	}
	return " is not among the allowed-tools of the loaded skills"
}

const untilNext = "until the user's next message"

// Until returns words that say how long the lists apply.
func (j *Judge) Until(lists []List) string {
	var stay []string
	for _, skill := range j.deciding(lists) {
		if slices.ContainsFunc(lists, func(l List) bool { return l.Skill == skill && l.Stays }) {
			stay = append(stay, shown(skill))
		}
	}
	if len(stay) == 0 {
		return untilNext
	}
	verb := " is"
	if len(stay) > 1 {
		verb = " are"
	}
	return "while " + strings.Join(told(stay), ", ") + verb + " loaded, and after an unload " + untilNext
}

func isNamed(t *permission.Tool, lists []List) bool {
	return slices.ContainsFunc(lists, func(l List) bool {
		return slices.ContainsFunc(l.Rules, func(r Rule) bool { return r.names(t) })
	})
}

// Allowed returns one line that says what the lists allow.
func (j *Judge) Allowed(lists []List) string {
	skills := j.deciding(lists)
	var sets []string
	add := func(text string) {
		if !slices.Contains(sets, text) {
			sets = append(sets, text)
		}
	}
	for _, skill := range skills {
		own := entriesOf(skill, lists)
		all := make([]string, len(own))
		for i, entries := range own {
			all[i] = strings.Join(entries, ", ")
		}
		switch {
		case slices.Contains(all, ""):
			if j.Combine == permission.Intersection {
				return j.nothing()
			}
		case j.Combine == permission.Intersection:
			for _, text := range all {
				add(text)
			}
		case len(own) == 1:
			for _, entry := range own[0] {
				add(entry)
			}
		case len(skills) == 1:
			add(strings.Join(all, andAlso))
		default:
			add("(" + strings.Join(all, andAlso) + ")")
		}
	}
	separator := ", "
	if j.Combine == permission.Intersection {
		separator = andAlso
	}
	if text := strings.Join(sets, separator); text != "" {
		return text
	}
	return j.nothing()
}

const (
	nothing     = "nothing but the tools that load, unload, select, list and read skills"
	nothingSaid = "none of the tools that lists speak of"
	andAlso     = "; and also in: "
)

func (j *Judge) nothing() string {
	if j.Policy == permission.RestrictAll {
		return nothing
	}
	return nothingSaid
}

// entriesOf are the entries of each list of a skill: all of them must allow a
// call. Lists of the same entries count once.
func entriesOf(skill string, lists []List) [][]string {
	var sets [][]string
	for _, l := range listsOf(skill, lists) {
		var entries []string
		for _, r := range l.Rules {
			if text := shown(r.Text); !slices.Contains(entries, text) {
				entries = append(entries, text)
			}
		}
		entries = told(entries)
		if !slices.ContainsFunc(sets, func(set []string) bool { return slices.Equal(set, entries) }) {
			sets = append(sets, entries)
		}
	}
	return sets
}

// told is as much of a list as an answer tells.
func told(list []string) []string {
	if more := len(list) - maxNamed; more > 0 {
		return append(list[:maxNamed], fmt.Sprintf("%d more", more))
	}
	return list
}

// shown makes outside text fit for one line of an answer.
func shown(text string) string { return printable.CutLine(text, maxNamedEntry) }
