package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// Archive keeps deliveries of ended loads outside the stored record. Their texts may stay in
// view for the whole conversation, and each save would write them all again. So [Records]
// pins long lists of them as a text, and adds them to the deliveries when it loads the record.
type Archive struct {
	// List is the digest of the pinned list, "" for none.
	List string `json:"list"`
	Entries
}

// Entries selects the first Count entries of an archive, without those at the indices in
// Removed. If the record itself lists a delivery with the same key, it replaces the entry.
type Entries struct {
	Count   int   `json:"count,omitempty"`
	Removed []int `json:"gone,omitempty"`
}

func readArchive(list string) (entries []Delivery, err error) {
	return entries, json.Unmarshal([]byte(list), &entries)
}

// archive returns the stored form of the record. list is the text of its archive if the
// archive is new and must be pinned, otherwise "".
func (r *Record) archive() (stored *Record, list string) {
	next := *r
	next.removeArchived()
	size, last := 0, -1
	for i := range next.Deliveries {
		if d := &next.Deliveries[i]; d.Ended {
			size += len(d.text())
		}
	}
	if size <= archiveBytes && len(next.Archive.Removed) <= maxRemoved {
		return &next, ""
	}
	for i := range r.Deliveries {
		if r.Deliveries[i].Ended {
			last = i
		}
	}
	data, err := json.Marshal(r.Deliveries[:last+1])
	if err == nil {
		next.archived, err = readArchive(string(data))
	}
	if err != nil {
		panic(fmt.Sprintf("session: list of deliveries: %v", err)) // Delivery always encodes and decodes
	}
	next.Deliveries, next.Before, next.Archive.List = r.Deliveries, r.Before, session.Digest(string(data))
	next.removeArchived()
	return &next, string(data)
}

// removeArchived removes the deliveries that the archive lists unchanged from the record and
// from its beginning. It changes nothing that r shares with another record.
func (r *Record) removeArchived() {
	rest, entries := splitArchived(r.Deliveries, r.archived)
	var before Beginning
	if r.Before != nil {
		before = *r.Before
		before.Deliveries, before.Archived = splitArchived(before.Deliveries, r.archived)
		if !slices.EqualFunc(mergeArchived(before.Deliveries, r.archived, before.Archived), r.Before.Deliveries, isSame) {
			before = *r.Before // the order of several deliveries of one call would be lost
		}
	}
	if entries.Count == 0 && before.Archived.Count == 0 {
		r.Archive, r.archived = Archive{}, nil
		return
	}
	r.Deliveries, r.Archive.Entries = rest, entries
	if r.Before != nil {
		r.Before = &before
	}
}

// splitArchived splits deliveries into those that are not archived, or have changed since, and
// the archive entries of the others.
func splitArchived(deliveries, archived []Delivery) (rest []Delivery, entries Entries) {
	rest = slices.Clone(deliveries)
	var removed []int
	for i := range archived {
		entry := &archived[i]
		switch at := indexOf(rest, entry.Key()); {
		case at < 0:
			removed = append(removed, i)
		case rest[at].text() == entry.text():
			rest = slices.Delete(rest, at, at+1)
			entries = Entries{i + 1, slices.Clip(removed)}
		}
	}
	return rest, entries
}

// addArchived adds the archived deliveries to those of the record and of its beginning.
func (r *Record) addArchived() {
	if r.Archive.List == "" {
		return
	}
	r.Deliveries = mergeArchived(r.Deliveries, r.archived, r.Archive.Entries)
	if r.Before != nil {
		before := *r.Before
		before.Deliveries, before.Archived = mergeArchived(before.Deliveries, r.archived, before.Archived), Entries{}
		r.Before = &before
	}
}

// mergeArchived is the inverse of splitArchived.
func mergeArchived(rest, archived []Delivery, entries Entries) []Delivery {
	if entries.Count == 0 {
		return rest
	}
	rest = slices.Clone(rest)
	all := Record{LoadState: LoadState{Deliveries: make([]Delivery, 0, len(rest)+len(archived))}}
	for i, entry := range archived {
		at := indexOf(rest, entry.Key())
		switch {
		case at >= 0:
			all.Deliveries = append(all.Deliveries, rest[at])
			rest = slices.Delete(rest, at, at+1)
		case i < entries.Count && !slices.Contains(entries.Removed, i):
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

// recordFormat is the version of the stored form. A stored record begins with it, so that a
// host's own value is not mistaken for a record.
const recordFormat = 2

// storedRecord is a record as a store keeps it, without its key and version.
type storedRecord struct {
	Format int `json:"record"`
	*Record
}

// encode returns the stored form of a record.
func encode(rec *Record) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(2 << 10) // most records are shorter
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(storedRecord{recordFormat, rec.withoutRepeats()}); err != nil {
		return nil, fmt.Errorf("encode record of agent %q: %w", rec.Key.Agent, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decode reads the output of encode. For any other data it returns an error that wraps
// [session.ErrDamaged].
func decode(key core.SessionKey, v session.Value) (*Record, error) {
	stored := storedRecord{Record: &Record{}}
	if err := json.Unmarshal(v.Data, &stored); err != nil {
		return nil, fmt.Errorf("%w: %w", session.ErrDamaged, err)
	}
	if stored.Format != recordFormat {
		return nil, fmt.Errorf("%w: it is no record of format %d", session.ErrDamaged, recordFormat)
	}
	rec := stored.Record
	if err := rec.restoreRepeats(); err != nil {
		return nil, fmt.Errorf("%w: %w", session.ErrDamaged, err)
	}
	rec.Key, rec.Version = key, v.Version
	return rec, nil
}
