package prompt

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The tree knows what a list of all sequences knows, however they are cut.
func TestTree(t *testing.T) {
	type sent struct {
		tokens []uint32
		at     time.Duration
	}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		tree := Tree{TTL: time.Duration(r.IntN(3))}
		var all []sent
		now := time.Duration(0)
		for range 40 {
			now += time.Duration(r.IntN(2))
			var tokens []uint32
			if len(all) > 0 && r.IntN(2) == 0 {
				before := all[r.IntN(len(all))].tokens
				tokens = slices.Clone(before[:r.IntN(len(before)+1)])
			}
			for range r.IntN(6) {
				tokens = append(tokens, uint32(r.IntN(3)))
			}
			want := 0
			for _, s := range all {
				if tree.TTL == 0 || now-s.at <= tree.TTL {
					want = max(want, Shared(s.tokens, tokens))
				}
			}
			all = append(all, sent{tokens, now})
			var parts [][]uint32
			for rest := tokens; ; {
				n := r.IntN(len(rest) + 1)
				parts, rest = append(parts, slices.Clone(rest[:n])), rest[n:]
				if len(rest) == 0 {
					break
				}
			}
			if got := tree.Add(now, parts...); got != want {
				t.Fatalf("seed %d, at %d: %d of %v are known, want %d", seed, now, got, tokens, want)
			}
		}
	}
}
