package judging

import (
	"github.com/satchel-go/satchel/permission"
	"slices"
	"strings"
)

// Mentions holds the tools that lists of a catalog name, beside those of the format. A nil
// Mentions has none. It is immutable.
type Mentions struct {
	names    map[string]bool
	prefixes []string
}

// NewMentions collects the names in lists. It ignores a "*" alone.
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

// isServer reports whether name is that of an MCP server without a tool.
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

// Among returns the tools that the lists name.
func (m *Mentions) Among(tools []string) (named []string) {
	for _, name := range tools {
		if m.has(&permission.Tool{Name: name}) && !slices.Contains(named, name) {
			named = append(named, name)
		}
	}
	return named
}

// governs reports whether lists apply to a tool.
func (j *Judge) governs(t *permission.Tool, lists []List) bool {
	return j.Policy == permission.RestrictAll || isMapped(t) || j.Mentions.has(t) || isNamed(t, lists)
}

// listsFor returns the lists that apply to a request. If there are none, reason says why.
func (j *Judge) listsFor(q *permission.Request, lists []List) (own []List, reason string) {
	switch {
	case q.Skill != "" && j.Combine != permission.Intersection:
		if own := listsOf(q.Skill, lists); len(own) > 0 {
			return own, ""
		}
		if q.Unlisted && j.Policy != permission.RestrictAll {
			return nil, "skill " + oneLine(q.Skill) + " has no list, but " + someSkills(skillsOf(lists)) + " has"
		}
	case !j.governs(&q.Tool, lists):
		return nil, "lists do not speak of this tool"
	}
	return lists, ""
}

// listsOf returns the lists of a skill.
func listsOf(skill string, lists []List) []List {
	var own []List
	for _, l := range lists {
		if l.Skill == skill {
			own = append(own, l)
		}
	}
	return own
}

// someSkills names the first skill, and says whether there are others.
func someSkills(names []string) string {
	text := oneLine(names[0])
	if len(names) > 1 {
		text += " and others"
	}
	return text
}
