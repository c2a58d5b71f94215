package permission

import (
	"slices"
	"strings"
)

// Kind is what a pattern is compared with.
type Kind uint8

const (
	// Opaque calls are for entries without a pattern only. The default.
	Opaque Kind = iota
	// Command is shell text that bash would run.
	Command
	// Path is a path of the host.
	Path
	// Text is a word, such as the name of an agent; "domain:example.com" in a
	// pattern stands for a URL of that host or below it.
	Text
	// Inert calls start nothing by themselves: any pattern is for them too.
	Inert
)

// Tool says what a tool of an agent is to the lists of skills.
type Tool struct {
	// Name is the tool's name as the model calls it. Case does not matter.
	Name string
	// As are the names, beside its own, that lists have for it: Bash, Read …
	As []string
	// Always: it may be called whatever is listed, and nobody is asked. That is
	// for control tools of frameworks.
	Always bool
	// Takes is what a pattern is compared with, and Field the field of the JSON
	// arguments that holds it; "" is the whole text of the call, for tools that
	// take one text. A tool that takes a Command must give it to bash or to a
	// POSIX shell.
	Takes Kind
	Field string
	// Harmless are the other fields of a Command that may hold text and do not
	// change what is run, such as a description. Numbers and booleans may always
	// be there; a call with any other field is for entries without a pattern.
	Harmless []string
}

// builtin are the tools of Satchel and names that the frameworks' own tools and
// many hosts have.
var builtin = []Tool{
	{Name: "skill_run", As: []string{"Bash"}},
	{Name: "skill_exec", As: []string{"Bash"}},
	// What is written to a session can be anything that its program runs, so no
	// pattern is for it.
	{Name: "skill_write_stdin", As: []string{"Bash"}},
	{Name: "skill_poll_session", As: []string{"Bash", "BashOutput"}, Takes: Inert},
	{Name: "skill_kill_session", As: []string{"Bash", "KillBash", "KillShell"}, Takes: Inert},

	{Name: "transfer_to_agent", Always: true},
	{Name: "exit", Always: true},

	{Name: "bash", Takes: Command, Field: "command", Harmless: []string{"description"}},
	{Name: "shell", As: []string{"Bash"}, Takes: Command, Field: "command", Harmless: []string{"description"}},
	{Name: "execute", As: []string{"Bash"}, Takes: Command, Field: "command", Harmless: []string{"description"}},
	{Name: "read_file", As: []string{"Read"}, Takes: Path, Field: "file_path"},
	{Name: "write_file", As: []string{"Write"}, Takes: Path, Field: "file_path"},
	{Name: "edit_file", As: []string{"Edit", "MultiEdit"}, Takes: Path, Field: "file_path"},
	{Name: "ls", Takes: Path, Field: "path"},
	{Name: "web_search", As: []string{"WebSearch"}},
	{Name: "web_fetch", As: []string{"WebFetch"}, Takes: Text, Field: "url"},
	{Name: "write_todos", As: []string{"TodoWrite"}},
	{Name: "ask_user", As: []string{"AskUserQuestion"}},
	{Name: "task", As: []string{"Agent"}, Takes: Text, Field: "subagent_type"},
}

// Names knows tools by name. The zero value knows none. It does not change once
// made.
type Names struct{ tools map[string]Tool }

// NewNames returns the built-in tools and those of the host, which replace
// built-in ones of the same name.
func NewNames(host ...Tool) *Names {
	n := &Names{tools: make(map[string]Tool, len(builtin)+len(host))}
	for _, t := range slices.Concat(builtin, host) {
		n.tools[strings.ToLower(t.Name)] = t
	}
	return n
}

// Tool returns what is known of a tool: of an unknown one, its name.
func (n *Names) Tool(name string) Tool {
	if t, ok := n.tools[strings.ToLower(name)]; ok {
		return t
	}
	return Tool{Name: name}
}
