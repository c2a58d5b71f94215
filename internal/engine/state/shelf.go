package state

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/session"
)

// Shelf takes deliveries of ended loads out of a stored record. Their texts may stay in
// view for the whole conversation, and the record would list them all in each save. So
// [Records] pins a list of them where they take more than a few lines, and puts them
// back among the deliveries where it loads the record.
type Shelf struct {
	// List is the digest of the list, "" for none. Of its entries the first Count are in
	// view, without those at the places of Gone. A delivery of the record goes before an
	// entry with its key.
	List  string `json:"list"`
	Count int    `json:"count"`
	Gone  []int  `json:"gone,omitempty"`
}

// shelfBytes is how long the ended deliveries are that a stored record lists itself, and
// maxGone how many entries of its shelf it names as gone; of more there is a new list.
const shelfBytes, maxGone = 300, 8

func readShelf(list string) (entries []Delivery, err error) {
	return entries, json.Unmarshal([]byte(list), &entries)
}

// shelve returns the record as it is stored, and the list of its shelf if that is new.
func (r *Record) shelve() (stored *Record, list string) {
	next := *r
	next.takeShelved()
	size, last := 0, -1
	for i := range next.Deliveries {
		if d := &next.Deliveries[i]; d.Ended {
			size += len(d.text())
		}
	}
	if size <= shelfBytes && len(next.Shelf.Gone) <= maxGone {
		return &next, ""
	}
	for i := range r.Deliveries {
		if r.Deliveries[i].Ended {
			last = i
		}
	}
	data, err := json.Marshal(r.Deliveries[:last+1])
	if err == nil {
		next.shelved, err = readShelf(string(data))
	}
	if err != nil {
		panic(fmt.Sprintf("session: list of deliveries: %v", err)) // what is written is readable
	}
	next.Deliveries, next.Shelf.List = r.Deliveries, session.Digest(string(data))
	next.takeShelved()
	return &next, string(data)
}

// takeShelved takes those deliveries out of the record that its shelf lists as they are.
func (r *Record) takeShelved() {
	s := Shelf{List: r.Shelf.List}
	rest := slices.Clone(r.Deliveries)
	var gone []int
	for i := range r.shelved {
		entry := &r.shelved[i]
		switch at := indexOf(rest, entry.Key()); {
		case at < 0:
			gone = append(gone, i)
		case rest[at].text() == entry.text():
			rest = slices.Delete(rest, at, at+1)
			s.Count, s.Gone = i+1, gone
		}
	}
	if s.Count == 0 {
		r.Shelf, r.shelved = Shelf{}, nil
		return
	}
	r.Deliveries, r.Shelf = rest, s
}

// addShelved puts the deliveries that are on the shelf among those of the record.
func (r *Record) addShelved() {
	if r.Shelf.List == "" {
		return
	}
	rest := slices.Clone(r.Deliveries)
	r.Deliveries = make([]Delivery, 0, len(rest)+len(r.shelved))
	for i, entry := range r.shelved {
		at := indexOf(rest, entry.Key())
		switch {
		case at >= 0:
			r.Deliveries = append(r.Deliveries, rest[at])
			rest = slices.Delete(rest, at, at+1)
		case i < r.Shelf.Count && !slices.Contains(r.Shelf.Gone, i):
			r.Deliveries = append(r.Deliveries, entry)
		}
	}
	for _, d := range rest {
		r.Deliver(d)
	}
}

func indexOf(deliveries []Delivery, key DeliveryKey) int {
	return slices.IndexFunc(deliveries, func(d Delivery) bool { return d.Key() == key })
}
