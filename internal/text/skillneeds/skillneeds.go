// Package skillneeds reads what a skill declares to need: programs, variables, systems and tools.
// All input is untrusted. What cannot be read is left out, with a problem that says why.
package skillneeds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/printable"
)

// Problem is a part of a declaration that cannot be read.
type Problem struct {
	Line    int // of the file, 0 if it is not known
	Message string
}

// FrontMatter holds the fields of front matter that declare needs. A nil field is missing.
type FrontMatter struct {
	Metadata *yaml.Node // a map, or a text that is JSON
	Requires *yaml.Node
	Secrets  *yaml.Node
}

// keys are the keys of metadata that hold needs, the newest one first.
var keys = []string{"openclaw", "clawdbot", "moltbot", "clawdis"}

// Read returns the needs in front matter, nil if there are none. The lists of several keys of
// metadata are joined. If two keys have the same list, the newer key counts.
func Read(f FrontMatter) (*core.Needs, []Problem) {
	var r reader
	if metadata := mapping(f.Metadata); metadata != nil {
		for _, key := range keys {
			at, value := "metadata."+key, field(metadata, key)
			switch section := mapping(value); {
			case section != nil:
				r.section(at, section)
			case value != nil && !isNull(value):
				r.note(value.Line, "%s is not a map and is ignored", at)
			}
		}
		r.secrets("metadata.secrets", field(metadata, "secrets"))
	}
	r.isKnown = map[string]bool{} // what follows is added to the lists of metadata
	r.requires("requires", f.Requires)
	r.secrets("secrets", f.Secrets)
	return r.result()
}

// reader collects needs and problems.
type reader struct {
	needs    core.Needs
	problems []Problem
	// isKnown has the lists that a newer key has given.
	isKnown map[string]bool
	// required and optional are programs and variables, by what their entries say.
	required, optional []string
}

// result returns the needs, nil if nothing was declared.
func (r *reader) result() (*core.Needs, []Problem) {
	n := &r.needs
	if n.PrimaryEnv != "" && !slices.Contains(n.Env, n.PrimaryEnv) {
		n.Env = append(n.Env, n.PrimaryEnv)
	}
	for _, name := range r.optional {
		if !slices.Contains(r.required, name) && !slices.Contains(n.Optional, name) {
			n.Optional = append(n.Optional, name)
		}
	}
	if reflect.ValueOf(*n).IsZero() {
		return nil, r.problems
	}
	return n, r.problems
}

// note adds a problem.
func (r *reader) note(line int, format string, args ...any) {
	r.problems = append(r.problems, Problem{line, fmt.Sprintf(format, args...)})
}

// section reads the value of one of the keys.
func (r *reader) section(at string, section *yaml.Node) {
	r.requires(at+".requires", field(section, "requires"))
	names, _ := r.list(at+".os", field(section, "os"), "a system", isSystem)
	for _, name := range names {
		if name = systems[strings.ToLower(name)]; !slices.Contains(r.needs.OS, name) {
			r.needs.OS = append(r.needs.OS, name)
		}
	}
	if names, _ = r.list(at+".primaryEnv", field(section, "primaryEnv"), "a variable", isVariable); len(names) > 0 {
		r.needs.PrimaryEnv = names[0]
	}
	if always := field(section, "always"); always != nil && r.first(at+".always") {
		switch strings.ToLower(always.Value) {
		case "true", "yes", "on":
			r.needs.Always = true
		case "false", "no", "off", "", "null", "~":
		default:
			r.note(always.Line, "%s.always is neither true nor false and is ignored", at)
		}
	}
	r.install(at+".install", field(section, "install"))
}

// requires reads a map of lists.
func (r *reader) requires(at string, n *yaml.Node) {
	if n == nil || isNull(n) {
		return
	}
	m := mapping(n)
	if m == nil {
		r.note(n.Line, "%s is not a map and is ignored", at)
		return
	}
	add := func(to *[]string, key, what string, is func(string) bool) {
		names, optional := r.list(at+"."+key, field(m, key), what, is)
		for _, name := range names {
			if !slices.Contains(*to, name) {
				if len(*to) == maxNames {
					continue
				}
				*to = append(*to, name)
			}
			if to != &r.needs.Bins && to != &r.needs.Env {
				continue
			}
			if slices.Contains(optional, name) {
				r.optional = append(r.optional, name)
			} else {
				r.required = append(r.required, name)
			}
		}
	}
	add(&r.needs.Bins, "bins", "a program", isProgram)
	if names, _ := r.list(at+".anyBins", field(m, "anyBins"), "a program", isProgram); len(names) > 0 {
		r.needs.AnyBins = append(r.needs.AnyBins, names)
	}
	add(&r.needs.Env, "env", "a variable", isVariable)
	add(&r.needs.Config, "config", "a setting", isLine)
	add(&r.needs.MCP, "mcp", "a server", isLine)
	add(&r.needs.Tools, "tools", "a tool", isLine)
}

// secrets reads names of variables.
func (r *reader) secrets(at string, n *yaml.Node) {
	if n != nil && n.Kind == yaml.ScalarNode {
		n = words(n)
	}
	names, _ := r.list(at, n, "a variable", isSecret)
	r.required = append(r.required, names...)
	for _, name := range names {
		if !slices.Contains(r.needs.Secrets, name) && len(r.needs.Secrets) < maxNames {
			r.needs.Secrets = append(r.needs.Secrets, name)
		}
	}
}

// first reports whether no newer key has given the list at this place, and notes that one has.
func (r *reader) first(at string) bool {
	name := at[strings.LastIndexByte(at, '.')+1:]
	if r.isKnown == nil {
		r.isKnown = map[string]bool{}
	}
	is := !r.isKnown[name]
	r.isKnown[name] = true
	return is
}

// list reads a list of names, see [entries], and returns which of them are optional everywhere in it. An item may
// be a map with the name. A name for which is returns false is a problem.
func (r *reader) list(at string, n *yaml.Node, what string, is func(string) bool) (names, optional []string) {
	if n == nil || isNull(n) || !r.first(at) {
		return nil, nil
	}
	all := entries(n)
	var bad []string
	line := 0
	for i, e := range all {
		item := e.node
		if i == maxNames {
			r.note(item.Line, "%s has %d names; the first %d are read", at, len(all), maxNames)
			break
		}
		name := nameOf(item)
		switch {
		case name == "" && isNull(item):
		case !is(name):
			if bad = append(bad, name); line == 0 {
				line = item.Line
			}
		case !slices.Contains(names, name):
			if names = append(names, name); e.isOptional {
				optional = append(optional, name)
			}
		case !e.isOptional:
			optional = slices.DeleteFunc(optional, func(other string) bool { return other == name })
		}
	}
	if len(bad) > 0 {
		more := ""
		if len(bad) > 1 {
			more = fmt.Sprintf(" (and %d more)", len(bad)-1)
		}
		first := "an entry that is not text"
		if bad[0] != "" {
			first = fmt.Sprintf("%q", printable.Cut(bad[0], maxQuoted))
		}
		r.note(line, "%s: %s is not the name of %s and is ignored%s", at, first, what, more)
	}
	return names, optional
}

// install keeps the entries of install as JSON.
func (r *reader) install(at string, n *yaml.Node) {
	if n == nil || isNull(n) || !r.first(at) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		r.note(n.Line, "%s is not a list and is ignored", at)
		return
	}
	for _, item := range n.Content[:min(len(n.Content), maxInstall)] {
		var value any
		if item.Decode(&value) != nil {
			continue
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(value) == nil {
			r.needs.Install = append(r.needs.Install, printable.CutLine(strings.TrimSpace(b.String()), maxInstallText))
		}
	}
}
