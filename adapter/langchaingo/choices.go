package langchaingo

import (
	"maps"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// merge returns the response in the form that agents read: one choice with all text and all
// calls. Agents read the first choice only, but some clients return one choice per content
// block. Alternatives that the host requested (N, CandidateCount) stay separate. Calls are
// complete and have ids. ordinal is the number of assistant messages in the request, which is
// the place of the response. fragments says that a call may be the rest of the one before it.
// merge does not change the client's response, which may come from a cache.
func (o *offer) merge(resp *llms.ContentResponse, alternatives bool, ordinal int, fragments bool) *llms.ContentResponse {
	out := &llms.ContentResponse{}
	for _, c := range resp.Choices {
		if c == nil {
			continue
		}
		if alternatives || len(out.Choices) == 0 {
			choice := *c
			choice.ToolCalls, choice.GenerationInfo = callsOf(c), maps.Clone(c.GenerationInfo)
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

// callsOf returns the calls of a choice, or the deprecated single call if there is no list.
func callsOf(c *llms.ContentChoice) []llms.ToolCall {
	if len(c.ToolCalls) == 0 && c.FuncCall != nil {
		return []llms.ToolCall{{Type: "function", FunctionCall: c.FuncCall}}
	}
	return c.ToolCalls
}

// join adds the content of c to into, which is a copy but shares its list of calls.
func join(into, c *llms.ContentChoice) {
	into.Content += c.Content
	into.ReasoningContent += c.ReasoningContent
	into.ToolCalls = slices.Concat(into.ToolCalls, callsOf(c))
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

// complete repairs the calls of a choice. It joins fragments, spells the names of Satchel's
// tools as offered, makes ids unique, and sets the deprecated single call.
func (o *offer) complete(c *llms.ContentChoice, ordinal int, fragments bool) {
	complete := make([]llms.ToolCall, 0, len(c.ToolCalls))
	var args *pieces // of the last call
	for _, call := range c.ToolCalls {
		if call.FunctionCall == nil {
			continue
		}
		if n := len(complete) - 1; fragments && n >= 0 && isContinuation(complete[n], args, call) {
			args.add(call.FunctionCall.Arguments)
			complete[n].FunctionCall.Arguments = args.text.String()
			continue
		}
		args = new(pieces)
		args.add(call.FunctionCall.Arguments)
		f := *call.FunctionCall
		f.Name = o.ownSpelling(f.Name)
		call.FunctionCall = &f
		if call.Type == "" {
			call.Type = "function"
		}
		complete = append(complete, call)
	}
	for i := range complete {
		complete[i].ID = uniqueID(complete[i].ID, complete[:i], ordinal)
	}
	c.ToolCalls, c.FuncCall = nil, nil
	if len(complete) > 0 {
		c.ToolCalls, c.FuncCall = complete, complete[0].FunctionCall
	}
}

// isContinuation reports whether call is a fragment of the call before it. A streaming client
// begins a new call for every delta that it does not recognise as a continuation.
func isContinuation(before llms.ToolCall, args *pieces, call llms.ToolCall) bool {
	if call.FunctionCall.Name == "" {
		return call.ID == "" || call.ID == before.ID
	}
	return call.ID != "" && call.ID == before.ID && call.FunctionCall.Name == before.FunctionCall.Name &&
		!args.isJSON()
}

// ownSpelling returns name in the spelling of Satchel's tool that equals it but for case.
// Executors ignore case, so models may too.
func (o *offer) ownSpelling(name string) string {
	if o.isOwn[name] {
		return name
	}
	trimmed := strings.TrimSpace(name)
	for _, t := range o.ownTools {
		if strings.EqualFold(t.Function.Name, trimmed) {
			return t.Function.Name
		}
	}
	return name
}

// coreCalls returns the calls of a choice in order.
func coreCalls(choice *llms.ContentChoice) []core.ToolCall {
	var out []core.ToolCall
	for _, c := range callsOf(choice) {
		out = append(out, coreCall(c))
	}
	return out
}
