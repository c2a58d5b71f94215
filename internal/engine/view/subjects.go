package view

import (
	"sync"

	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/lru"
)

// subjects keeps what the skills of sessions are about, as their pinned texts say.
type subjects struct {
	mu sync.Mutex
	// described has what was read from overviews, by digest. known has what was read for one
	// skill.
	described *lru.Cache[string, *lifetime.Descriptions]
	known     *lru.Cache[subjectKey, lifetime.Subject]
}

// subjectKey names a skill by the texts that say what it is about.
type subjectKey struct{ overview, name, body string }

// of returns the descriptions that a session was told, and the skills of its record whose text
// is in view. text returns pinned texts.
func (s *subjects) of(rec *state.Record, text func(digest string) (string, error)) (told *lifetime.Descriptions, skills []lifetime.Subject, err error) {
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
	if told, err = s.descriptions(rec.Overview, text); err != nil {
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
			subject = told.Subject(name, body)
			s.known.Put(key, subject, 1)
		}
		skills = append(skills, subject)
	}
	return told, skills, nil
}

// descriptions returns what an overview says, which is pinned under a digest.
func (s *subjects) descriptions(digest string, text func(digest string) (string, error)) (*lifetime.Descriptions, error) {
	if told, known := s.described.Get(digest); known {
		return told, nil
	}
	overview := ""
	if digest != "" {
		var err error
		if overview, err = text(digest); err != nil {
			return nil, err
		}
	}
	told := lifetime.NewDescriptions(overview)
	s.described.Put(digest, told, 1)
	return told, nil
}
