package cachemodel

import "github.com/satchel-go/satchel/internal/cachecost/prompt"

// resent counts the tokens that a request pays for again although the request before held them.
// Both requests are equal in their first shared tokens. Behind that place, a block counts whole
// if the request before held it anywhere behind the place. A changed block counts with its
// unchanged beginning and end. New and removed text does not count.
func resent(before, now *prompt.Prompt, shared int) (tokens int) {
	first, head := blockAt(before, shared)
	was, is := before.Blocks[first:], now.Blocks[min(first, len(now.Blocks)):]
	type text struct {
		kind prompt.Kind
		hash uint64
	}
	standing := make(map[text][]int, len(was))
	for i := len(was) - 1; i >= 0; i-- {
		key := text{was[i].Kind, was[i].Hash}
		standing[key] = append(standing[key], i)
	}
	taken := make([]bool, len(was))
	var changed []int
	for i, b := range is {
		key := text{b.Kind, b.Hash}
		stood := standing[key]
		if len(stood) == 0 {
			changed = append(changed, i)
			continue
		}
		taken[stood[len(stood)-1]], standing[key] = true, stood[:len(stood)-1]
		tokens += len(b.Tokens)
		if i == 0 {
			tokens -= head
		}
	}
	// The blocks that are left on both sides have changed. They are matched by kind, in
	// their order.
	next := map[prompt.Kind]int{}
	for _, i := range changed {
		at := next[is[i].Kind]
		for at < len(was) && (taken[at] || was[at].Kind != is[i].Kind) {
			at++
		}
		next[is[i].Kind] = at + 1
		if at >= len(was) {
			continue
		}
		a, b := was[at].Tokens, is[i].Tokens
		same := prompt.Shared(a, b)
		tokens += sharedEnd(a[same:], b[same:])
		if i > 0 || at > 0 {
			tokens += same
		}
		if i == 0 && at > 0 {
			tokens -= min(same, head)
		}
	}
	return tokens
}

func sharedEnd(a, b []uint32) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// blockAt returns the block that holds a token, and how many tokens of it stand
// before that one. The token must be one of the prompt.
func blockAt(p *prompt.Prompt, token int) (block, before int) {
	for i, b := range p.Blocks {
		if token < len(b.Tokens) {
			return i, token
		}
		token -= len(b.Tokens)
	}
	return len(p.Blocks), 0
}
