// Package needs compares what skills declare to need with what there is. The programs are found by
// probes that run in the background.
package needs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// Verdict says whether a need is met.
type Verdict int8

// The verdicts. The zero value says that it is not known.
const (
	Unknown Verdict = iota
	Met
	Unmet
)

// Of returns Met or Unmet.
func Of(isMet bool) Verdict {
	if isMet {
		return Met
	}
	return Unmet
}

// Kind is the kind of a need.
type Kind uint8

// The kinds, in the order in which answers name them.
const (
	Bin Kind = iota
	AnyBin
	Env
	Secret
	MCP
	Tool
	OS
	Config
)

// Need is one need of a skill. Names has several names for AnyBin and OS, of which one is enough.
type Need struct {
	Kind    Kind
	Names   []string
	Verdict Verdict
	// IsOptional reports that the skill works without it.
	IsOptional bool
}

// IsMissing reports whether the skill lacks something.
func (n *Need) IsMissing() bool { return n.Verdict == Unmet && !n.IsOptional }

// Facts are what needs are compared with. A nil function knows nothing.
type Facts struct {
	// Program reports whether commands of the skill find a program.
	Program func(name string) Verdict
	// Variable reports whether commands of the skill get a variable.
	Variable func(name string) Verdict
	// System is the system on which commands run, by the name of Go, "" if it is not known.
	System string
	// Tools are the names of the agent's tools. HasTools reports that they are known.
	Tools    []string
	HasTools bool
}

// Check compares the needs of a skill with facts. The result is in the order of [Kind].
func Check(n *core.Needs, f Facts) []Need {
	if n == nil {
		return nil
	}
	var all []Need
	each := func(kind Kind, names []string, judge func(string) Verdict) {
		for _, name := range names {
			isOptional := (kind == Bin || kind == Env) && slices.Contains(n.Optional, name)
			all = append(all, Need{kind, []string{name}, ask(judge, name), isOptional})
		}
	}
	each(Bin, n.Bins, f.Program)
	for _, names := range n.AnyBins {
		all = append(all, Need{Kind: AnyBin, Names: names, Verdict: anyOf(names, f.Program)})
	}
	each(Env, n.Env, f.Variable)
	each(Secret, slices.DeleteFunc(slices.Clone(n.Secrets), func(name string) bool { return slices.Contains(n.Env, name) }), f.Variable)
	each(MCP, n.MCP, f.server)
	each(Tool, n.Tools, f.tool)
	if len(n.OS) > 0 {
		system := Need{Kind: OS, Names: n.OS}
		if f.System != "" {
			system.Verdict = Of(slices.Contains(n.OS, f.System))
		}
		all = append(all, system)
	}
	each(Config, n.Config, nil)
	return all
}

func ask(judge func(string) Verdict, name string) Verdict {
	if judge == nil {
		return Unknown
	}
	return judge(name)
}

// anyOf returns Met if one of the names is, and Unmet only if none can be.
func anyOf(names []string, judge func(string) Verdict) Verdict {
	result := Unmet
	for _, name := range names {
		switch ask(judge, name) {
		case Met:
			return Met
		case Unknown:
			result = Unknown
		}
	}
	return result
}

// server reports whether the agent has a tool of an MCP server. The names of such tools begin with
// that of the server, perhaps after "mcp": mcp__github__search, github_search, GITHUB_SEARCH.
func (f Facts) server(name string) Verdict {
	if !f.HasTools {
		return Unknown
	}
	server := words(name)
	return Of(slices.ContainsFunc(f.Tools, func(tool string) bool {
		tool = strings.TrimPrefix(words(tool), "mcp_")
		return tool == server || strings.HasPrefix(tool, server+"_")
	}))
}

func (f Facts) tool(name string) Verdict {
	if !f.HasTools {
		return Unknown
	}
	return Of(slices.ContainsFunc(f.Tools, func(tool string) bool { return tool == name || words(tool) == words(name) }))
}

// words returns a name in lower case, with one "_" between its words.
func words(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}), "_")
}

// Missing returns the words for the needs that are not met, such as "program ffmpeg".
func Missing(all []Need) []string {
	var missing []string
	for i := range all {
		if n := &all[i]; n.IsMissing() {
			missing = append(missing, n.words())
		}
	}
	return missing
}

// words names a need in an answer to the model.
func (n *Need) words() string {
	switch n.Kind {
	case Bin:
		return "program " + n.Names[0]
	case AnyBin:
		if len(n.Names) == 1 {
			return "program " + n.Names[0]
		}
		text := "one of " + strings.Join(n.Names[:min(len(n.Names), maxWords)], ", ")
		if more := len(n.Names) - maxWords; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		return text
	case Env, Secret:
		return "variable " + n.Names[0]
	case MCP:
		return "MCP server " + n.Names[0]
	case Tool:
		return "tool " + n.Names[0]
	case OS:
		return "only on " + systems(n.Names)
	}
	return "setting " + n.Names[0]
}

// Line returns the line of an answer that says what is missing, "" for nothing.
func Line(missing []string) string {
	if text := Text(missing); text != "" {
		return "missing here: " + text
	}
	return ""
}

// Text joins the words of what is missing, and says how many more there are.
func Text(missing []string) string {
	text := strings.Join(missing[:min(len(missing), maxWords)], "; ")
	if more := len(missing) - maxWords; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// systems names systems for people.
func systems(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		switch name {
		case "darwin":
			shown[i] = "macOS"
		case "linux":
			shown[i] = "Linux"
		case "windows":
			shown[i] = "Windows"
		default:
			shown[i] = name
		}
	}
	return strings.Join(shown, ", ")
}

// String says for people what the need is and whether it is met, such as "ffmpeg (missing)".
func (n Need) String() string {
	name := strings.Join(n.Names, ", ")
	switch n.Kind {
	case AnyBin:
		name = "one of " + name
	case MCP:
		name = "MCP server " + name
	case Tool:
		name = "tool " + name
	case OS:
		name = "only on " + systems(n.Names)
	case Config:
		name = "setting " + name
	}
	switch {
	case n.Verdict == Unknown:
		return name + " (not checked)"
	case n.Verdict == Met:
		return name
	case n.IsOptional:
		return name + " (optional)"
	case n.Kind == Env || n.Kind == Secret:
		return name + " (not given)"
	case n.Kind == OS:
		return name
	}
	return name + " (missing)"
}
