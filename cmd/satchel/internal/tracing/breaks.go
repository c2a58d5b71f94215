package tracing

import (
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// comparison returns a function that compares requests as cache-report does.
func comparison() tracelog.Comparison {
	var renderer *prompt.Renderer
	return func(before, now *tracelog.Call) (message, lost int, isBroken bool, err error) {
		if renderer == nil {
			if renderer, err = prompt.NewO200k(); err != nil {
				return 0, 0, false, err
			}
		}
		was, err := renderer.Render(promptOf(before))
		if err != nil {
			return 0, 0, false, err
		}
		is, err := renderer.Render(promptOf(now))
		if err != nil {
			return 0, 0, false, err
		}
		block, lost, isBroken := cachemodel.Breaks(was, is)
		return block.Message, lost, isBroken, nil
	}
}

// promptOf returns what cache-report compares of a request.
func promptOf(c *tracelog.Call) prompt.Request {
	var r prompt.Request
	for i := range c.Tools.Tools {
		r.Tools = append(r.Tools, prompt.Tool(c.Tools.Tools[i]))
	}
	for _, m := range c.Messages() {
		rendered := prompt.Message{Role: m.Role, Content: m.Content}
		for _, one := range m.Media {
			rendered.Media = append(rendered.Media, prompt.Media(one))
		}
		for _, one := range m.ToolCalls {
			rendered.Calls = append(rendered.Calls, prompt.Call(one))
		}
		r.Messages = append(r.Messages, rendered)
	}
	return r
}
