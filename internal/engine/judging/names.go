package judging

import (
	"github.com/satchel-go/satchel/permission"
	"slices"
	"strings"
	"unicode"
)

// isMapped reports whether a name of the format stands for the tool.
func isMapped(t *permission.Tool) bool {
	return len(t.As) > 0 || isWord(t.Name)
}

// Names maps the names in lists to tools. The zero value is empty. It is immutable.
type Names struct {
	tools map[string]permission.Tool
	host  map[string]bool
}

// NewNames returns the built-in tools and those of the host, which replace
// built-in ones of the same name. The built-in ones are Satchel's, and names that
// many hosts have for what the format calls Bash, Read, Write, Edit, Glob, Grep,
// WebFetch, WebSearch, Task, TodoWrite, NotebookEdit and AskUserQuestion.
func NewNames(host ...permission.Tool) *Names {
	n := &Names{tools: make(map[string]permission.Tool, len(builtin)+len(host)), host: make(map[string]bool, len(host))}
	for _, t := range builtinTools() {
		n.tools[t.Name] = t
	}
	for _, t := range host {
		n.tools[strings.ToLower(t.Name)] = t
		n.host[strings.ToLower(t.Name)] = true
	}
	return n
}

// IsOfHost reports whether the host has described the tool.
func (n *Names) IsOfHost(name string) bool { return n.host[strings.ToLower(name)] }

// Tool returns the description of a tool. That of an unknown tool has only its name.
// "runCommand" and "run-command" are found as run_command.
func (n *Names) Tool(name string) permission.Tool {
	if t, ok := n.tools[strings.ToLower(name)]; ok {
		t.Name = name
		return t
	}
	plain := plainName(name)
	if t, ok := n.tools[plain]; ok && !n.host[plain] {
		t.Name = name
		return t
	}
	return permission.Tool{Name: name}
}

// Unmapped returns the tools of an agent that no name of the format stands for. Lists apply to
// such a tool only if they name it. Tools that the host has described are left out.
func (n *Names) Unmapped(tools []string) []string {
	var all []string
	for _, name := range tools {
		t := n.Tool(name)
		if !t.Always && !isMapped(&t) && !n.host[strings.ToLower(name)] && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// plainName writes a name in lower case with "_" between its words.
func plainName(name string) string {
	var b strings.Builder
	last := '_'
	for _, c := range name {
		switch {
		case c == '-' || c == ' ' || c == '.' || c == '/':
			c = '_'
		case unicode.IsUpper(c):
			if unicode.IsLower(last) {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(c))
		last = c
	}
	return b.String()
}
