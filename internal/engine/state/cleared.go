package state

import (
	"slices"

	"github.com/satchel-go/satchel/core"
)

// The causes of texts that leave, beside those of prices; see [core.TextCleared].
const (
	ClearedByUnload = "unload"
	ClearedByBudget = "budget"
	ClearedByBreak  = "break"
	ClearedByRent   = "rent"
)

// clearedDetails says the same for people.
var clearedDetails = map[string]string{
	ClearedByUnload: "its load has ended",
	ClearedByBudget: "the text of skills in view takes too much",
	ClearedByBreak:  "a newer text has replaced it",
	ClearedByRent:   "its load has ended, and clearing it pays",
}

// Clearing says which texts have left, for [Record.ClearedEvents].
type Clearing struct {
	// Cause is why texts of loads have left, and Ended why those of loads that had ended before.
	Cause, Ended string
	// IsHidden reports that the last request has left out a delivery. It may be nil.
	IsHidden func(*Delivery) bool
	// Reported are the events of texts that were reported already.
	Reported []core.Event
}

// ClearedEvents returns an event for the texts of each delivery that r shows and after does not show
// any more. Superseded texts, and texts that a shorter one has replaced, have causes of their own.
func (r *Record) ClearedEvents(after *Record, c Clearing) (events []core.Event) {
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if d.Spent || c.IsHidden != nil && c.IsHidden(d) || c.hasReported(d) {
			continue
		}
		events = append(events, c.events(r.Key, d, after.findDelivery(d.Key()))...)
	}
	return events
}

// hasReported reports whether the texts of a delivery were reported already.
func (c *Clearing) hasReported(d *Delivery) bool {
	return slices.ContainsFunc(c.Reported, func(e core.Event) bool {
		return e.Kind == core.TextCleared && e.Load == d.Call && e.Skill == d.Skill
	})
}

// events returns the events of one delivery. now is what it has become, or nil.
func (c *Clearing) events(key core.SessionKey, d, now *Delivery) (events []core.Event) {
	cause := c.Cause
	if d.Ended && c.Ended != "" {
		cause = c.Ended
	}
	gone, old := core.Event{Cause: cause}, core.Event{Cause: ClearedByBreak}
	isGone := now == nil || now.Spent
	if d.Body && (isGone || !now.Body || now.Shown() != d.Shown()) {
		gone.Digest = d.Digest
		if !isGone && now.Body { // a shorter text stands in its place, without the docs
			gone.Cause = ClearedByBudget
		}
	}
	for i := range d.Docs {
		doc := &d.Docs[i]
		isKept := func(x Doc) bool { return x.Name == doc.Name && x.Digest == doc.Digest }
		switch {
		case !isGone && slices.ContainsFunc(now.Docs, isKept):
		case doc.Old:
			old.Docs = append(old.Docs, doc.Name)
		default:
			gone.Docs = append(gone.Docs, doc.Name)
		}
	}
	if d.Old {
		gone.Cause = ClearedByBreak
	}
	for _, e := range []core.Event{gone, old} {
		if e.Digest != "" || e.Docs != nil {
			e.Kind, e.Key, e.Skill, e.Load, e.Detail = core.TextCleared, key, d.Skill, d.Call, clearedDetails[e.Cause]
			events = append(events, e)
		}
	}
	return events
}

// findDelivery returns the delivery with that key, or nil.
func (r *Record) findDelivery(key DeliveryKey) *Delivery {
	for i := range r.Deliveries {
		if r.Deliveries[i].Key() == key {
			return &r.Deliveries[i]
		}
	}
	return nil
}
