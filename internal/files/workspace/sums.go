package workspace

import (
	"crypto/sha256"
	"hash/maphash"
	"sync"
)

// sumCache caches the SHA-256 of content that comes again with every command. Its key is the size
// and a hash that is six times as fast. The seed of that hash is secret, so an attacker cannot
// make two contents collide. By chance that happens once in 2^64. The zero sumCache is ready to
// use.
type sumCache struct {
	mu    sync.Mutex
	seed  maphash.Seed
	known map[quickSum][sha256.Size]byte
}

type quickSum struct {
	size int
	hash uint64
}

// of returns the SHA-256 of data.
func (s *sumCache) of(data []byte) [sha256.Size]byte {
	if len(data) < minSummed {
		return sha256.Sum256(data)
	}
	s.mu.Lock()
	if s.known == nil {
		s.seed, s.known = maphash.MakeSeed(), map[quickSum][sha256.Size]byte{}
	}
	seed := s.seed
	s.mu.Unlock()
	key := quickSum{len(data), maphash.Bytes(seed, data)}
	s.mu.Lock()
	sum, ok := s.known[key]
	s.mu.Unlock()
	if ok {
		return sum
	}
	sum = sha256.Sum256(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxSums {
		clear(s.known)
	}
	s.known[key] = sum
	return sum
}
