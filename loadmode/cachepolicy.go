package loadmode

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// CachePolicy decides when to clear content whose turn is over. Clearing makes every later
// request shorter, but it breaks the prefix that the provider has cached: everything behind
// the cleared content is written to the cache once more. The zero policy clears at once.
//
// A policy only delays when the bytes leave the view. The loads end with their turn all the
// same: expired content does not count as loaded, and a load that finds it still in view does
// not send it again.
type CachePolicy struct {
	// Read and Write are the prices of a token that is read from the cache and of one that is
	// written to it. They are relative to a plain input token: 0.1 and 1.25, for example.
	Read, Write float64
	// Horizon is the expected number of further model calls that would carry the content
	// before it is needed again or cleared after all. 4 or 5 fits conversations that come
	// back to their skills, 10 to 20 others.
	Horizon int
	// TTL is how long the provider keeps a prefix that is not used. After a longer
	// pause nothing is cached any more, so all expired content is cleared. 0 means
	// that a prefix is kept forever.
	TTL time.Duration
}

// errPolicy reports a policy with numbers that make no sense.
var errPolicy = errors.New("invalid cache policy")

// Check returns an error that names what is wrong: a price that is negative or not a number,
// or a negative Horizon or TTL.
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
