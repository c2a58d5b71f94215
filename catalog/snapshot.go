package catalog

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"reflect"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

// Snapshot is the catalog at one moment. It never changes and is safe for
// concurrent use. The zero Snapshot holds no skills.
type Snapshot struct {
	skills      []core.Skill
	byKey       map[string]int // skillmd.CleanName -> index in skills
	diagnostics []skillmd.Diagnostic
	digest      string
}

func newSnapshot(skills []core.Skill, diagnostics []skillmd.Diagnostic) *Snapshot {
	s := &Snapshot{
		skills:      skills,
		byKey:       make(map[string]int, len(skills)),
		diagnostics: diagnostics,
		digest:      digestOf(skills),
	}
	for i, skill := range skills {
		s.byKey[skillmd.CleanName(skill.Name)] = i
	}
	return s
}

// Skills are all skills, hidden ones included, sorted bytewise by name. The
// slice belongs to the snapshot and must not be modified.
func (s *Snapshot) Skills() []core.Skill { return s.skills }

// Len is the number of skills, hidden ones included.
func (s *Snapshot) Len() int { return len(s.skills) }

// Skill returns the skill of a name. Names are compared as
// [skillmd.CleanName] writes them, so equivalent spellings find each other;
// case matters.
func (s *Snapshot) Skill(name string) (core.Skill, bool) {
	i, ok := s.byKey[skillmd.CleanName(name)]
	if !ok {
		return core.Skill{}, false
	}
	return s.skills[i], true
}

// Diagnostics are the findings about all roots: by root in their order, then
// by file. Those about whole roots and collisions of names come last. The
// slice must not be modified.
func (s *Snapshot) Diagnostics() []skillmd.Diagnostic { return s.diagnostics }

// Digest is the hexadecimal SHA-256 of the names and descriptions of the
// visible skills, in their order: all that a model is shown of a catalog. Two
// snapshots with the same digest look the same to a model.
func (s *Snapshot) Digest() string {
	if s.digest == "" {
		return digestOf(s.skills)
	}
	return s.digest
}

// digestOf hashes with the lengths in front, so that no two lists of names
// and descriptions run into the same bytes.
func digestOf(skills []core.Skill) string {
	hash := sha256.New()
	var buf []byte
	for _, skill := range skills {
		if skill.Hidden {
			continue
		}
		buf = binary.AppendUvarint(buf[:0], uint64(len(skill.Name)))
		buf = append(buf, skill.Name...)
		buf = binary.AppendUvarint(buf, uint64(len(skill.Description)))
		buf = append(buf, skill.Description...)
		hash.Write(buf)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// equal reports whether two snapshots say the same.
func (s *Snapshot) equal(other *Snapshot) bool {
	return len(s.skills) == len(other.skills) &&
		reflect.DeepEqual(s.skills, other.skills) &&
		reflect.DeepEqual(s.diagnostics, other.diagnostics)
}

// Changes are the differences between two snapshots as a model sees them:
// names of skills, each list sorted bytewise.
type Changes struct {
	Added   []string // visible now, not visible before
	Removed []string // visible before, not visible now
	Edited  []string // visible in both, with another description or spelling of the name
}

// IsEmpty reports that nothing that a model sees has changed.
func (c Changes) IsEmpty() bool {
	return len(c.Added)+len(c.Removed)+len(c.Edited) == 0
}

// Changes compares the snapshot with an earlier one; nil stands for a catalog
// without skills. The result is empty exactly when the digests are equal.
func (s *Snapshot) Changes(since *Snapshot) Changes {
	if since == nil {
		since = &Snapshot{}
	}
	var c Changes
	for _, skill := range s.skills {
		if skill.Hidden {
			continue
		}
		old, ok := since.Skill(skill.Name)
		switch {
		case !ok || old.Hidden:
			c.Added = append(c.Added, skill.Name)
		case old.Name != skill.Name || old.Description != skill.Description:
			c.Edited = append(c.Edited, skill.Name)
		}
	}
	for _, old := range since.skills {
		if skill, ok := s.Skill(old.Name); !old.Hidden && (!ok || skill.Hidden) {
			c.Removed = append(c.Removed, old.Name)
		}
	}
	return c
}
