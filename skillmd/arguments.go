package skillmd

import (
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/skillargs"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// argumentNames returns the first names in the value of the field arguments, and how many names it
// has. ok is false if the value holds something else.
func argumentNames(n *yaml.Node) (names []string, count int, ok bool) {
	ok = true
	switch n.Kind {
	case yaml.ScalarNode:
		text, _ := scalar(n)
		names = strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
	case yaml.SequenceNode:
		for _, item := range n.Content {
			text, isText := scalar(item)
			if item.Kind == yaml.MappingNode {
				text, isText = nameOf(item)
			}
			names, ok = append(names, strings.TrimSpace(text)), ok && isText
		}
	default:
		return nil, 0, false
	}
	count = len(names)
	names = names[:min(count, skillargs.MaxNames)]
	for i, name := range names {
		names[i] = printable.Replaced(name)
	}
	return names, count, ok
}

// nameOf returns the field name of a map.
func nameOf(n *yaml.Node) (name string, ok bool) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key, _ := scalar(n.Content[i]); key == "name" {
			return scalar(n.Content[i+1])
		}
	}
	return "", false
}

// checkArguments reports what cannot be read of the field arguments.
func (p *parser) checkArguments(f field) {
	if f.value == nil {
		return
	}
	names, count, ok := argumentNames(f.value)
	if !ok {
		p.report(oddity, f.line, codeArgumentsType, "arguments is neither text nor a list of names; what is none is not read")
		return
	}
	if count > len(names) {
		p.report(oddity, f.line, codeArgumentsMany, "arguments has %d names; the first %d are read", count, len(names))
	}
	if i := slices.IndexFunc(names, func(name string) bool { return !skillargs.IsName(name) }); i >= 0 {
		p.report(oddity, f.line, codeArgumentsName, "argument %s is no name of a placeholder: use letters, digits, \"-\" and \"_\"", skilltext.Quote(names[i]))
	}
}

// commandLine matches a command whose output other programs put into the text of a skill.
var commandLine = regexp.MustCompile("(?m)(?:^|[\\s(\\[{|>*_\"'])!`[^`\n]+`|^[ \t]*`{3,}!")

// adviseCommands returns a finding for each line of the body with a command that is not run.
func adviseCommands(text string, first int) (all []Diagnostic) {
	last := 0
	for _, at := range commandLine.FindAllStringIndex(text, maxCommands) {
		// The match may begin with the end of the line before.
		line := first + strings.Count(text[:at[0]], "\n")
		if text[at[0]] == '\n' {
			line++
		}
		if line == last {
			continue
		}
		last = line
		all = append(all, Diagnostic{Line: line, Code: codeCommand, Severity: Warning, Message: "a command behind \"!\" is not run: the model gets it as it is written"})
	}
	return all
}
