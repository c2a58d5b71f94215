package loadmode

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// CachePolicy decides when to remove the content of earlier turns from view. Removing it makes
// every later request shorter, but breaks the prefix in the provider's prompt cache: everything
// behind the removed content is written to the cache once more. The zero policy removes the
// content at once.
//
// A policy delays only the removal from view. Loads end with their turn all the same: the
// content does not count as loaded. A load that finds it still in view does not send it again.
type CachePolicy struct {
	// Read and Write are the prices of a token that is read from the cache and of one that is
	// written to it. They are multiples of the price of a plain input token, for example 0.1 and
	// 1.25.
	Read, Write float64
	// Horizon is how many further model calls are expected to carry the content before it is
	// needed again or removed. 4 or 5 fits conversations that come back to their skills, 10 to 20
	// others.
	Horizon int
	// TTL is how long the provider keeps an unused prefix. After a longer pause nothing is cached
	// any more, so all content of earlier turns is removed. 0 means forever.
	TTL time.Duration
}

// errPolicy reports a policy with impossible numbers.
var errPolicy = errors.New("invalid cache policy")

// Check returns an error that names the problem: a price that is negative or not a number, or a
// negative Horizon or TTL.
func (p CachePolicy) Check() error {
	for _, price := range []float64{p.Read, p.Write} {
		if price < 0 || math.IsNaN(price) || math.IsInf(price, 0) {
			return fmt.Errorf("%w: price %v", errPolicy, price)
		}
	}
	if p.Horizon < 0 || p.TTL < 0 {
		return fmt.Errorf("%w: horizon %d, TTL %v", errPolicy, p.Horizon, p.TTL)
	}
	return nil
}
