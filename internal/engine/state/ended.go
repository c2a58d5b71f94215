package state

import "slices"

// revive moves the content of an ended load that is still in view, as shown reports, into a
// new load. It removes the rest, and returns the names of the docs that it revived.
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
