package skillneeds

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/core"
)

// AgentFile is the path of the file in a skill's folder that Codex reads.
const AgentFile = "agents/openai.yaml"

// ReadAgentFile returns the needs in dependencies.tools of an [AgentFile], nil if there are none.
func ReadAgentFile(text []byte) (*core.Needs, []Problem) {
	var r reader
	if len(text) > MaxAgentFile {
		r.note(0, "it has more than %d bytes and is not read", MaxAgentFile)
		return nil, r.problems
	}
	root := decode(text)
	if root == nil {
		if len(strings.TrimSpace(string(text))) > 0 {
			r.note(0, "it is not valid YAML and is not read")
		}
		return nil, r.problems
	}
	list := field(field(root, "dependencies"), "tools")
	if list == nil || isNull(list) {
		return nil, nil
	}
	if list.Kind != yaml.SequenceNode {
		r.note(list.Line, "dependencies.tools is not a list and is ignored")
		return nil, r.problems
	}
	for i, item := range list.Content {
		if i == maxNames {
			r.note(item.Line, "dependencies.tools has %d entries; the first %d are read", len(list.Content), maxNames)
			break
		}
		r.dependency(item)
	}
	return r.result()
}

// dependency reads an entry of dependencies.tools.
func (r *reader) dependency(item *yaml.Node) {
	value := field(item, "value")
	if value == nil || value.Kind != yaml.ScalarNode {
		r.note(item.Line, "an entry of dependencies.tools has no value and is ignored")
		return
	}
	to, what, is := &r.needs.Tools, "a tool", isLine
	kind := ""
	if n := field(item, "type"); n != nil {
		kind = strings.ToLower(n.Value)
	}
	switch kind {
	case "mcp":
		to, what = &r.needs.MCP, "a server"
	case "env_var", "env":
		to, what, is = &r.needs.Env, "a variable", isVariable
	case "cli", "bin", "binary", "program":
		to, what, is = &r.needs.Bins, "a program", isProgram
	}
	r.isKnown = nil
	names, _ := r.list("dependencies.tools", value, what, is)
	for _, name := range names {
		if !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
}

// Join returns the needs of both, nil if there are none. It changes neither.
func Join(a, b *core.Needs) *core.Needs {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	joined := *a
	joined.Bins = union(a.Bins, b.Bins)
	joined.AnyBins = append(slices.Clip(a.AnyBins), b.AnyBins...)
	joined.Env, joined.Secrets = union(a.Env, b.Env), union(a.Secrets, b.Secrets)
	joined.Optional = slices.DeleteFunc(union(a.Optional, b.Optional), func(name string) bool {
		return isRequired(a, name) || isRequired(b, name)
	})
	joined.Config, joined.OS = union(a.Config, b.Config), union(a.OS, b.OS)
	joined.MCP, joined.Tools = union(a.MCP, b.MCP), union(a.Tools, b.Tools)
	if joined.PrimaryEnv == "" {
		joined.PrimaryEnv = b.PrimaryEnv
	}
	joined.Always = a.Always || b.Always
	joined.Install = append(slices.Clip(a.Install), b.Install...)
	return &joined
}

// isRequired reports whether needs have a program or variable that is not optional.
func isRequired(n *core.Needs, name string) bool {
	return (slices.Contains(n.Bins, name) || slices.Contains(n.Env, name)) && !slices.Contains(n.Optional, name)
}

// union returns the names of both lists, each once.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
