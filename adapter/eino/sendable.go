package eino

import (
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// sendable rewrites what a model said into a form that services and clients accept. It replaces
// names of tools that do not exist, and arguments that are no JSON object: otherwise services
// would refuse this request and every later one. messages are those of one request. The same
// message has the same form in each request, and none is changed in place.
func (a *Adapter) sendable(messages []*schema.Message, offered []string) {
	name := func(name string) string {
		safe := core.ToolCall{Name: name}.SendableName()
		if safe == name || a.hooks.Owns(name) || slices.Contains(a.host, name) || slices.Contains(offered, name) {
			return name
		}
		return safe
	}
	for i, m := range messages {
		if m == nil {
			continue
		}
		if m.Role == schema.Tool && m.ToolName != "" {
			if safe := name(m.ToolName); safe != m.ToolName {
				copied := *m
				copied.ToolName = safe
				messages[i] = &copied
			}
			continue
		}
		for j := range m.ToolCalls {
			call := m.ToolCalls[j]
			call.Function.Name = name(call.Function.Name)
			call.Function.Arguments = core.ToolCall{Arguments: call.Function.Arguments}.SendableArguments()
			messages[i] = withCall(messages[i], m, j, call)
		}
	}
}
