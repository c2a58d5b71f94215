package permission

import (
	"slices"
	"strings"
	"unicode"
)

// Kind says what a pattern is compared with.
type Kind uint8

const (
	// Opaque calls are allowed by entries without a pattern only. The default.
	Opaque Kind = iota
	// Command is shell text that bash would run.
	Command
	// Path is a path of the host.
	Path
	// Text is a word, such as the name of an agent; "domain:example.com" in a
	// pattern stands for a URL of that host or below it.
	Text
	// Inert calls start nothing by themselves: any pattern allows them too.
	Inert
)

// Tool describes how allowed-tools rules match one of the agent's tools.
type Tool struct {
	// Name is the tool's name as the model calls it. Case does not matter.
	Name string
	// As are the names that lists use for it beside its own: Bash, Read …
	As []string
	// Always says that lists and approvers do not apply to the tool. It is for control tools of
	// frameworks.
	Always bool
	// Takes says what a pattern is compared with. Field is the field of the JSON arguments that
	// holds it; "" means the whole text of the call, for tools that take one text. A tool that
	// takes a Command must pass it to bash or to a POSIX shell.
	Takes Kind
	Field string
	// Harmless are the other fields of a Command that may hold text and do not
	// change what is run, such as a description. Numbers and booleans may always
	// be there; a call with any other field is allowed by entries without a
	// pattern only.
	Harmless []string
}

// isMapped reports whether a name of the format stands for the tool.
func (t *Tool) isMapped() bool {
	return len(t.As) > 0 || isWord(t.Name)
}

// Names maps the names in lists to tools. The zero value is empty. It is immutable.
type Names struct {
	tools map[string]Tool
	host  map[string]bool
}

// NewNames returns the built-in tools and those of the host, which replace
// built-in ones of the same name. The built-in ones are Satchel's, and names that
// many hosts have for what the format calls Bash, Read, Write, Edit, Glob, Grep,
// WebFetch, WebSearch, Task, TodoWrite, NotebookEdit and AskUserQuestion.
func NewNames(host ...Tool) *Names {
	n := &Names{tools: make(map[string]Tool, len(builtin)+len(host)), host: make(map[string]bool, len(host))}
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
func (n *Names) Tool(name string) Tool {
	if t, ok := n.tools[strings.ToLower(name)]; ok {
		t.Name = name
		return t
	}
	plain := plainName(name)
	if t, ok := n.tools[plain]; ok && !n.host[plain] {
		t.Name = name
		return t
	}
	return Tool{Name: name}
}

// Unmapped returns the tools of an agent that no name of the format stands for. Lists apply to
// such a tool only if they name it. Tools that the host has described are left out.
func (n *Names) Unmapped(tools []string) []string {
	var all []string
	for _, name := range tools {
		t := n.Tool(name)
		if !t.Always && !t.isMapped() && !n.host[strings.ToLower(name)] && !slices.Contains(all, name) {
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
