package state

import "slices"

// revive makes the content of an ended load part of a new load, as far as shown
// says that it is still in view, and removes the rest. It returns the names of the
// docs that it revived.
func (r *Record) revive(skill string, shown func(*Delivery) bool) (docs []string) {
	r.Deliveries = slices.DeleteFunc(r.Deliveries, func(d Delivery) bool {
		return d.Skill == skill && d.Ended && !d.Old && !shown(&d)
	})
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if d.Skill != skill || !d.Ended || d.Old {
			continue
		}
		d.Ended = false
		for _, doc := range d.Docs {
			if !doc.Old && !slices.Contains(docs, doc.Name) {
				docs = append(docs, doc.Name)
			}
		}
	}
	return docs
}
