package cachemodel

import (
	"fmt"
	"time"

	"github.com/satchel-go/satchel/benchmark/prompt"
)

// Stepped is the automatic cache that matches a prefix in steps of tokens, from
// a minimum on, whatever the messages are: OpenAI before GPT-5.5 with 1,024 and
// 128 (Prompt caching guide, as of 2026-09-20). DeepSeek (64), vLLM (16) and
// llama.cpp (1) work alike with steps of their own.
func Stepped(minimum, step int) Model {
	rule := fmt.Sprintf("automatic: prefixes of at least %d tokens, in steps of %d", minimum, step)
	if minimum <= 1 && step <= 1 {
		rule = "automatic: every prefix, token by token"
	}
	return Model{
		Name: fmt.Sprintf("stepped-%d", step),
		Rule: rule,
		New: func(ttl time.Duration) Cache {
			return &stepped{minimum: minimum, step: max(1, step), entries: newEntries(ttl)}
		},
	}
}

type stepped struct {
	minimum, step int
	entries       *entries
}

func (c *stepped) Send(p *prompt.Prompt, at time.Duration) Usage {
	u := Usage{Prompt: len(p.Tokens)}
	hash, done, missed := emptyChain, 0, false
	for end := max(c.minimum, c.step); end <= len(p.Tokens); end += c.step {
		hash, done = hash.add(p.Tokens[done:end]), end
		if !missed && c.entries.read(uint64(hash), at) {
			u.Read = end
			continue
		}
		missed = true // what follows a miss depends on it
		c.entries.write(uint64(hash), at)
		u.Written = end - u.Read
	}
	return u
}
