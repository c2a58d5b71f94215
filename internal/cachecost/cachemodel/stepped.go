package cachemodel

import (
	"fmt"
	"time"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Stepped models an automatic cache that matches prefixes of at least minimum tokens, in steps of
// step tokens, independent of messages. OpenAI before GPT-5.5 has 1,024 and 128 (Prompt caching
// guide, as of 2026-09-20). DeepSeek (64), vLLM (16) and llama.cpp (1) have other steps.
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

// stepped keeps all requests in a tree. Each use of a request is a use of all its prefixes, so the
// cache serves the longest prefix that has not expired.
type stepped struct {
	first, step int
	tree        prompt.Tree
}

func (c *stepped) Send(p *prompt.Prompt, at time.Duration) Usage {
	parts := make([][]uint32, len(p.Blocks))
	for i, b := range p.Blocks {
		parts[i] = b.Tokens
	}
	u := Usage{Prompt: p.Size, Read: c.roundDown(c.tree.Add(at, parts...))}
	u.Written = c.roundDown(p.Size) - u.Read
	return u
}

// roundDown returns the end of the last complete step within a number of tokens.
func (c *stepped) roundDown(tokens int) int {
	if tokens < c.first {
		return 0
	}
	return tokens - (tokens-c.first)%c.step
}
