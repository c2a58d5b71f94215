package permission

import (
	"strings"

	"github.com/satchel-go/satchel/skillmd"
)

// Bounds of what is read of one list; the rest allows nothing.
const (
	maxRules = 512
	maxRule  = 1024 // bytes
)

// Rule is one entry of allowed-tools.
type Rule struct {
	// Text is the entry as it was written.
	Text string
	// Tool is its name: all of the text, or what stands before the parentheses.
	// "mcp__server" stands for all tools of that server, and a "*" at the end
	// for any rest. It is "" for an entry that is neither form, which allows
	// nothing.
	Tool string
	// Pattern is what stands in the parentheses, trimmed. Any reports that there
	// are none, or that they hold just "*": the entry is for every call.
	Pattern string
	Any     bool
}

// Parse reads a list as text: entries separated by commas or white space outside
// of parentheses.
func Parse(text string) []Rule { return Rules(skillmd.SplitTools(text)) }

// Rules reads the entries of a list, such as those of core.Skill. An entry that
// cannot be read stays in the list and allows nothing.
func Rules(entries []string) []Rule {
	rules := make([]Rule, 0, min(len(entries), maxRules))
	for _, e := range entries[:min(len(entries), maxRules)] {
		// "Bash (git:*)": the blank is a slip, and without its pattern the entry
		// before it would allow everything.
		if last := len(rules) - 1; strings.HasPrefix(e, "(") && last >= 0 && rules[last].Any && rules[last].Pattern == "" {
			rules[last] = readRule(rules[last].Text + e)
			continue
		}
		rules = append(rules, readRule(e))
	}
	return rules
}

func readRule(entry string) Rule {
	r := Rule{Text: entry}
	text := strings.TrimSpace(entry)
	if len(text) > maxRule {
		return r
	}
	name, rest, pattern := strings.Cut(text, "(")
	if !pattern {
		if !strings.Contains(name, ")") {
			r.Tool, r.Any = name, true
		}
		return r
	}
	inner, closed := strings.CutSuffix(rest, ")")
	if !closed || !balanced(inner) {
		return r
	}
	r.Tool, r.Pattern = strings.TrimSpace(name), strings.TrimSpace(inner)
	r.Any = r.Tool != "" && (r.Pattern == "*" || r.Pattern == ":*")
	return r
}

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

// names reports whether the entry is about a tool of that name.
func (r *Rule) names(t *Tool) bool {
	switch {
	case r.Tool == "":
		return false
	case strings.EqualFold(r.Tool, t.Name):
		return true
	}
	for _, other := range t.As {
		if strings.EqualFold(r.Tool, other) {
			return true
		}
	}
	if prefix, ok := strings.CutSuffix(r.Tool, "*"); ok {
		return hasPrefixFold(t.Name, prefix)
	}
	// A server without a tool.
	server, isServer := strings.CutPrefix(r.Tool, "mcp__")
	return isServer && server != "" && !strings.Contains(server, "__") && hasPrefixFold(t.Name, r.Tool+"__")
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
