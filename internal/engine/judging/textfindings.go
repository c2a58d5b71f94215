package judging

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// The codes of [Names.TextFindings].
const (
	codeToolForbidden skillmd.Code = "tool-forbidden" // the skill's own lists deny a tool that its text names
	codeToolUnknown   skillmd.Code = "tool-unknown"   // the text names a tool that is not known
)

var (
	// quotedName is a name in backticks, with or without an argument in parentheses.
	quotedName = regexp.MustCompile("`([A-Za-z][A-Za-z0-9_-]*)(?:\\([^`]*\\))?`")
	// toolPhrase is a name before the word tool.
	toolPhrase = regexp.MustCompile("([`*\"]*)\\b([A-Za-z][A-Za-z0-9_-]*)[`*\"]*\\s+tool\\b")
	// bareName is a word that names a tool wherever it stands, or a name with an argument.
	bareName = regexp.MustCompile(`(?:^|[\s("'*,;:])(?:(mcp__[A-Za-z0-9_-]+|(?:[A-Z]+[a-z]+){2,})(?:$|[\s.,;:!?)"'*])|([A-Z][A-Za-z]+)\([^()\s]+[^()]*\))`)
	// ownName is a name in the form of Satchel's tools. It is not part of a path or of an assignment.
	ownName = regexp.MustCompile("(?:^|[\\s(\"'`*,;:])(skills?_[a-z0-9_]*[a-z0-9])(?:$|[.:!?]+(?:$|[\\s\"'`*)])|[\\s,;)\"'`*(])")
	// calledName is such a name that the text says to call.
	calledName = regexp.MustCompile("(?i)\\b(?:call|invoke)(?:s|ing)?\\s+(?:the\\s+)?[`*\"']*(skills?_[a-z0-9_]*[a-z0-9])(?:$|[.:!?]+(?:$|[\\s\"'`*)])|[\\s,;)\"'`*(])")
	// compoundName is a name of several words, such as WebFetch or read_file.
	compoundName = regexp.MustCompile(`^([A-Z]+[a-z0-9]+){2,}$|^[A-Za-z0-9]+(_[A-Za-z0-9]+)+$`)
	capitalised  = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

// exactNames are the tools of the format as texts write them.
var exactNames = []string{
	"Bash", "BashOutput", "KillBash", "KillShell", "Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "NotebookRead", "Glob", "Grep", "LS",
	"WebFetch", "WebSearch", "Task", "Agent", "SlashCommand", "TodoWrite", "TodoRead", "AskUserQuestion", "ExitPlanMode",
	"TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskOutput", "TaskStop",
}

// ownTools are Satchel's tools that no list restricts.
var ownTools = []string{"skill_load", "skill_unload", "skill_read", "skill_search", "skill_list_docs", "skill_select_docs"}

// TextFindings returns warnings about tools that the text of a skill names although its own lists do
// not allow them, or although neither the format nor the host defines them. A name counts in
// backticks or before the word tool, and not in code blocks. Names that are no words of a language
// count anywhere else. A name such as skill_x that is not known counts only behind "call" or
// "invoke", because texts name variables and fields so. line is the line of the body in its file.
func (n *Names) TextFindings(skill core.Skill, body string, line int) []skillmd.Diagnostic {
	var all []skillmd.Diagnostic
	allowed, denied := Rules(skill.AllowedTools), Rules(skill.DisallowedTools)
	seen := make(map[string]bool)
	note := func(at int, name string) {
		code, message := skillmd.Code(""), ""
		tool := n.Tool(name)
		names := func(r Rule) bool { return r.names(&tool) }
		switch {
		case slices.Contains(ownTools, name):
		case !n.knows(name) && !slices.ContainsFunc(allowed, names):
			code, message = codeToolUnknown, "the text names a tool %s, which is not known"
		case slices.ContainsFunc(denied, func(r Rule) bool { return r.Any && names(r) }):
			code, message = codeToolForbidden, "the text names the tool %s, which disallowed-tools denies"
		case skill.AllowedTools != nil && !slices.ContainsFunc(allowed, names):
			code, message = codeToolForbidden, "the text names the tool %s, which allowed-tools does not allow"
		}
		if code != "" && len(all) < maxFindings {
			all = append(all, skillmd.Diagnostic{File: skill.Place, Line: at, Code: code, Severity: skillmd.Warning, Message: fmt.Sprintf(message, oneLine(name))})
		}
	}
	for number, text := range skilltext.Prose(body) {
		for _, name := range n.namedTools(text) {
			if !seen[name] {
				seen[name] = true
				note(line+number, name)
			}
		}
	}
	return all
}

// namedTools returns the names of tools in a line of text.
func (n *Names) namedTools(text string) (names []string) {
	for _, m := range quotedName.FindAllStringSubmatch(text, -1) {
		_, known := n.tools[m[1]]
		if slices.Contains(exactNames, m[1]) || strings.HasPrefix(m[1], "mcp__") || known && strings.Contains(m[1], "_") {
			names = append(names, m[1])
		}
	}
	for _, m := range bareName.FindAllStringSubmatch(text, -1) {
		if name := m[1] + m[2]; slices.Contains(exactNames, name) || strings.HasPrefix(name, "mcp__") {
			names = append(names, name)
		}
	}
	for _, m := range ownName.FindAllStringSubmatch(text, -1) {
		if _, known := n.tools[m[1]]; known {
			names = append(names, m[1])
		}
	}
	for _, m := range calledName.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	for _, m := range toolPhrase.FindAllStringSubmatch(text, -1) {
		isQuoted := strings.Contains(m[1], "`")
		if slices.Contains(exactNames, m[2]) || compoundName.MatchString(m[2]) || isQuoted && capitalised.MatchString(m[2]) {
			names = append(names, m[2])
		}
	}
	return names
}
