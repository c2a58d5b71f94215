// Package cachemodel computes how many tokens of a sequence of requests a provider's prompt cache
// would serve. Each model follows the provider's documentation and names its further assumptions.
// Real caches also lose entries to routing, eviction and overflow, so the result is an upper
// bound.
package cachemodel

import (
	"math/bits"
	"time"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Usage counts the tokens of one request or of several. Tokens that are neither read nor written
// are charged as plain input.
type Usage struct {
	Prompt  int // all tokens
	Read    int // served from the cache
	Written int // added to the cache, and charged the price of writing
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Prompt + v.Prompt, u.Read + v.Read, u.Written + v.Written}
}

// Cache is the cache of one provider as one client sees it. It is not safe for
// concurrent use.
type Cache interface {
	// Send counts one request. at is the time since the first request and must never decrease.
	Send(p *prompt.Prompt, at time.Duration) Usage
}

// Model is the rule of one kind of cache.
type Model struct {
	// Name is the name of the model in reports. Rule describes the model in one line.
	Name, Rule string
	// WritesAll reports that the cache writes all tokens that it does not read.
	WritesAll bool
	// New returns an empty cache that forgets an entry after ttl without use; 0 means never.
	New func(ttl time.Duration) Cache
}

// entries holds the prefixes in a cache, by hash, with the time of their last use.
type entries struct {
	ttl  time.Duration
	used map[uint64]time.Duration
}

func newEntries(ttl time.Duration) *entries {
	return &entries{ttl: ttl, used: make(map[uint64]time.Duration)}
}

// read reports whether the cache has a prefix, and renews it.
func (e *entries) read(prefix uint64, at time.Duration) bool {
	last, ok := e.used[prefix]
	if !ok || e.ttl > 0 && at-last > e.ttl {
		return false
	}
	e.used[prefix] = at
	return true
}

func (e *entries) write(prefix uint64, at time.Duration) { e.used[prefix] = at }

// ends returns for each block the hash and the size in tokens of the prefix that ends with it.
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
