package state

import (
	"fmt"
	"reflect"
	"slices"
)

// Beginning is the part of a record at the beginning of its turn that [Record.BeginAgain]
// restores. A Beginning is never changed in place.
type Beginning struct {
	Calls      int        `json:"calls,omitempty"`
	Uses       int        `json:"uses,omitempty"`
	Active     []Active   `json:"active,omitempty"`
	Deliveries []Delivery `json:"deliveries,omitempty"`
	// Same are deliveries that a stored record leaves out here, because it lists them itself.
	Same repeated `json:"same,omitzero"`
	// Archived are the deliveries that a stored record has in its archive.
	Archived Entries      `json:"shelf,omitzero"`
	Lists    []ToolList   `json:"held,omitempty"`
	Denials  []Denial     `json:"denied,omitempty"`
	Recent   []RecentLoad `json:"recent,omitempty"`
	// Front is set only if the host has changed the messages before the content in this turn.
	Front Front `json:"front,omitzero"`
}

// atBeginning returns r as it was at the beginning of its turn, or r itself if nothing has
// changed. The result shares memory with r and must not be changed.
func (r *Record) atBeginning() *Record {
	var b Beginning
	if r.Before != nil {
		b = *r.Before
	} else if r.Turn != 1 || r.Calls == 0 {
		return r
	}
	was := *r
	was.Calls, was.Uses, was.Active, was.Deliveries, was.Lists, was.Recent = b.Calls, b.Uses, b.Active, b.Deliveries, b.Lists, b.Recent
	was.Denials = b.Denials
	if b.Front != (Front{}) {
		was.Front = b.Front
	}
	return &was
}

// KeepBeginning copies the beginning of the turn from before, the record of the same turn
// from which r was made.
func (r *Record) KeepBeginning(before *Record) { r.setBeginning(before.atBeginning()) }

// NoteBeginning makes the present state of r the beginning of its turn.
func (r *Record) NoteBeginning() { r.setBeginning(r) }

func (r *Record) setBeginning(was *Record) {
	b := Beginning{
		Calls: was.Calls, Uses: was.Uses, Active: cloneActive(was.Active), Deliveries: cloneDeliveries(was.Deliveries),
		Lists: cloneLists(was.Lists), Denials: cloneDenials(was.Denials), Recent: slices.Clone(was.Recent),
	}
	if was.Front != r.Front {
		b.Front = was.Front
	}
	if r.Before = &b; r.Turn == 1 && reflect.DeepEqual(b, Beginning{}) {
		r.Before = nil // atBeginning assumes an empty beginning; the stored record stays short
	}
}

// HasChanged reports whether [Record.BeginAgain] has something to restore.
func (r *Record) HasChanged() bool { return r.atBeginning() != r }

// BeginAgain resets r to the beginning of its turn and reports whether r has changed. It
// restores loads, selections, uses, call numbers and the fingerprint of the messages before the
// content. It keeps the grants of the user, the time of the last request, and the calls whose commands may run only once.
func (r *Record) BeginAgain() bool {
	if !r.HasChanged() {
		return false
	}
	r.KeepOnceCalls()
	for i := range r.OnceCalls {
		r.OnceCalls[i].Call = 0
	}
	ran := r.OnceCalls
	*r = *r.atBeginning().Clone()
	r.Broke = 0
	r.OnceCalls, r.Before, r.Pending, r.Unnumbered = ran, nil, nil, nil
	r.Unknown = slices.DeleteFunc(r.Unknown, func(c UnknownCall) bool { return c.Turn == r.Turn })
	if r.Turn == 1 && (r.Calls > 0 || len(r.Preloads) > 0) {
		r.NoteBeginning()
	}
	return true
}

// KeepOnceCalls adds the started calls in Pending to OnceCalls. Callers call it before they
// replace Pending.
func (r *Record) KeepOnceCalls() {
	for _, p := range r.Pending {
		if p.Begun {
			r.OnceCalls = append(r.OnceCalls, p)
		}
	}
	r.OnceCalls = r.OnceCalls[max(0, len(r.OnceCalls)-maxRan):]
}

// repeated says which deliveries of a record its beginning has too: the Count ones from the
// index From on. In the beginning the first of them has the index At.
type repeated struct {
	At    int `json:"at,omitempty"`
	From  int `json:"from,omitempty"`
	Count int `json:"count"`
}

// longestRepeat returns the longest part that was and is have in common.
func longestRepeat(was, is []Delivery) (longest repeated) {
	before, now := textsOf(was), textsOf(is)
	for at := range before {
		for from := range now {
			n := 0
			for n < min(len(before)-at, len(now)-from) && before[at+n] == now[from+n] {
				n++
			}
			if n > longest.Count {
				longest = repeated{at, from, n}
			}
		}
	}
	return longest
}

func textsOf(deliveries []Delivery) []string {
	texts := make([]string, len(deliveries))
	for i := range deliveries {
		texts[i] = deliveries[i].text()
	}
	return texts
}

// withoutRepeats returns the form of r that is stored: its beginning leaves out deliveries that r
// lists. It changes nothing that r shares with another record.
func (r *Record) withoutRepeats() *Record {
	if r.Before == nil {
		return r
	}
	next, before := *r, *r.Before
	before.Same = longestRepeat(before.Deliveries, r.Deliveries)
	before.Deliveries = slices.Delete(slices.Clone(before.Deliveries), before.Same.At, before.Same.At+before.Same.Count)
	next.Before = &before
	return &next
}

// restoreRepeats is the inverse of withoutRepeats, for a record that was just decoded. It returns
// an error if a delivery that the beginning leaves out is missing.
func (r *Record) restoreRepeats() error {
	if r.Before == nil {
		return nil
	}
	b, same := r.Before, r.Before.Same
	if same.At < 0 || same.At > len(b.Deliveries) || same.From < 0 || same.From > len(r.Deliveries) || same.Count < 0 || same.Count > len(r.Deliveries)-same.From {
		return fmt.Errorf("the beginning of the turn has %d deliveries from %d on, of %d", same.Count, same.From, len(r.Deliveries))
	}
	b.Deliveries = slices.Insert(b.Deliveries, same.At, cloneDeliveries(r.Deliveries[same.From:same.From+same.Count])...)
	b.Same = repeated{}
	return nil
}
