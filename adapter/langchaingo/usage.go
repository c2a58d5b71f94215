package langchaingo

import (
	"reflect"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// usageOf returns the token usage of a response. Clients report it under different keys, with
// the same values in every choice. Prompt includes cached tokens; Anthropic reports those
// separately, so they are added.
func usageOf(resp *llms.ContentResponse) core.Usage {
	if resp == nil {
		return core.Usage{}
	}
	for _, c := range resp.Choices {
		if c == nil || len(c.GenerationInfo) == 0 {
			continue
		}
		info := c.GenerationInfo
		u := core.Usage{
			Prompt:     count(info, "PromptTokens", "input_tokens", "InputTokens"),
			Cached:     count(info, "PromptCachedTokens", "CachedTokens", "CacheReadInputTokens"),
			Completion: count(info, "CompletionTokens", "output_tokens", "OutputTokens"),
		}
		if _, isSeparate := info["CacheCreationInputTokens"]; isSeparate {
			u.Prompt += u.Cached + count(info, "CacheCreationInputTokens")
		}
		if u != (core.Usage{}) {
			return u
		}
	}
	return core.Usage{}
}

// count returns the first number that info has under one of keys, or 0.
func count(info map[string]any, keys ...string) int {
	for _, key := range keys {
		switch v := reflect.ValueOf(info[key]); {
		case v.CanInt():
			return int(v.Int())
		case v.CanUint():
			return int(v.Uint())
		case v.CanFloat():
			return int(v.Float())
		}
	}
	return 0
}
