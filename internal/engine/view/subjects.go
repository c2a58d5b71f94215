package view

import (
	"sync"

	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/lru"
)

// subjects caches the terms of skills, which it reads from the pinned texts of sessions.
type subjects struct {
	mu sync.Mutex
	// described caches the descriptions in overviews, by digest. known caches the terms of
	// skills.
	described *lru.Cache[string, *lifetime.Descriptions]
	known     *lru.Cache[subjectKey, lifetime.Subject]
}

// subjectKey identifies a skill by the digests of the texts that its terms come from.
type subjectKey struct{ overview, name, body string }

// of returns the descriptions in the overview of a record, and the skills whose text is in view.
// text returns the pinned text of a digest.
func (s *subjects) of(rec *state.Record, text func(digest string) (string, error)) (described *lifetime.Descriptions, skills []lifetime.Subject, err error) {
	bodies := map[string]string{}
	var names []string
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		if d.Old {
			continue
		}
		if _, known := bodies[d.Skill]; !known {
			names = append(names, d.Skill)
			bodies[d.Skill] = ""
		}
		if d.Body {
			bodies[d.Skill] = d.Digest
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.described = lru.New[string, *lifetime.Descriptions](maxAudiences, nil)
		s.known = lru.New[subjectKey, lifetime.Subject](maxSubjects, nil)
	}
	if described, err = s.descriptions(rec.Overview, text); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		key := subjectKey{rec.Overview, name, bodies[name]}
		subject, known := s.known.Get(key)
		if !known {
			body := ""
			if key.body != "" {
				if body, err = text(key.body); err != nil {
					return nil, nil, err
				}
			}
			subject = described.Subject(name, body)
			s.known.Put(key, subject, 1)
		}
		skills = append(skills, subject)
	}
	return described, skills, nil
}

// descriptions returns the descriptions in the overview that is pinned under a digest.
func (s *subjects) descriptions(digest string, text func(digest string) (string, error)) (*lifetime.Descriptions, error) {
	if described, known := s.described.Get(digest); known {
		return described, nil
	}
	overview := ""
	if digest != "" {
		var err error
		if overview, err = text(digest); err != nil {
			return nil, err
		}
	}
	described := lifetime.NewDescriptions(overview)
	s.described.Put(digest, described, 1)
	return described, nil
}
