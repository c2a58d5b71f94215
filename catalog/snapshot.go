package catalog

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// Snapshot is the content of a catalog at one moment. It never changes and is safe
// for concurrent use. The zero Snapshot holds no skills.
type Snapshot struct {
	skills      []core.Skill
	byKey       map[string]int // skilltext.CleanName of the name -> index in skills
	byID        map[string]int // canonical id -> index in skills
	all         []candidate    // in the order of their rank
	rule        Collisions
	ambiguous   map[string][]string
	diagnostics []skillmd.Diagnostic
	digest      string
	whyHidden   map[string]string // of [Catalog.WithHidden], by canonical id

	foldOnce sync.Once
	byFold   map[string]int // lower-case name -> index in skills, -1 if several skills have it

	indexOnce sync.Once
	documents *documentMap // for [Catalog.Search]
}

func newSnapshot(all []candidate, named *naming, diagnostics []skillmd.Diagnostic) *Snapshot {
	s := &Snapshot{
		skills:      named.skills,
		byKey:       make(map[string]int, len(named.skills)),
		byID:        make(map[string]int, len(named.skills)),
		all:         all,
		rule:        named.rule,
		ambiguous:   named.ambiguous,
		diagnostics: diagnostics,
		digest:      digestOf(named.skills),
	}
	for i, skill := range s.skills {
		key := skilltext.CleanName(skill.Name)
		if before, taken := s.byKey[key]; !taken || s.skills[before].Name == s.skills[before].Qualified {
			s.byKey[key] = i // a plain name comes before a qualified one that looks like it
		}
		s.byID[skill.ID] = i
	}
	return s
}

// Filter returns the snapshot as it would be if there were only the skills for which allow
// returns true. These alone decide names, precedence and ambiguity. The result has only the
// diagnostics about them and about the collisions of their names.
func (s *Snapshot) Filter(allow func(core.Skill) bool) *Snapshot {
	var all []candidate
	places := make(map[string]bool)
	for _, c := range s.all {
		if allow(c.skill) {
			all = append(all, c)
			places[c.skill.Place] = true
		}
	}
	var diagnostics []skillmd.Diagnostic
	for _, d := range s.diagnostics {
		if places[d.File] && d.Code != CodeCollision {
			diagnostics = append(diagnostics, d)
		}
	}
	named := nameSkills(all, s.rule)
	return newSnapshot(all, named, append(diagnostics, named.collisions...))
}

// Skills returns all skills, hidden and shadowed ones included, sorted bytewise by name.
// The slice belongs to the snapshot and must not be modified.
func (s *Snapshot) Skills() []core.Skill { return s.skills }

// Visible returns the skills that a model sees: all but the hidden and the shadowed ones, in
// the same order. The slice must not be modified.
func (s *Snapshot) Visible() []core.Skill {
	if !slices.ContainsFunc(s.skills, isUnseen) {
		return s.skills
	}
	visible := make([]core.Skill, 0, len(s.skills))
	for _, skill := range s.skills {
		if !isUnseen(skill) {
			visible = append(visible, skill)
		}
	}
	return visible
}

// searchable returns the skills that a search may find: all but the hidden ones, in the order
// of their rank.
func (s *Snapshot) searchable() []core.Skill {
	all := make([]core.Skill, 0, len(s.all))
	for i := range s.all {
		if !s.all[i].skill.Hidden {
			all = append(all, s.all[i].skill)
		}
	}
	return all
}

// isUnseen reports whether no overview shows the skill.
func isUnseen(skill core.Skill) bool { return skill.Hidden || skill.Shadowed }

// Len returns the number of skills, hidden and shadowed ones included.
func (s *Snapshot) Len() int { return len(s.skills) }

// Skill returns the skill that [Snapshot.Resolve] finds.
func (s *Snapshot) Skill(name string) (core.Skill, bool) {
	skill, err := s.Resolve(name)
	return skill, err == nil
}

// SkillFold returns the skill that [Snapshot.Resolve] finds, or else the only one whose name differs
// from name in case alone.
func (s *Snapshot) SkillFold(name string) (core.Skill, bool) {
	if skill, err := s.Resolve(name); err == nil {
		return skill, true
	}
	s.foldOnce.Do(func() {
		s.byFold = make(map[string]int, len(s.skills))
		for i := range s.skills {
			key := strings.ToLower(skilltext.CleanName(s.skills[i].Name))
			if _, taken := s.byFold[key]; taken {
				i = -1
			}
			s.byFold[key] = i
		}
	})
	if i, ok := s.byFold[strings.ToLower(skilltext.CleanName(name))]; ok && i >= 0 {
		return s.skills[i], true
	}
	return core.Skill{}, false
}

// Resolve returns the skill that ref names. ref is a canonical id, a place, or a name. A name
// may have a qualifier and a colon before it: the scope, the root, or the root with the folder.
// Equivalent Unicode spellings of a name are equal; case matters.
//
// The error is [ErrUnknownSkill]. If several skills fit, it is an [AmbiguousError], which wraps
// ErrUnknownSkill.
func (s *Snapshot) Resolve(ref string) (core.Skill, error) {
	if i, ok := s.byID[ref]; ok { // first, so that no name can take it
		return s.skills[i], nil
	}
	key := skilltext.CleanName(ref)
	if names := s.ambiguous[key]; len(names) > 1 {
		return core.Skill{}, &AmbiguousError{Name: ref, Qualified: names}
	}
	if i, ok := s.byKey[key]; ok {
		return s.skills[i], nil
	}
	if !strings.ContainsAny(key, ":/") {
		return core.Skill{}, fmt.Errorf("%w %q", ErrUnknownSkill, ref)
	}
	var fit []core.Skill
	for i := range s.all {
		if c := &s.all[i]; c.matches(key) || c.skill.Place == ref {
			fit = append(fit, s.skills[s.byID[c.skill.ID]])
		}
	}
	switch len(fit) {
	case 0:
		return core.Skill{}, fmt.Errorf("%w %q", ErrUnknownSkill, ref)
	case 1:
		return fit[0], nil
	}
	several := &AmbiguousError{Name: ref}
	for _, skill := range fit[:min(len(fit), maxFit)] {
		several.Qualified = append(several.Qualified, skill.Qualified)
	}
	return core.Skill{}, several
}

// Diagnostics are the findings about all roots, ordered by root and then by file.
// Findings about whole roots and collisions of names come last. The slice must not
// be modified.
func (s *Snapshot) Diagnostics() []skillmd.Diagnostic { return s.diagnostics }

// Digest returns the hexadecimal SHA-256 of the names and descriptions of the visible skills in
// their order. A model sees nothing else of a catalog, so two snapshots with the same digest look
// the same to it.
func (s *Snapshot) Digest() string {
	if s.digest == "" {
		return digestOf(s.skills)
	}
	return s.digest
}

// digestOf hashes each text with its length in front, so that different lists never
// hash the same bytes.
func digestOf(skills []core.Skill) string {
	hash := sha256.New()
	var buf []byte
	for _, skill := range skills {
		if isUnseen(skill) {
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

// equal reports whether two snapshots have the same skills and diagnostics.
func (s *Snapshot) equal(other *Snapshot) bool {
	return len(s.skills) == len(other.skills) &&
		reflect.DeepEqual(s.skills, other.skills) &&
		reflect.DeepEqual(s.diagnostics, other.diagnostics)
}

// derive returns the snapshot base as the audience of the catalog sees it, without the skills that
// WithHidden hides.
func (c *Catalog) derive(base *Snapshot) *Snapshot {
	seen := base
	var key derivedKey
	if a := c.audience; a != nil {
		key.hasAudience, key.audience = true, a.key
		seen = c.derived.get(base, key, func() *Snapshot { return base.Filter(a.allow) })
	}
	if h := c.hides; h != nil {
		key.hides, key.hidden = true, h.key
		return c.derived.get(base, key, func() *Snapshot { return seen.hide(h.why) })
	}
	return seen
}

// derivedCache keeps the snapshots that were made from one snapshot for audiences, and with more
// hidden skills. Its zero value is ready to use.
type derivedCache struct {
	mu        sync.Mutex
	base      *Snapshot // the snapshot that the others were made from
	snapshots *lru.Cache[derivedKey, *Snapshot]
}

// derivedKey names a snapshot by the keys of its audience and of WithHidden, if it has them.
type derivedKey struct {
	hasAudience, hides bool
	audience, hidden   string
}

// get returns the snapshot with a key. It calls derive if there is none, or if base has changed.
func (d *derivedCache) get(base *Snapshot, key derivedKey, derive func() *Snapshot) *Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.base != base {
		d.base, d.snapshots = base, lru.New[derivedKey, *Snapshot](maxDerived, nil)
	}
	if s, ok := d.snapshots.Get(key); ok {
		return s
	}
	s := derive()
	d.snapshots.Put(key, s, 1)
	return s
}
