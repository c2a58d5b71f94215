package loadmode

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/satchel-go/satchel/internal/engine/state"
)

// CachePolicy decides when to clear content whose turn is over. Clearing makes
// every later request shorter, but it breaks the prefix that the provider has
// cached: everything behind the cleared content is written to the cache once more.
// The zero policy clears at once.
//
// A policy only delays when the bytes leave the view. The loads end with their turn
// all the same: expired content does not count as loaded, and a load that finds it
// still in view does not send it again.
// Decision 33 says why.
type CachePolicy struct {
	// Read and Write are the prices of a token that is read from the cache and of
	// one that is written to it, relative to a plain input token: 0.1 and 1.25, for
	// example.
	Read, Write float64
	// Horizon is the expected number of further model calls that would carry the
	// content before it is needed again or cleared after all: 4 or 5 where
	// conversations come back to their skills, 10 to 20 where they do not.
	Horizon int
	// TTL is how long the provider keeps a prefix that is not used. After a longer
	// pause nothing is cached any more, so all expired content is cleared. 0 means
	// that a prefix is kept forever.
	TTL time.Duration
}

// ErrPolicy reports a policy with numbers that make no sense.
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

// Piece is a part of a request, in estimated tokens: expired content (Dead) and the
// text behind it that stays (Live), up to the next expired content.
type Piece struct{ Dead, Live int }

// Cut returns the index of the first piece whose expired content is cleared,
// together with that of all later pieces; len(pieces) clears nothing. It chooses
// the place where clearing saves the most: Horizon·Read for each dead token behind
// it, less Write−Read for each live one. idle is how long ago the last request was.
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

// KeepExpired puts deliveries of a turn that is over back into rec: those of the
// calls for which keep is true. They are in view but do not count as loaded any
// more. Superseded texts go.
func KeepExpired(rec *state.Record, deliveries []state.Delivery, keep func(call int) bool) {
	keepEnded(rec, deliveries, keep)
	rec.Break()
}

// KeepPrefix is KeepExpired for a prefix that a cache holds: superseded texts stay too, as
// long as all stays that supersedes them. To take one out would break the prefix.
func KeepPrefix(rec *state.Record, deliveries []state.Delivery, keep func(call int) bool) {
	keepEnded(rec, deliveries, keep)
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		if d.Old && !anyAfter(rec, d, func(e *state.Delivery) bool { return e.Body }) {
			rec.Break()
			return
		}
		for _, doc := range d.Docs {
			if doc.Old && !anyAfter(rec, d, func(e *state.Delivery) bool {
				return slices.ContainsFunc(e.Docs, func(x state.Doc) bool { return x.Name == doc.Name && !x.Old })
			}) {
				rec.Break()
				return
			}
		}
	}
}

func keepEnded(rec *state.Record, deliveries []state.Delivery, keep func(call int) bool) {
	for _, d := range deliveries {
		if !keep(d.Call) {
			continue
		}
		d.Docs = slices.Clone(d.Docs)
		if d.Ended = true; !d.Body {
			d.Digest = ""
		}
		rec.Deliver(d)
	}
}

// anyAfter reports whether a current delivery of the same skill behind d is as wanted.
func anyAfter(rec *state.Record, d *state.Delivery, is func(*state.Delivery) bool) bool {
	return slices.ContainsFunc(rec.Deliveries, func(e state.Delivery) bool {
		return e.Call > d.Call && e.Skill == d.Skill && !e.Old && is(&e)
	})
}
