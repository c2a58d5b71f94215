package skillset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/search"
)

// versions returns the visible versions of an id, highest first.
func (s *Set) versions(tenant, id string) []*Skill {
	s.mu.RLock()
	all := s.skills[id]
	s.mu.RUnlock()
	if s.created != nil && (len(all) == 0 || all[0].Origin != "") {
		if own := s.created.versions(tenant, id); len(own) > 0 {
			all = own
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(k *Skill) bool { return k.Hidden })
}

// NotFoundError is the error for a skill or a version that a tenant does not have.
type NotFoundError struct {
	ID, Version string
	// Near are ids that the caller may have meant. Versions are the versions of the id.
	Near, Versions []string
}

func (e *NotFoundError) Error() string {
	if len(e.Versions) > 0 {
		return fmt.Sprintf("unknown version %q of %q: there is %s", e.Version, e.ID, strings.Join(e.Versions, ", "))
	}
	text := fmt.Sprintf("unknown skill %q", e.ID)
	if len(e.Near) > 0 {
		text += fmt.Sprintf(": did you mean %q?", e.Near[0])
	}
	return text
}

// Find returns a version of a skill. If version is "", it returns the highest release, or the
// highest pre-release if there is no release. The error is a *NotFoundError.
func (s *Set) Find(tenant, id, version string) (*Skill, error) {
	all := s.versions(tenant, id)
	if len(all) == 0 {
		return nil, &NotFoundError{ID: id, Version: version, Near: s.near(tenant, id)}
	}
	for _, k := range all {
		if version == k.Version || version == "" && preRelease(k.Version) == "" {
			return k, nil
		}
	}
	if version == "" {
		return all[0], nil
	}
	e := &NotFoundError{ID: id, Version: version}
	for _, k := range all[:min(len(all), maxNamedVersions)] {
		e.Versions = append(e.Versions, k.Version)
	}
	return nil, e
}

// near returns at most maxNear visible ids that the caller may have meant. First come ids that
// are one typing error away, then skills that a search finds for the words of the id, then ids
// with a similar spelling.
func (s *Set) near(tenant, id string) (near []string) {
	if len(id) > maxID {
		return nil
	}
	list, digest := s.List(tenant, "")
	most := len(id)/3 + 2
	byDistance := make([][]string, most)
	for _, k := range list {
		if d := Distance(id, k.ID(), most); d < most && !slices.Contains(byDistance[d], k.ID()) {
			byDistance[d] = append(byDistance[d], k.ID())
		}
	}
	near = slices.Concat(byDistance[:2]...)
	words := strings.FieldsFunc(strings.ToLower(id), isSeparator)
	for _, h := range s.searchIndex(list, digest).Search(search.Query{Phrasings: []string{strings.Join(words, " ")}}) {
		name := list[h.Document].ID()
		if h.Strong || slices.ContainsFunc(strings.FieldsFunc(name, isSeparator), func(part string) bool { return slices.Contains(words, part) }) {
			near = append(near, name)
		}
	}
	near = append(near, slices.Concat(byDistance[2:]...)...)
	var names []string
	for _, name := range near {
		if !slices.Contains(names, name) && len(names) < maxNear {
			names = append(names, name)
		}
	}
	return names
}

func isSeparator(r rune) bool { return strings.ContainsRune("._- ", r) }

// searchIndex returns the search index of a list. The set keeps the last one.
func (s *Set) searchIndex(list []*Skill, digest string) *search.Index {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	if s.index == nil || s.indexDigest != digest {
		sources := make([]search.Source, len(list))
		for i, k := range list {
			sources[i] = search.Source{Key: k.ID() + k.Digest, Read: func() (search.Document, error) {
				return search.Document{Name: strings.Join(strings.FieldsFunc(k.ID(), isSeparator), " "), Description: k.Description, Tags: k.Tags}, nil
			}}
		}
		s.index, s.indexDigest = search.Build(s.index, sources), digest
	}
	return s.index
}

// Distance returns how many insertions, deletions, replacements and swaps of neighbours turn a
// into b, but never more than most. To bound the work, it returns most for texts of more than 128
// bytes.
func Distance(a, b string, most int) int { return search.Distance([]byte(a), []byte(b), most) }
