package judging

import (
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/permission"
)

// denial returns the answer to a call that the lists deny because of action a.
func (j *Judge) denial(q *permission.Request, a *action, lists []List) string {
	var b strings.Builder
	fmt.Fprintf(&b, "denied: %s", oneLine(q.Tool.Name))
	switch {
	case a.what != q.Tool.Name && a.what != "":
		fmt.Fprintf(&b, " %q", printable.Cut(a.what, maxNamedEntry))
	case isNamed(&a.request.Tool, lists):
		b.WriteString(", called like this,")
	}
	b.WriteString(j.unlistedReason(lists))
	if a.noPattern != "" && isNamed(&a.request.Tool, lists) {
		fmt.Fprintf(&b, " (no pattern matches: %s)", a.noPattern)
	}
	until := j.Until(lists)
	if until == untilNext {
		until += ", also after an unload"
	}
	fmt.Fprintf(&b, ". Allowed: %s. %sThis holds %s. Use what is allowed, or say what you would need.", j.Allowed(lists), j.usableTools(q.Offered, lists), until)
	return b.String()
}

// lapsedReason says why a person is asked about a call that only lapsed lists deny.
func (j *Judge) lapsedReason(q *permission.Request, lists []List) string {
	var lapsed []string
	for _, l := range lists {
		if name := oneLine(l.Skill); l.IsLapsed && !slices.Contains(lapsed, name) {
			lapsed = append(lapsed, name)
		}
	}
	return fmt.Sprintf("%s is not among the allowed-tools of %s, which was unloaded or changed in this turn; its list holds %s",
		oneLine(q.Tool.Name), strings.Join(limitNames(lapsed), ", "), untilNext)
}

// IsApprovable reports whether only lapsed lists deny a tool, so that a person may allow its
// calls.
func (j *Judge) IsApprovable(t permission.Tool, lists []List) bool {
	return !j.Names(t, lists) && j.Names(t, loadedLists(lists))
}

// usableTools says which of the agent's tools the lists allow.
func (j *Judge) usableTools(offered []permission.Tool, lists []List) string {
	if len(offered) == 0 {
		return ""
	}
	var all []string
	for i := range offered {
		t := &offered[i]
		if t.Always || !isNamed(t, lists) || !j.Names(*t, lists) {
			continue
		}
		if text := oneLine(t.Name) + patternsFor(t, lists); !strings.HasSuffix(text, "()") && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return "You have none of these tools. "
	}
	return "With your tools that is: " + strings.Join(limitNames(all), ", ") + ". "
}

// patternsFor lists the patterns by which lists allow a tool, in parentheses. It returns "" if an
// entry has no pattern, and "()" if no pattern can match.
func patternsFor(t *permission.Tool, lists []List) string {
	var patterns []string
	for i := range lists {
		for k := range lists[i].Rules {
			r := &lists[i].Rules[k]
			switch {
			case !r.names(t) || r.Fault != "":
			case r.Any:
				return ""
			case t.Takes != opaque && !slices.Contains(patterns, oneLine(r.Pattern)):
				patterns = append(patterns, oneLine(r.Pattern))
			}
		}
	}
	return "(" + strings.Join(limitNames(patterns), ", ") + ")"
}

// unlistedReason says which lists lack an entry for the call.
func (j *Judge) unlistedReason(lists []List) string {
	skills := skillsOf(lists)
	switch {
	case len(skills) == 1:
		return " is not among the allowed-tools of " + oneLine(skills[0])
	case j.Combine == permission.Latest:
		return " is not among the allowed-tools of " + oneLine(skills[len(skills)-1]) + ", which was loaded last"
	case j.Combine == permission.Intersection:
		return " is not among the allowed-tools of every loaded skill"
	}
	return " is not among the allowed-tools of the loaded skills"
}

const untilNext = "until the user's next message"

// Until says how long the lists apply.
func (j *Judge) Until(lists []List) string {
	var stay []string
	for _, skill := range j.decidingSkills(lists) {
		if slices.ContainsFunc(lists, func(l List) bool { return l.Skill == skill && l.IsKept }) {
			stay = append(stay, oneLine(skill))
		}
	}
	if len(stay) == 0 {
		return untilNext
	}
	verb := " is"
	if len(stay) > 1 {
		verb = " are"
	}
	return "while " + strings.Join(limitNames(stay), ", ") + verb + " loaded, and after an unload " + untilNext
}

// isNamed reports whether an entry of the lists names the tool.
func isNamed(t *permission.Tool, lists []List) bool {
	return slices.ContainsFunc(lists, func(l List) bool {
		return slices.ContainsFunc(l.Rules, func(r Rule) bool { return r.names(t) })
	})
}

// Allowed returns one line that says what the lists allow.
func (j *Judge) Allowed(lists []List) string {
	skills := j.decidingSkills(lists)
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

// nothing says that the lists allow no tool, in the words of the policy.
func (j *Judge) nothing() string {
	if j.Policy == permission.RestrictAll {
		return nothing
	}
	return nothingSaid
}

// entriesOf returns the entries of each list of a skill. All lists must allow a call. It returns
// lists with the same entries once.
func entriesOf(skill string, lists []List) [][]string {
	var sets [][]string
	for _, l := range listsOf(skill, lists) {
		var entries []string
		for _, r := range l.Rules {
			if text := oneLine(r.Text); !slices.Contains(entries, text) {
				entries = append(entries, text)
			}
		}
		entries = limitNames(entries)
		if !slices.ContainsFunc(sets, func(set []string) bool { return slices.Equal(set, entries) }) {
			sets = append(sets, entries)
		}
	}
	return sets
}

// limitNames returns at most maxNamed elements of list, and says how many more there are.
func limitNames(list []string) []string {
	if more := len(list) - maxNamed; more > 0 {
		return append(list[:maxNamed], fmt.Sprintf("%d more", more))
	}
	return list
}

// oneLine makes text from outside printable on one line of an answer, and cuts it.
func oneLine(text string) string { return printable.CutLine(text, maxNamedEntry) }
