package lifetime

import (
	"slices"
	"time"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// Piece is a part of a request, in estimated tokens: the content of an ended load (Dead), and the
// text from there to the next such content (Live).
type Piece struct{ Dead, Live int }

// Cut returns the index of the first piece whose content is cleared, together with that of all
// later pieces. len(pieces) clears nothing. It chooses the place where clearing saves most:
// Horizon·Read for each dead token after it, less Write−Read for each live token. idle is the
// time since the last request.
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

// KeepExpired adds deliveries of before to rec for which keep is true. before is the record of the last turn. They are in view
// but their skills do not count as loaded. It removes superseded texts.
func KeepExpired(rec, before *state.Record, keep func(call int) bool) {
	addEnded(rec, before, keep)
	rec.Break()
}

// KeepPrefix is KeepExpired for a request whose prefix is in the provider's cache. It also keeps
// superseded texts, because removing them would break the prefix. It removes them only if the
// newer text itself is not kept.
func KeepPrefix(rec, before *state.Record, keep func(call int) bool) {
	addEnded(rec, before, keep)
	dropOrphans(rec)
}

// dropOrphans removes superseded texts from rec if the newer text of one of them is missing.
func dropOrphans(rec *state.Record) {
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		if d.Old && !anyAfter(rec, d, func(e *state.Delivery) bool { return e.Body }) {
			rec.Break()
			return
		}
		for _, doc := range d.Docs {
			if doc.Old && !anyAfter(rec, d, func(e *state.Delivery) bool {
				return slices.ContainsFunc(e.Docs, func(x state.Doc) bool { return !x.Old && doc.IsCoveredBy(x.Name) })
			}) {
				rec.Break()
				return
			}
		}
	}
}

// DropEnded removes the deliveries of ended loads from rec, except for calls for which keeps is
// true. It also removes superseded texts after the first of them.
func DropEnded(rec *state.Record, keeps func(call int) bool) {
	first := 0
	rec.Deliveries = slices.DeleteFunc(rec.Deliveries, func(d state.Delivery) bool {
		isDropped := d.Ended && !keeps(d.Call)
		if isDropped && first == 0 {
			first = d.Call
		}
		return isDropped
	})
	if first == 0 {
		return
	}
	for i := range rec.Deliveries {
		if d := &rec.Deliveries[i]; d.Call >= first {
			d.Docs = slices.DeleteFunc(d.Docs, func(doc state.Doc) bool { return doc.Old })
		}
	}
	rec.Deliveries = slices.DeleteFunc(rec.Deliveries, func(d state.Delivery) bool {
		return d.Call >= first && (d.Old || !d.Body && len(d.Docs) == 0)
	})
	dropOrphans(rec)
}

// DropUnseen removes the deliveries of ended loads from rec, except for calls for which isShown is
// true. The host has cut the messages of the others, so no request shows them. Superseded texts
// stay, unless the newer text itself is removed.
func DropUnseen(rec *state.Record, isShown func(call int) bool) {
	n := len(rec.Deliveries)
	rec.Deliveries = slices.DeleteFunc(rec.Deliveries, func(d state.Delivery) bool { return d.Ended && !isShown(d.Call) })
	if len(rec.Deliveries) < n {
		dropOrphans(rec)
	}
}

// addEnded adds the deliveries of before for which keep is true, as content of ended loads.
func addEnded(rec, before *state.Record, keep func(call int) bool) {
	for _, d := range before.Deliveries {
		if !keep(d.Call) || d.IsTask { // rec has the task
			continue
		}
		d.Docs = slices.Clone(d.Docs)
		before.EndDelivery(&d)
		rec.Deliver(d)
	}
}

// anyAfter reports whether is returns true for a current delivery of the same skill after d.
func anyAfter(rec *state.Record, d *state.Delivery, is func(*state.Delivery) bool) bool {
	return slices.ContainsFunc(rec.Deliveries, func(e state.Delivery) bool {
		return e.Call > d.Call && e.Skill == d.Skill && !e.Old && is(&e)
	})
}
