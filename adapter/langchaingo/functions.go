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

// Schemer is a host tool with a schema of its own: a JSON Schema of type
// object. Its Call then gets the arguments as JSON. The other host tools keep
// the framework's schema of one string, __arg1, and get that string.
type Schemer interface {
	tools.Tool
	// Schema returns the schema, the same at each call.
	Schema() json.RawMessage
}

// offer holds the definitions of the tools as the model is offered them. They
// are made once, so that every request carries the same bytes.
type offer struct {
	ours  []llms.Tool
	known map[string]llms.Tool // ours and the host's, by name
	own   map[string]bool      // names of ours
}

func newOffer(ours []core.Tool, host []tools.Tool) (offer, error) {
	o := offer{known: map[string]llms.Tool{}, own: map[string]bool{}}
	taken := map[string]bool{}
	for _, t := range ours {
		parameters, err := objectSchema(t.Schema)
		if err != nil {
			return offer{}, fmt.Errorf("%w: tool %q: %v", errSchema, t.Name, err)
		}
		def := definition(t.Name, t.Description, parameters)
		o.ours = append(o.ours, def)
		o.known[t.Name], o.own[t.Name], taken[strings.ToUpper(t.Name)] = def, true, true
	}
	for i, t := range host {
		if t == nil {
			return offer{}, fmt.Errorf("%w: host tool %d is nil", errArgument, i)
		}
		name := t.Name()
		if name == "" || taken[strings.ToUpper(name)] {
			return offer{}, fmt.Errorf("%w: host tool %q", errToolName, name)
		}
		parameters, err := hostSchema(t)
		if err != nil {
			return offer{}, fmt.Errorf("%w: tool %q: %v", errSchema, name, err)
		}
		o.known[name] = definition(name, t.Description(), parameters)
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

// objectSchema decodes into plain maps: some clients read nothing else, and
// want a map of properties even where there are none.
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

// rewrite makes the options of a model call ready for every client. Functions become tools, and
// known tools get their definitions. Satchel's tools are added, or removed if the session sees
// no skill. It may run more than once on the same options.
func (o *offer) rewrite(opts *llms.CallOptions, noSkills bool) {
	list := make([]llms.Tool, 0, len(opts.Functions)+len(opts.Tools)+len(o.ours))
	var seen map[string]bool
	if cap(list) > 32 { // for a few, looking through the list is faster
		seen = make(map[string]bool, cap(list))
	}
	put := func(t llms.Tool) {
		if t.Function != nil {
			name := t.Function.Name
			if seen[name] || seen == nil && offers(list, name) || noSkills && o.own[name] {
				return
			}
			if seen != nil {
				seen[name] = true
			}
		}
		list = append(list, t)
	}
	for i := range opts.Functions {
		put(o.function(&opts.Functions[i]))
	}
	for _, t := range opts.Tools {
		if t.Function != nil && o.own[t.Function.Name] {
			t = o.known[t.Function.Name]
		}
		put(t)
	}
	for _, t := range o.ours {
		put(t)
	}
	if opts.ToolChoice == nil {
		opts.ToolChoice = choiceOf(opts.FunctionCallBehavior)
	}
	if len(list) == 0 {
		list = nil
	}
	if !offered(opts.ToolChoice, list) {
		opts.ToolChoice = nil
	}
	opts.Functions, opts.FunctionCallBehavior, opts.Tools = nil, "", list
}

// function turns a deprecated definition into a tool. A definition of a tool
// that was installed is the one made then.
func (o *offer) function(f *llms.FunctionDefinition) llms.Tool {
	if t, ok := o.known[f.Name]; ok && (o.own[f.Name] || onlyArgument(f.Parameters)) {
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

// onlyArgument reports the schema that the framework makes for every tool.
func onlyArgument(parameters any) bool {
	m, ok := parameters.(map[string]any)
	if !ok {
		return false
	}
	if plain, ok := m["properties"].(map[string]any); ok {
		_, ok = plain[argument]
		return ok && len(plain) == 1
	}
	properties := reflect.ValueOf(m["properties"])
	return properties.Kind() == reflect.Map && properties.Len() == 1 &&
		properties.Type().Key().Kind() == reflect.String && properties.MapIndex(reflect.ValueOf(argument).Convert(properties.Type().Key())).IsValid()
}

// choiceOf maps the deprecated behaviour: "none", "auto", or the JSON object
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

// offered reports whether a choice can be sent with these tools: services
// refuse one without tools, and one of a tool that is not there.
func offered(choice any, list []llms.Tool) bool {
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
	return name == "" || offers(list, name)
}

func offers(list []llms.Tool, name string) bool {
	return slices.ContainsFunc(list, func(t llms.Tool) bool { return t.Function != nil && t.Function.Name == name })
}
