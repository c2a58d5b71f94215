package state

import (
	"fmt"
	"slices"
)

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
