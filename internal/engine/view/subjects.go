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
			if rec.IsPreloaded(d.Skill) {
				bodies[d.Skill], _ = rec.Shown(d.Skill)
			}
		}
		if d.Body {
			bodies[d.Skill] = d.Shown()
		}
	}
	if described, err = s.descriptions(rec.Overview, text); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		subject, err := s.subject(described, subjectKey{rec.Overview, name, bodies[name]}, text)
		if err != nil {
			return nil, nil, err
		}
		skills = append(skills, subject)
	}
	return described, skills, nil
}

// subject returns the terms of one skill. It reads texts without the lock, because a store may
// be slow; two agents may then read the same texts.
func (s *subjects) subject(described *lifetime.Descriptions, key subjectKey, text func(digest string) (string, error)) (lifetime.Subject, error) {
	s.mu.Lock()
	s.prepare()
	subject, known := s.known.Get(key)
	s.mu.Unlock()
	if known {
		return subject, nil
	}
	body := ""
	if key.body != "" {
		var err error
		if body, err = text(key.body); err != nil {
			return lifetime.Subject{}, err
		}
	}
	subject = described.Subject(key.name, body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Put(key, subject, 1)
	return subject, nil
}

// descriptions returns the descriptions in the overview that is pinned under a digest.
func (s *subjects) descriptions(digest string, text func(digest string) (string, error)) (*lifetime.Descriptions, error) {
	s.mu.Lock()
	s.prepare()
	described, known := s.described.Get(digest)
	s.mu.Unlock()
	if known {
		return described, nil
	}
	overview := ""
	if digest != "" {
		var err error
		if overview, err = text(digest); err != nil {
			return nil, err
		}
	}
	described = lifetime.NewDescriptions(overview)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.described.Put(digest, described, 1)
	return described, nil
}

// prepare makes the caches. The caller holds the lock.
func (s *subjects) prepare() {
	if s.known == nil {
		s.described = lru.New[string, *lifetime.Descriptions](maxAudiences, nil)
		s.known = lru.New[subjectKey, lifetime.Subject](maxSubjects, nil)
	}
}
