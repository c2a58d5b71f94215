package cachemodel

import (
	"fmt"
	"time"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Stepped models the automatic cache that matches a prefix in steps of tokens, from a minimum
// on, independent of messages. It is that of OpenAI before GPT-5.5, with 1,024 and 128 (Prompt
// caching guide, as of 2026-09-20). DeepSeek (64), vLLM (16) and llama.cpp (1) work alike with
// steps of their own.
func Stepped(minimum, step int) Model {
	rule := fmt.Sprintf("automatic: prefixes of at least %d tokens, in steps of %d", minimum, step)
	exact := minimum <= 1 && step <= 1
	if exact {
		rule = "automatic: every prefix, token by token"
	}
	return Model{
		Name: fmt.Sprintf("stepped-%d", step),
		Rule: rule, WritesAll: exact,
		New: func(ttl time.Duration) Cache {
			return &stepped{first: max(minimum, step, 1), step: max(step, 1), tree: prompt.Tree{TTL: ttl}}
		},
	}
}

// stepped remembers requests; what one request begins with was used whenever the
// request was, so the longest beginning that is alive is what is served.
type stepped struct {
	first, step int
	tree        prompt.Tree
}

func (c *stepped) Send(p *prompt.Prompt, at time.Duration) Usage {
	parts := make([][]uint32, len(p.Blocks))
	for i, b := range p.Blocks {
		parts[i] = b.Tokens
	}
	u := Usage{Prompt: p.Size, Read: c.whole(c.tree.Add(at, parts...))}
	u.Written = c.whole(p.Size) - u.Read
	return u
}

// whole is where the last step of so many tokens ends.
func (c *stepped) whole(tokens int) int {
	if tokens < c.first {
		return 0
	}
	return tokens - (tokens-c.first)%c.step
}
