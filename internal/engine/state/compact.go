package state

import "slices"

// Compaction is a skill whose texts in view a short text will replace.
type Compaction struct {
	Skill  string `json:"skill"`
	Digest string `json:"digest"` // of the short text, which is pinned
}

// ShortText is an outline or a summary that replaces a body in the view.
type ShortText struct {
	Digest string `json:"digest"` // of the short text
	Of     string `json:"of"`     // digest of the body
}

// Full returns the digest of the body that a short text replaces. For any other text it
// returns digest.
func (r *Record) Full(digest string) string {
	for _, s := range r.ShortTexts {
		if s.Digest == digest {
			return s.Of
		}
	}
	return digest
}

// CompactLater notes that [Record.CompactNow] shall replace the texts of skill by the pinned
// text of digest. It returns false, and notes nothing, if the skill's body is not in view or is a
// task.
func (r *Record) CompactLater(skill, digest string) bool {
	if r.task(skill) != nil || !r.anyDelivery(skill, func(d *Delivery) bool { return d.Body && !d.Old }) {
		return false
	}
	r.Compact = slices.DeleteFunc(r.Compact, func(c Compaction) bool { return c.Skill == skill })
	r.Compact = append(r.Compact, Compaction{skill, digest})
	return true
}

// CompactNow replaces the bodies of the noted skills by their short texts, and removes their
// docs from the view. A later load of such a skill delivers its full text again.
func (r *Record) CompactNow() {
	for _, c := range r.Compact {
		if body, ok := r.Body(c.Skill); ok && body != c.Digest && r.Full(body) != c.Digest {
			r.ShortTexts = append(r.ShortTexts, ShortText{c.Digest, r.Full(body)})
		}
		for i := range r.Deliveries {
			if d := &r.Deliveries[i]; d.Skill == c.Skill {
				d.Docs, d.Listing = nil, ""
				if d.Body && !d.Old {
					d.Digest, d.Rendered, d.Arguments = c.Digest, "", ""
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
		r.ShortTexts = slices.DeleteFunc(r.ShortTexts, func(s ShortText) bool {
			return !slices.ContainsFunc(r.Deliveries, func(d Delivery) bool { return d.Digest == s.Digest })
		})
	}
}
