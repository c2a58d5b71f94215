package langchaingo

import (
	"maps"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// merged returns the response as an agent must see it: one choice with all text and all calls.
// Agents read the first choice only, and some clients return one choice per content block.
// Alternatives that the host asked for (N, CandidateCount) stay separate. Calls are complete
// and have ids. ordinal is the number of assistant messages in the request, which is the place
// of the response. fragments says that a call may be the rest of the one before it. The
// client's response is not changed: it may come from a cache.
func (o *offer) merged(resp *llms.ContentResponse, alternatives bool, ordinal int, fragments bool) *llms.ContentResponse {
	out := &llms.ContentResponse{}
	for _, c := range resp.Choices {
		if c == nil {
			continue
		}
		if alternatives || len(out.Choices) == 0 {
			choice := *c
			choice.ToolCalls, choice.GenerationInfo = calls(c), maps.Clone(c.GenerationInfo)
			out.Choices = append(out.Choices, &choice)
			continue
		}
		join(out.Choices[0], c)
	}
	for _, c := range out.Choices {
		o.complete(c, ordinal, fragments)
	}
	return out
}

// calls returns the calls of a choice; the deprecated single one counts where
// there is no list.
func calls(c *llms.ContentChoice) []llms.ToolCall {
	if len(c.ToolCalls) == 0 && c.FuncCall != nil {
		return []llms.ToolCall{{Type: "function", FunctionCall: c.FuncCall}}
	}
	return c.ToolCalls
}

// join adds a choice to a copy of another, whose list of calls is not its own.
func join(into, c *llms.ContentChoice) {
	into.Content += c.Content
	into.ReasoningContent += c.ReasoningContent
	into.ToolCalls = slices.Concat(into.ToolCalls, calls(c))
	if into.StopReason == "" {
		into.StopReason = c.StopReason
	}
	for k, v := range c.GenerationInfo {
		if into.GenerationInfo == nil {
			into.GenerationInfo = map[string]any{}
		}
		if old, ok := into.GenerationInfo[k]; !ok || old == nil || old == "" {
			into.GenerationInfo[k] = v
		}
	}
}

// complete finishes the calls of a choice: fragments are joined, names are
// spelled as offered, ids are unique, and the deprecated field agrees.
func (o *offer) complete(c *llms.ContentChoice, ordinal int, fragments bool) {
	whole := make([]llms.ToolCall, 0, len(c.ToolCalls))
	var args *pieces // of the last one
	for _, call := range c.ToolCalls {
		if call.FunctionCall == nil {
			continue
		}
		if n := len(whole) - 1; fragments && n >= 0 && continues(whole[n], args, call) {
			args.add(call.FunctionCall.Arguments)
			whole[n].FunctionCall.Arguments = args.text.String()
			continue
		}
		args = new(pieces)
		args.add(call.FunctionCall.Arguments)
		f := *call.FunctionCall
		f.Name = o.spelled(f.Name)
		call.FunctionCall = &f
		if call.Type == "" {
			call.Type = "function"
		}
		whole = append(whole, call)
	}
	for i := range whole {
		whole[i].ID = uniqueID(whole[i].ID, whole[:i], ordinal)
	}
	c.ToolCalls, c.FuncCall = nil, nil
	if len(whole) > 0 {
		c.ToolCalls, c.FuncCall = whole, whole[0].FunctionCall
	}
}

// continues reports a fragment of the call before it: a streaming client
// starts a new call for every delta that it does not recognise as the rest of
// one.
func continues(before llms.ToolCall, args *pieces, call llms.ToolCall) bool {
	if call.FunctionCall.Name == "" {
		return call.ID == "" || call.ID == before.ID
	}
	return call.ID != "" && call.ID == before.ID && call.FunctionCall.Name == before.FunctionCall.Name &&
		!args.isJSON()
}

// spelled returns the name as ours is offered; executors ignore case, and so
// may models.
func (o *offer) spelled(name string) string {
	if o.own[name] {
		return name
	}
	trimmed := strings.TrimSpace(name)
	for _, t := range o.ours {
		if strings.EqualFold(t.Function.Name, trimmed) {
			return t.Function.Name
		}
	}
	return name
}

// observed returns the calls of a merged response in order.
func observed(resp *llms.ContentResponse) []core.ToolCall {
	var out []core.ToolCall
	for _, c := range resp.Choices[0].ToolCalls {
		out = append(out, coreCall(c))
	}
	return out
}
