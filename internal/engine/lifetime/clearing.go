package lifetime

import (
	"slices"
	"time"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// Piece is a part of a request, in estimated tokens: expired content (Dead) and the
// text behind it that stays (Live), up to the next expired content.
type Piece struct{ Dead, Live int }

// Cut returns the index of the first piece whose expired content is cleared,
// together with that of all later pieces; len(pieces) clears nothing. It chooses
// the place where clearing saves the most: Horizon·Read for each dead token behind
// it, less Write−Read for each live one. idle is how long ago the last request was.
func Cut(p loadmode.CachePolicy, pieces []Piece, idle time.Duration) int {
	if p == (loadmode.CachePolicy{}) || p.TTL > 0 && idle > p.TTL {
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
