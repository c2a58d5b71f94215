// Package cachemodel computes what a provider's prompt cache would serve of a sequence
// of requests. Each model follows what the provider has published and states what it
// assumes beyond that. Real caches are best effort and lose entries to routing, eviction
// and overflow, so the result is an upper bound.
package cachemodel

import (
	"math/bits"
	"time"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Usage is what one request costs, in tokens. What is neither read nor written
// is charged as plain input.
type Usage struct {
	Prompt int // all of the request
	Read   int // served from the cache
	// Written entered the cache with this request; it is charged the price of
	// writing.
	Written int
}

// Add adds up requests.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Prompt + v.Prompt, u.Read + v.Read, u.Written + v.Written}
}

// Cache is the cache of one provider as one client sees it. It is not safe for
// concurrent use.
type Cache interface {
	// Send is one request at a time since the first. Times never decrease.
	Send(p *prompt.Prompt, at time.Duration) Usage
}

// Model is the rule of one kind of cache.
type Model struct {
	// Name is what reports call it, Rule says it in a line.
	Name, Rule string
	// WritesAll says that whatever is not read is written: nothing is plain input.
	WritesAll bool
	// New returns an empty cache that forgets what was not used for ttl; 0 never
	// forgets.
	New func(ttl time.Duration) Cache
}

// entries are the prefixes that a cache holds, by their hash, with the time of
// their last use.
type entries struct {
	ttl  time.Duration
	used map[uint64]time.Duration
}

func newEntries(ttl time.Duration) *entries {
	return &entries{ttl: ttl, used: make(map[uint64]time.Duration)}
}

// read reports whether the prefix is held, and renews it.
func (e *entries) read(prefix uint64, at time.Duration) bool {
	last, ok := e.used[prefix]
	if !ok || e.ttl > 0 && at-last > e.ttl {
		return false
	}
	e.used[prefix] = at
	return true
}

func (e *entries) write(prefix uint64, at time.Duration) { e.used[prefix] = at }

// ends are the hashes of what a request begins with, up to the end of each block,
// and its size in tokens.
func ends(p *prompt.Prompt) (hashes []uint64, sizes []int) {
	hashes, sizes = make([]uint64, len(p.Blocks)), make([]int, len(p.Blocks))
	hash, size := uint64(0), 0
	for i, b := range p.Blocks {
		hash = (bits.RotateLeft64(hash, 29) ^ b.Hash) * 0x9e3779b97f4a7c15
		size += len(b.Tokens)
		hashes[i], sizes[i] = hash, size
	}
	return hashes, sizes
}
