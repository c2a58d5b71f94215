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
	// List is the digest of the list, "" for none.
	List string `json:"list"`
	Places
}

// Places are entries of a shelf: the first Count, without those at the indices in Gone.
// A delivery that the record lists itself goes before an entry with its key.
type Places struct {
	Count int   `json:"count,omitempty"`
	Gone  []int `json:"gone,omitempty"`
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
	next.Deliveries, next.Before, next.Shelf.List = r.Deliveries, r.Before, session.Digest(string(data))
	next.takeShelved()
	return &next, string(data)
}

// takeShelved takes those deliveries out of the record, and out of its beginning, that its
// shelf lists as they are. It changes nothing that r shares with another record.
func (r *Record) takeShelved() {
	rest, places := take(r.Deliveries, r.shelved)
	var before Beginning
	if r.Before != nil {
		before = *r.Before
		before.Deliveries, before.Shelved = take(before.Deliveries, r.shelved)
		if !slices.EqualFunc(put(before.Deliveries, r.shelved, before.Shelved), r.Before.Deliveries, isSame) {
			before = *r.Before // the order of several deliveries of one call would be lost
		}
	}
	if places.Count == 0 && before.Shelved.Count == 0 {
		r.Shelf, r.shelved = Shelf{}, nil
		return
	}
	r.Deliveries, r.Shelf.Places = rest, places
	if r.Before != nil {
		r.Before = &before
	}
}

// take returns the deliveries that are not on a shelf as they are, and the places of those
// that are.
func take(deliveries, shelved []Delivery) (rest []Delivery, on Places) {
	rest = slices.Clone(deliveries)
	var gone []int
	for i := range shelved {
		entry := &shelved[i]
		switch at := indexOf(rest, entry.Key()); {
		case at < 0:
			gone = append(gone, i)
		case rest[at].text() == entry.text():
			rest = slices.Delete(rest, at, at+1)
			on = Places{i + 1, slices.Clip(gone)}
		}
	}
	return rest, on
}

// addShelved puts the deliveries that are on the shelf among those of the record and of its
// beginning.
func (r *Record) addShelved() {
	if r.Shelf.List == "" {
		return
	}
	r.Deliveries = put(r.Deliveries, r.shelved, r.Shelf.Places)
	if r.Before != nil {
		before := *r.Before
		before.Deliveries, before.Shelved = put(before.Deliveries, r.shelved, before.Shelved), Places{}
		r.Before = &before
	}
}

// put is the inverse of take.
func put(deliveries, shelved []Delivery, on Places) []Delivery {
	if on.Count == 0 {
		return deliveries
	}
	rest := slices.Clone(deliveries)
	all := Record{LoadState: LoadState{Deliveries: make([]Delivery, 0, len(rest)+len(shelved))}}
	for i, entry := range shelved {
		at := indexOf(rest, entry.Key())
		switch {
		case at >= 0:
			all.Deliveries = append(all.Deliveries, rest[at])
			rest = slices.Delete(rest, at, at+1)
		case i < on.Count && !slices.Contains(on.Gone, i):
			all.Deliveries = append(all.Deliveries, entry)
		}
	}
	for _, d := range rest {
		all.Deliver(d)
	}
	return all.Deliveries
}

func isSame(a, b Delivery) bool { return a.Key() == b.Key() }

func indexOf(deliveries []Delivery, key DeliveryKey) int {
	return slices.IndexFunc(deliveries, func(d Delivery) bool { return d.Key() == key })
}
