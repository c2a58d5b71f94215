package session

import "slices"

// Revive makes what is in view of a skill whose load has ended part of a load
// again, and returns the names of the docs among it. What is not shown any more
// is removed.
func (r *Record) Revive(skill string, shown func(*Delivery) bool) (docs []string) {
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
