package state

import "slices"

// Compaction is a skill whose texts in view give way to a shorter one.
type Compaction struct {
	Skill  string `json:"skill"`
	Digest string `json:"digest"` // of the shorter text, which is pinned
}

// Shortened is a shorter text that stands for a body.
type Shortened struct {
	Digest string `json:"digest"` // of the shorter text
	Of     string `json:"of"`     // of the body
}

// Full returns the digest of the body that the text of a digest stands for: the same
// unless that is an outline or a summary.
func (r *Record) Full(digest string) string {
	for _, s := range r.Shortened {
		if s.Digest == digest {
			return s.Of
		}
	}
	return digest
}

// CompactLater notes that the texts of skill give way to a pinned one at
// [Record.CompactNow]. It reports whether the skill is in view.
func (r *Record) CompactLater(skill, digest string) bool {
	if !r.anyDelivery(skill, func(d *Delivery) bool { return d.Body && !d.Old }) {
		return false
	}
	r.Compact = slices.DeleteFunc(r.Compact, func(c Compaction) bool { return c.Skill == skill })
	r.Compact = append(r.Compact, Compaction{skill, digest})
	return true
}

// CompactNow puts the shorter texts in the place of the bodies that are in view, and takes
// the docs of these skills out of view. Loading such a skill delivers all of it again.
func (r *Record) CompactNow() {
	for _, c := range r.Compact {
		if body, ok := r.Body(c.Skill); ok && body != c.Digest && r.Full(body) != c.Digest {
			r.Shortened = append(r.Shortened, Shortened{c.Digest, r.Full(body)})
		}
		for i := range r.Deliveries {
			if d := &r.Deliveries[i]; d.Skill == c.Skill {
				d.Docs, d.Listing = nil, ""
				if d.Body && !d.Old {
					d.Digest = c.Digest
				}
			}
		}
		if a := r.Find(c.Skill); a != nil {
			a.Digest, a.Docs, a.All = c.Digest, nil, false
		}
	}
	if len(r.Compact) > 0 {
		r.Compact = nil
		r.Break()
		r.Shortened = slices.DeleteFunc(r.Shortened, func(s Shortened) bool {
			return !slices.ContainsFunc(r.Deliveries, func(d Delivery) bool { return d.Digest == s.Digest })
		})
	}
}
