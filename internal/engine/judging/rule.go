package judging

import (
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/permission"
)

// Rule is one entry of an allowed-tools list.
type Rule struct {
	// Text is the entry as its author wrote it.
	Text string
	// Tool is the name before the parentheses, or the whole text. "mcp__server" stands for all
	// tools of that server, and a "*" at the end for any rest. It is "" if the entry has no
	// readable name.
	Tool string
	// Pattern is the trimmed text in the parentheses. Any reports that there are no parentheses,
	// or that they contain just "*": the entry allows every call.
	Pattern string
	Any     bool
	// Fault says why the entry allows nothing, "" if it may allow calls. The entry is then too
	// long, has neither form, or has a pattern beyond the bounds.
	Fault string

	// command and path are the compiled Pattern for commands and for files, nil if it is no such
	// pattern.
	command *commandPattern
	path    *pathPattern
}

// Parse parses a list as text. Commas or white space outside of parentheses separate its entries.
func Parse(text string) []Rule {
	tokens, _ := skilltext.SplitTools(text)
	return Rules(tokens)
}

// Rules parses the entries of a list, such as core.Skill.AllowedTools. An entry that cannot be
// read stays in the result, but has a Fault and allows nothing.
func Rules(entries []string) []Rule {
	rules := make([]Rule, 0, min(len(entries), maxRules))
	left := maxAlternativeBytes
	for _, e := range entries[:min(len(entries), maxRules)] {
		// In "Bash (git:*)" the space is a mistake. Without its pattern the entry "Bash"
		// would allow everything.
		if last := len(rules) - 1; strings.HasPrefix(e, "(") && last >= 0 && rules[last].Any && rules[last].Pattern == "" {
			rules[last] = readRule(rules[last].Text+e, &left)
			continue
		}
		rules = append(rules, readRule(e, &left))
	}
	return rules
}

// readRule parses an entry. left is how many bytes the alternatives of its pattern may have.
func readRule(entry string, left *int) Rule {
	r := Rule{Text: entry}
	text := strings.TrimSpace(entry)
	if len(text) > maxRule {
		r.Fault = fmt.Sprintf("longer than %d bytes", maxRule)
		return r
	}
	name, rest, pattern := strings.Cut(text, "(")
	if !pattern {
		if strings.Contains(name, ")") || name == "" {
			r.Fault = faultForm
			return r
		}
		r.Tool, r.Any = name, true
		return r
	}
	inner, closed := strings.CutSuffix(rest, ")")
	if !closed || !balanced(inner) {
		r.Fault = faultForm
		return r
	}
	r.Tool, r.Pattern = strings.TrimSpace(name), strings.TrimSpace(inner)
	switch {
	case r.Tool == "":
		r.Fault = faultForm
	case r.Pattern == "*" || r.Pattern == ":*":
		r.Any = true
	default:
		r.compile(left)
	}
	return r
}

const faultForm = "neither a name nor a name with a pattern in parentheses"

// compile parses the pattern for every kind of tool, because it is not known yet which tools the
// agent has. A text that is no valid path pattern may be a valid command pattern.
func (r *Rule) compile(left *int) {
	if r.Pattern == "" {
		r.Fault = "an empty pattern"
		return
	}
	var errCommand, errPath error
	r.command, errCommand = newCommandPattern(r.Pattern)
	r.path, errPath = newPathPattern(r.Pattern, left)
	switch kind := kindOf(r.Tool); {
	case kind == permission.Command && errCommand != nil:
		r.Fault = "its pattern has " + errCommand.Error()
	case kind != permission.Command && kind != permission.Text && errPath != nil:
		r.Fault = "its pattern has " + errPath.Error()
	}
}

// balanced reports whether the parentheses in text match.
func balanced(text string) bool {
	depth := 0
	for _, c := range []byte(text) {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

// names reports whether the entry names a tool.
func (r *Rule) names(t *permission.Tool) bool {
	switch {
	case r.Tool == "":
		return false
	case strings.EqualFold(r.Tool, t.Name), slices.ContainsFunc(t.As, func(other string) bool { return strings.EqualFold(r.Tool, other) }):
		return true
	}
	if prefix, ok := strings.CutSuffix(r.Tool, "*"); ok {
		return hasPrefixFold(t.Name, prefix)
	}
	return isServer(r.Tool) && hasPrefixFold(t.Name, r.Tool+"__")
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
