package state

import "slices"

// Pins returns the digests of what a record needs pinned in its session, sorted. Its
// listing is pinned for all sessions, see [Records.PinListing].
func (r *Record) Pins() []string {
	pins := []string{r.Overview, r.Shelf.List}
	var was Beginning
	if r.Before != nil {
		was = *r.Before
	}
	for _, a := range slices.Concat(r.Active, was.Active) {
		pins = append(pins, a.Digest)
	}
	for _, d := range slices.Concat(r.Deliveries, r.shelved, was.Deliveries) {
		pins = append(pins, d.Digest, d.Listing)
		for _, doc := range d.Docs {
			pins = append(pins, doc.Digest)
		}
	}
	for _, c := range r.Compact {
		pins = append(pins, c.Digest)
	}
	for _, p := range slices.Concat(r.Pending, r.Ran) {
		pins = append(pins, p.Text)
	}
	for _, c := range r.Unknown {
		pins = append(pins, c.Text)
	}
	slices.Sort(pins)
	return slices.DeleteFunc(slices.Compact(pins), func(digest string) bool { return digest == "" })
}
