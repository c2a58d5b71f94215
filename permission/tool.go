package permission

// Kind says what a pattern is compared with. Calls of the zero Kind are allowed by entries
// without a pattern only.
type Kind uint8

const (
	// Command is shell text that bash would run.
	Command Kind = iota + 1
	// Path is a path of the host.
	Path
	// Text is a word, such as the name of an agent; "domain:example.com" in a
	// pattern stands for a URL of that host or below it.
	Text
)

// hasText reports whether patterns are compared with a text of the call.
func (k Kind) hasText() bool { return k >= Command && k <= Text }

// Tool describes how allowed-tools rules match one of the agent's tools.
type Tool struct {
	// Name is the tool's name as the model calls it. Case does not matter.
	Name string
	// As are the names that lists use for it beside its own: Bash, Read …
	As []string
	// Always reports that lists and approvers do not apply to the tool. It is for control tools
	// of frameworks.
	Always bool
	// Takes says what a pattern is compared with. Field is the field of the JSON arguments that
	// holds it; "" means the whole text of the call, for tools that take one text. A tool that
	// takes a Command must pass it to bash or to a POSIX shell.
	Takes Kind
	Field string
	// Harmless are the other fields of a Command that may hold text and do not change what
	// is run, such as a description. Numbers and booleans may always be there. A call with
	// any other field is allowed by entries without a pattern only.
	Harmless []string
}
