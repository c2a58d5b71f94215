package langchaingo

import (
	"reflect"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// usageOf reads the tokens of a response. The clients report them under
// different keys, on every choice alike. Prompt counts cached tokens too;
// Anthropic reports those apart, so they are added there.
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
		if _, apart := info["CacheCreationInputTokens"]; apart {
			u.Prompt += u.Cached + count(info, "CacheCreationInputTokens")
		}
		if u != (core.Usage{}) {
			return u
		}
	}
	return core.Usage{}
}

// count returns the first of keys that is there and a number.
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
