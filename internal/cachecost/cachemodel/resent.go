package cachemodel

import (
	"slices"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// resent counts the tokens that a request pays for again although the previous request had them.
// Both requests begin with the same shared tokens. Of the rest, a block counts completely if the
// previous request had it anywhere in its rest. A changed block counts with its unchanged
// beginning and end. New and removed text does not count.
func resent(before, now *prompt.Prompt, shared int) (tokens int) {
	first, head := blockAt(before, shared)
	previous, current := before.Blocks[first:], now.Blocks[min(first, len(now.Blocks)):]
	isMatched, changed := matchBlocks(previous, current)
	for i, b := range current {
		if !slices.Contains(changed, i) {
			tokens += len(b.Tokens)
			if i == 0 {
				tokens -= head
			}
		}
	}
	// The unmatched blocks of both sides have changed. Pair those of one kind in their order.
	next := map[prompt.Kind]int{}
	for _, i := range changed {
		at := next[current[i].Kind]
		for at < len(previous) && (isMatched[at] || previous[at].Kind != current[i].Kind) {
			at++
		}
		next[current[i].Kind] = at + 1
		if at >= len(previous) {
			continue
		}
		a, b := previous[at].Tokens, current[i].Tokens
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

// matchBlocks matches each current block with an equal previous one. isMatched reports for each
// previous block whether it has a match. changed are the indexes of current blocks without one.
func matchBlocks(previous, current []prompt.Block) (isMatched []bool, changed []int) {
	type text struct {
		kind prompt.Kind
		hash uint64
	}
	unmatched := make(map[text][]int, len(previous))
	for i := len(previous) - 1; i >= 0; i-- {
		key := text{previous[i].Kind, previous[i].Hash}
		unmatched[key] = append(unmatched[key], i)
	}
	isMatched = make([]bool, len(previous))
	for i, b := range current {
		key := text{b.Kind, b.Hash}
		equal := unmatched[key]
		if len(equal) == 0 {
			changed = append(changed, i)
			continue
		}
		isMatched[equal[len(equal)-1]], unmatched[key] = true, equal[:len(equal)-1]
	}
	return isMatched, changed
}

// sharedEnd returns how many tokens a and b have in common at their end.
func sharedEnd(a, b []uint32) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// blockAt returns the index of the block with the token at an index, and how many tokens of the
// block are before it.
func blockAt(p *prompt.Prompt, token int) (block, before int) {
	for i, b := range p.Blocks {
		if token < len(b.Tokens) {
			return i, token
		}
		token -= len(b.Tokens)
	}
	return len(p.Blocks), 0
}
