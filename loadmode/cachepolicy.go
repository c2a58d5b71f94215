package loadmode

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/satchel-go/satchel/session"
)

// CachePolicy says when it pays to clear content whose turn is over. Clearing
// makes every later request shorter and breaks the prefix that the provider has
// cached: what follows the cleared content is written once more. The zero policy
// clears at once.
//
// A policy delays only when bytes leave the view. The loads end with their turn
// all the same: what stays counts as loaded for nothing, and is loaded again
// without being sent again.
type CachePolicy struct {
	// Read and Write are the prices of a cached token and of one that enters the
	// cache, in the price of a plain input token: 0.1 and 1.25, for example.
	Read, Write float64
	// Horizon is how many more model calls would carry the content if it stayed,
	// before it is needed again or cleared at last: 4 or 5 where conversations
	// come back to their skills, 10 to 20 where they do not.
	Horizon int
	// TTL is how long the provider keeps what is not used. After a pause of that
	// length nothing is cached any more, and all is cleared. 0 reckons with no
	// such end.
	TTL time.Duration
}

// ErrPolicy reports a policy whose numbers cannot be meant.
var ErrPolicy = errors.New("invalid cache policy")

// Check returns an error that wraps ErrPolicy and names what is wrong.
func (p CachePolicy) Check() error {
	for _, price := range []float64{p.Read, p.Write} {
		if price < 0 || math.IsNaN(price) || math.IsInf(price, 0) {
			return fmt.Errorf("%w: price %v", ErrPolicy, price)
		}
	}
	if p.Horizon < 0 || p.TTL < 0 {
		return fmt.Errorf("%w: horizon %d, TTL %v", ErrPolicy, p.Horizon, p.TTL)
	}
	return nil
}

// Piece is a part of a request, in estimated tokens: content that is over, and
// what follows it and stays, up to the next such content.
type Piece struct{ Dead, Live int }

// Cut returns from which piece on content is cleared: len(pieces) clears none.
// It is the place where clearing saves the most, Horizon·Read for each dead token
// behind it less Write−Read for each live one. idle is how long ago the last
// request was.
func (p CachePolicy) Cut(pieces []Piece, idle time.Duration) int {
	if p == (CachePolicy{}) || p.TTL > 0 && idle > p.TTL {
		return 0
	}
	cut, best, dead, live := len(pieces), 0.0, 0, 0
	for i, piece := range slices.Backward(pieces) {
		dead, live = dead+piece.Dead, live+piece.Live
		saved := float64(p.Horizon)*p.Read*float64(dead) - (p.Write-p.Read)*float64(live)
		if saved > best {
			cut, best = i, saved
		}
	}
	return cut
}

// Outlive puts deliveries of a turn that is over back into rec, where they are
// in view but loaded no more: those of the calls in keep.
func Outlive(rec *session.Record, deliveries []session.Delivery, keep func(call int) bool) {
	for _, d := range deliveries {
		if !d.Old && keep(d.Call) {
			d.Docs = slices.Clone(d.Docs)
			d.Ended = true
			rec.Deliver(d)
		}
	}
	rec.Break()
}
