package judging

import (
	"github.com/satchel-go/satchel/permission"
	"slices"
	"strings"
)

// Mentions holds the tools that some list of a catalog names, beside those that the format
// names. Nil holds none. It is immutable.
type Mentions struct {
	names    map[string]bool
	prefixes []string
}

// NewMentions collects the names in lists. A "*" alone names no tool.
func NewMentions(lists ...[]Rule) *Mentions {
	m := &Mentions{names: map[string]bool{}}
	for _, rules := range lists {
		for i := range rules {
			name := strings.ToLower(rules[i].Tool)
			prefix, star := strings.CutSuffix(name, "*")
			switch {
			case prefix == "":
			case star:
				m.addPrefix(prefix)
			case isServer(name):
				m.names[name] = true
				m.addPrefix(name + "__")
			default:
				m.names[name] = true
			}
		}
	}
	return m
}

func (m *Mentions) addPrefix(prefix string) {
	if !slices.Contains(m.prefixes, prefix) {
		m.prefixes = append(m.prefixes, prefix)
	}
}

// isServer reports the name of an MCP server without a tool.
func isServer(name string) bool {
	server, ok := strings.CutPrefix(name, "mcp__")
	return ok && server != "" && !strings.Contains(server, "__")
}

func (m *Mentions) has(t *permission.Tool) bool {
	if m == nil {
		return false
	}
	name := strings.ToLower(t.Name)
	return m.names[name] || slices.ContainsFunc(m.prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// Among returns those of the tools that the lists name.
func (m *Mentions) Among(tools []string) (named []string) {
	for _, name := range tools {
		if m.has(&permission.Tool{Name: name}) && !slices.Contains(named, name) {
			named = append(named, name)
		}
	}
	return named
}

// governs reports whether lists speak of a tool.
func (j *Judge) governs(t *permission.Tool, lists []List) bool {
	return j.Policy == permission.RestrictAll || isMapped(t) || j.Mentions.has(t) || isNamed(t, lists)
}

// judging returns the lists that judge a request. Without any, reason says why.
func (j *Judge) judging(q *permission.Request, lists []List) (own []List, reason string) {
	switch {
	case q.Skill != "" && j.Combine != permission.Intersection:
		if own := listsOf(q.Skill, lists); len(own) > 0 {
			return own, ""
		}
		if q.Unlisted && j.Policy != permission.RestrictAll {
			return nil, "skill " + shown(q.Skill) + " has no list, but " + someSkills(skillsOf(lists)) + " has"
		}
	case !j.governs(&q.Tool, lists):
		return nil, "lists do not speak of this tool"
	}
	return lists, ""
}

func listsOf(skill string, lists []List) []List {
	var own []List
	for _, l := range lists {
		if l.Skill == skill {
			own = append(own, l)
		}
	}
	return own
}

func someSkills(names []string) string {
	text := shown(names[0])
	if len(names) > 1 {
		text += " and others"
	}
	return text
}
