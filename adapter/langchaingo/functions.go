package langchaingo

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel/core"
)

// Schemer is a host tool with a schema of its own: a JSON Schema of type object. Its Call gets
// the arguments as JSON. Other host tools have the framework's schema of one string, __arg1,
// and get that string.
type Schemer interface {
	tools.Tool
	// Schema returns the schema, the same at each call.
	Schema() json.RawMessage
}

// offer holds the definitions of the tools for the model. They are built once, so that every
// request contains the same bytes.
type offer struct {
	ownTools []llms.Tool          // Satchel\'s
	byName   map[string]llms.Tool // the definitions of Satchel's and the host's tools
	isOwn    map[string]bool      // the names of Satchel's tools
}

func newOffer(own []core.Tool, host []tools.Tool) (offer, error) {
	o := offer{byName: map[string]llms.Tool{}, isOwn: map[string]bool{}}
	isTaken := map[string]bool{}
	for _, t := range own {
		parameters, err := objectSchema(t.Schema)
		if err != nil {
			return offer{}, fmt.Errorf("%w: tool %q: %v", errSchema, t.Name, err)
		}
		def := definition(t.Name, t.Description, parameters)
		o.ownTools = append(o.ownTools, def)
		o.byName[t.Name], o.isOwn[t.Name], isTaken[strings.ToUpper(t.Name)] = def, true, true
	}
	for i, t := range host {
		if t == nil {
			return offer{}, fmt.Errorf("%w: host tool %d is nil", errArgument, i)
		}
		name := t.Name()
		if name == "" || isTaken[strings.ToUpper(name)] {
			return offer{}, fmt.Errorf("%w: host tool %q", errToolName, name)
		}
		parameters, err := hostSchema(t)
		if err != nil {
			return offer{}, fmt.Errorf("%w: tool %q: %v", errSchema, name, err)
		}
		o.byName[name] = definition(name, t.Description(), parameters)
	}
	return o, nil
}

func definition(name, description string, parameters map[string]any) llms.Tool {
	return llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
		Name: name, Description: description, Parameters: parameters,
	}}
}

func hostSchema(t tools.Tool) (map[string]any, error) {
	if s, ok := t.(Schemer); ok {
		return objectSchema(s.Schema())
	}
	return map[string]any{
		"type":       "object",
		"properties": map[string]any{argument: map[string]any{"title": argument, "type": "string"}},
		"required":   []any{argument},
	}, nil
}

// objectSchema decodes a schema into plain maps, because some clients can read nothing else. It
// adds an empty map of properties, which those clients need.
func objectSchema(raw json.RawMessage) (map[string]any, error) {
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, err
	}
	if schema["type"] != "object" {
		return nil, fmt.Errorf("type is %v, want object", schema["type"])
	}
	if schema["properties"] == nil {
		schema["properties"] = map[string]any{}
	}
	return schema, nil
}

// rewrite prepares the options of a model call for every client. It turns functions into tools,
// replaces known tools by their definitions, and adds Satchel's tools, or removes them if the
// session sees no skill. A second rewrite of the same options changes nothing.
func (o *offer) rewrite(opts *llms.CallOptions, noSkills bool) {
	tools, choice := o.toolsOf(opts, noSkills), opts.ToolChoice
	if choice == nil {
		choice = choiceOf(opts.FunctionCallBehavior)
	}
	if !isSendable(choice, tools) {
		choice = nil
	}
	opts.Functions, opts.FunctionCallBehavior, opts.Tools, opts.ToolChoice = nil, "", tools, choice
}

// toolsOf returns the tools of a call, each name once: functions, then tools of the options,
// then those of Satchel that are not among them. It is nil if there are none.
func (o *offer) toolsOf(opts *llms.CallOptions, noSkills bool) []llms.Tool {
	list := newToolList(len(opts.Functions) + len(opts.Tools) + len(o.ownTools))
	add := func(t llms.Tool) {
		if t.Function != nil && noSkills && o.isOwn[t.Function.Name] {
			return
		}
		list.add(t)
	}
	for i := range opts.Functions {
		add(o.toolOf(&opts.Functions[i]))
	}
	for _, t := range opts.Tools {
		if t.Function != nil && o.isOwn[t.Function.Name] {
			t = o.byName[t.Function.Name]
		}
		add(t)
	}
	for _, t := range o.ownTools {
		add(t)
	}
	if len(list.tools) == 0 {
		return nil
	}
	return list.tools
}

// toolList is a list of tools in which each name occurs once.
type toolList struct {
	tools []llms.Tool
	names map[string]bool // the names of a long list; nil for a short one
}

func newToolList(size int) toolList {
	l := toolList{tools: make([]llms.Tool, 0, size)}
	if size > shortList {
		l.names = make(map[string]bool, size)
	}
	return l
}

// add adds a tool unless the list has one with that name.
func (l *toolList) add(t llms.Tool) {
	if t.Function == nil {
		l.tools = append(l.tools, t)
		return
	}
	name := t.Function.Name
	if l.names[name] || l.names == nil && hasTool(l.tools, name) {
		return
	}
	if l.names != nil {
		l.names[name] = true
	}
	l.tools = append(l.tools, t)
}

// toolOf converts a deprecated function into a tool. It returns the installed definition if the
// function has the framework's schema or is one of Satchel's.
func (o *offer) toolOf(f *llms.FunctionDefinition) llms.Tool {
	if t, ok := o.byName[f.Name]; ok && (o.isOwn[f.Name] || hasOnlyArgument(f.Parameters)) {
		return t
	}
	t := llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
		Name: f.Name, Description: f.Description, Parameters: f.Parameters, Strict: f.Strict,
	}}
	if raw, err := json.Marshal(f.Parameters); err == nil {
		if plain, err := objectSchema(raw); err == nil {
			t.Function.Parameters = plain
		}
	}
	return t
}

// hasOnlyArgument reports whether parameters are the schema that the framework gives every
// tool.
func hasOnlyArgument(parameters any) bool {
	m, ok := parameters.(map[string]any)
	if !ok {
		return false
	}
	if properties, ok := m["properties"].(map[string]any); ok {
		_, ok = properties[argument]
		return ok && len(properties) == 1
	}
	properties := reflect.ValueOf(m["properties"])
	return properties.Kind() == reflect.Map && properties.Len() == 1 &&
		properties.Type().Key().Kind() == reflect.String && properties.MapIndex(reflect.ValueOf(argument).Convert(properties.Type().Key())).IsValid()
}

// choiceOf converts the deprecated FunctionCallBehavior: "none", "auto", or the JSON object
// {"name": "..."} of one function.
func choiceOf(b llms.FunctionCallBehavior) any {
	if b == "" {
		return nil
	}
	var one llms.FunctionReference
	if err := json.Unmarshal([]byte(b), &one); err == nil && one.Name != "" {
		return llms.ToolChoice{Type: "function", Function: &one}
	}
	return string(b)
}

// isSendable reports whether a tool choice can be sent with these tools. Services refuse a
// choice without tools, and the choice of a tool that is not in the list.
func isSendable(choice any, list []llms.Tool) bool {
	if choice == nil || len(list) == 0 {
		return false
	}
	var name string
	switch c := choice.(type) {
	case llms.ToolChoice:
		if c.Function != nil {
			name = c.Function.Name
		}
	case *llms.ToolChoice:
		if c != nil && c.Function != nil {
			name = c.Function.Name
		}
	}
	return name == "" || hasTool(list, name)
}

func hasTool(list []llms.Tool, name string) bool {
	return slices.ContainsFunc(list, func(t llms.Tool) bool { return t.Function != nil && t.Function.Name == name })
}
