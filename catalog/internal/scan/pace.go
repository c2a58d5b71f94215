package scan

import "time"

// Pace decides when to refresh after changes: Quiet after the last change, but no later than
// Latest after the first.
type Pace struct {
	Quiet, Latest time.Duration
	first, last   time.Time // changes since the last refresh, zero for none
	refreshed     time.Time
}

// Changed notes a change.
func (p *Pace) Changed(now time.Time) {
	if p.last = now; p.first.IsZero() {
		p.first = now
	}
}

// Due returns when to refresh, and false if nothing has changed.
func (p *Pace) Due() (time.Time, bool) {
	if p.first.IsZero() {
		return time.Time{}, false
	}
	at := p.last.Add(p.Quiet)
	if latest := p.first.Add(p.Latest); latest.Before(at) {
		at = latest
	}
	if soonest := p.refreshed.Add(p.Latest / 2); at.Before(soonest) {
		at = soonest
	}
	return at, true
}

// Begin is called before a refresh, and End after it. A change between the two makes
// another refresh due.
func (p *Pace) Begin() { p.first, p.last = time.Time{}, time.Time{} }

// End notes the end of a refresh.
func (p *Pace) End(now time.Time) { p.refreshed = now }
