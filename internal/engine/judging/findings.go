package judging

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/skillmd"
)

// The codes of [Names.Findings].
const (
	CodeEntry skillmd.Code = "allowed-tools-entry"   // an entry allows nothing
	CodeName  skillmd.Code = "allowed-tools-unknown" // no known tool has the name
)

// Findings returns warnings about entries of a skill's list that allow nothing, or that name a
// tool which neither the format nor the host defines.
func (n *Names) Findings(skill core.Skill) []skillmd.Diagnostic {
	var all []skillmd.Diagnostic
	add := func(code skillmd.Code, message string) {
		if len(all) < maxFindings {
			all = append(all, skillmd.Diagnostic{File: skill.Place, Code: code, Severity: skillmd.Warning, Message: message})
		}
	}
	rules := Rules(skill.AllowedTools)
	for i := range rules {
		if r := &rules[i]; r.Fault != "" {
			add(CodeEntry, "allowed-tools: "+oneLine(r.Text)+" allows nothing: "+r.Fault)
		}
	}
	if len(skill.AllowedTools) > maxRules {
		add(CodeEntry, "allowed-tools: only the first 512 entries are read")
	}
	_, unknown := n.Missing(rules, nil)
	for _, name := range unknown {
		add(CodeName, "allowed-tools: no known tool is called "+name)
	}
	return all
}

// Missing returns the names in a list that no offered tool has, each once. known are names that
// the format, Satchel or the host defines, and unknown are all others.
func (n *Names) Missing(rules []Rule, offered []permission.Tool) (known, unknown []string) {
	for i := range rules {
		r := &rules[i]
		if r.Tool == "" || slices.ContainsFunc(offered, func(t permission.Tool) bool { return r.names(&t) }) {
			continue
		}
		to := &unknown
		if n.knows(r.Tool) {
			to = &known
		}
		if name := oneLine(r.Tool); !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	return known, unknown
}

// knows reports whether a tool may have this name. Names of MCP servers' tools are always
// possible.
func (n *Names) knows(name string) bool {
	name = strings.ToLower(name)
	if isFormatTool(name) || slices.Contains(ownTools, name) || strings.HasPrefix(name, "mcp__") || strings.HasSuffix(name, "*") {
		return true
	}
	for _, plain := range []string{name, plainName(name)} {
		if _, ok := n.tools[plain]; ok {
			return true
		}
	}
	for _, t := range n.tools {
		if slices.ContainsFunc(t.As, func(other string) bool { return strings.EqualFold(other, name) }) {
			return true
		}
	}
	return false
}
