package random

import (
	"math"
	"math/rand/v2"
)

// sizes is a distribution of sizes in tokens, given by some of its quantiles. Between two of them
// the logarithm of the size is uniformly distributed.
type sizes []quantile

type quantile struct {
	share float64
	size  int
}

// bodySizes were measured in the 333 SKILL.md of 35 public repositories, docSizes in the 94 other
// Markdown files of these skills, at four bytes a token. The longest hundredth is left out.
var (
	bodySizes = sizes{{0, 150}, {.05, 263}, {.1, 457}, {.2, 717}, {.3, 996}, {.4, 1341}, {.5, 1700}, {.6, 2095}, {.7, 2668}, {.8, 3419}, {.9, 4221}, {.95, 5954}, {1, 18484}}
	docSizes  = sizes{{0, 59}, {.05, 124}, {.1, 136}, {.2, 178}, {.3, 818}, {.4, 1434}, {.5, 1821}, {.6, 2391}, {.7, 2725}, {.8, 4077}, {.9, 4843}, {1, 6378}}
)

// These sizes are chosen, not measured.
var (
	smallSizes  = sizes{{0, 150}, {1, 700}}
	resultSizes = sizes{{0, 10}, {1, 3000}}
	longResults = sizes{{0, 1000}, {1, 3000}}
	// longDocSizes are of docs whose sections the lists of skills name.
	longDocSizes = sizes{{0, 1600}, {.5, 4000}, {1, 9000}}
	userSizes    = sizes{{0, 10}, {1, 150}}
	saySizes     = sizes{{0, 20}, {1, 400}}
)

// draw returns a size.
func (s sizes) draw(r *rand.Rand) int {
	at := r.Float64()
	i := 1
	for i < len(s)-1 && s[i].share < at {
		i++
	}
	low, high := s[i-1], s[i]
	part := (at - low.share) / (high.share - low.share)
	return int(math.Exp(math.Log(float64(low.size))*(1-part) + math.Log(float64(high.size))*part))
}
