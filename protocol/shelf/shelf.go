package shelf

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/typos"
	"github.com/satchel-go/satchel/skillmd"
)

// Shelf holds the skills of a server. Its methods may be called concurrently.
type Shelf struct {
	sources []catalog.Source
	created *created // nil without a directory

	refreshing sync.Mutex
	listings   []*catalog.Listing
	known      []map[string]known // by id and revision

	mu          sync.RWMutex
	skills      byID     // of the sources
	list        []*Skill // the visible ones of them, in order
	digest      string   // of list
	diagnostics []skillmd.Diagnostic
}

// known is what an entry of a source has become.
type known struct {
	skill *Skill // nil for what is none
	found []skillmd.Diagnostic
}

// byID are the versions of each id, highest first.
type byID map[string][]*Skill

// Open lists the skills of the sources, of which the first wins where two have the
// same id and version. base is the directory of created skills, or "": then none
// can be created. Skills that cannot be used are diagnostics. Close the shelf after
// use.
func Open(ctx context.Context, base string, sources ...catalog.Source) (*Shelf, error) {
	s := &Shelf{sources: sources, listings: make([]*catalog.Listing, len(sources)), known: make([]map[string]known, len(sources))}
	if base != "" {
		var err error
		if s.created, err = openCreated(ctx, base); err != nil {
			return nil, fmt.Errorf("shelf: %w", err)
		}
	}
	if err := s.Refresh(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close releases the directory of created skills, and the sources that can be
// closed.
func (s *Shelf) Close() error {
	var err error
	for _, source := range s.sources {
		if c, ok := source.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	if s.created != nil {
		err = errors.Join(err, s.created.root.Close())
	}
	return err
}

// Refresh lists the sources anew. What has not changed is not read again. A source
// that fails keeps its skills, with a diagnostic; the error is that of ctx.
func (s *Shelf) Refresh(ctx context.Context) error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	next, diagnostics := byID{}, []skillmd.Diagnostic(nil)
	for _, i := range s.order() {
		source := s.sources[i]
		listing, err := source.Scan(ctx, s.listings[i])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || listing == nil {
			diagnostics = append(diagnostics, skillmd.Diagnostic{Code: catalog.CodeSourceFailed, Severity: skillmd.Error, Message: fmt.Sprintf("skills cannot be listed: %v", err)})
			if listing = s.listings[i]; listing == nil {
				continue
			}
		}
		s.listings[i] = listing
		diagnostics = append(diagnostics, listing.Diagnostics...)
		entries := make(map[string]known, len(listing.Entries))
		for _, e := range listing.Entries {
			key := e.ID + "\x00" + e.Revision
			made, ok := s.known[i][key]
			if r, isRemote := source.(*remote); !ok && isRemote {
				made.skill, made.found = r.skill(e)
			} else if !ok {
				made.skill, made.found = newSkill(ctx, source, e, false)
			}
			if made.skill != nil { // what is none is looked at again
				entries[key] = made
			}
			diagnostics = append(diagnostics, made.found...)
			if made.skill != nil && !next.add(made.skill) {
				diagnostics = append(diagnostics, skillmd.Diagnostic{File: e.ID, Code: catalog.CodeCollision, Severity: skillmd.Warning,
					Message: fmt.Sprintf("%q %s is there already: left out", made.skill.ID(), made.skill.Version)})
			}
		}
		s.known[i] = entries
	}
	list, digest := listed(next, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skills, s.list, s.digest, s.diagnostics = next, list, digest, diagnostics
	return nil
}

// order is that in which sources are taken: those from afar come last.
func (s *Shelf) order() (order []int) {
	for _, far := range []bool{false, true} {
		for i, source := range s.sources {
			if _, ok := source.(*remote); ok == far {
				order = append(order, i)
			}
		}
	}
	return order
}

// add puts a skill among the versions of its id, unless its version is taken, or the
// id by somebody who is nearer.
func (b byID) add(skill *Skill) bool {
	all := b[skill.ID()]
	if len(all) > 0 && all[0].Origin != skill.Origin {
		return false
	}
	i, taken := slices.BinarySearchFunc(all, skill, func(a, b *Skill) int { return compareVersions(b.Version, a.Version) })
	if taken {
		return false
	}
	b[skill.ID()] = slices.Insert(slices.Clone(all), i, skill)
	return true
}

// Diagnostics are the findings of the last Refresh.
func (s *Shelf) Diagnostics() []skillmd.Diagnostic {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.diagnostics
}

// versions returns the visible versions of an id, highest first.
func (s *Shelf) versions(tenant, id string) []*Skill {
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

// List returns all versions of the skills that a tenant sees, hidden ones aside,
// ordered bytewise by namespace and id, and by version, highest first; and a
// digest that changes when the list without a namespace does. A namespace takes what
// is below it too; "" takes everything. Nobody may change the list.
func (s *Shelf) List(tenant, namespace string) (list []*Skill, digest string) {
	all, digest := s.all(tenant)
	if namespace == "" {
		return slices.Clip(all), digest
	}
	for _, k := range all {
		if strings.HasPrefix(k.Namespace+".", namespace+".") {
			list = append(list, k)
		}
	}
	return list, digest
}

// Digest is that of List.
func (s *Shelf) Digest(tenant string) string {
	_, digest := s.all(tenant)
	return digest
}

// all is what a tenant sees; nobody may change it. It is made anew only for who has
// created skills.
func (s *Shelf) all(tenant string) ([]*Skill, string) {
	s.mu.RLock()
	ids, list, digest := s.skills, s.list, s.digest
	s.mu.RUnlock()
	if s.created != nil {
		if own := s.created.all(tenant); len(own) > 0 {
			return listed(ids, own)
		}
	}
	return list, digest
}

// listed puts the visible skills of the sources, and those that a tenant has created,
// in order, and makes the digest of them.
func listed(ids, own byID) (list []*Skill, digest string) {
	take := func(all []*Skill) {
		for _, k := range all {
			if !k.Hidden {
				list = append(list, k)
			}
		}
	}
	for id, all := range ids {
		if all[0].Origin == "" || len(own[id]) == 0 {
			take(all)
		}
	}
	for id, all := range own {
		if len(ids[id]) == 0 || ids[id][0].Origin != "" {
			take(all)
		}
	}
	slices.SortFunc(list, Compare)
	h := sha256.New()
	for _, k := range list {
		_, _ = fmt.Fprintf(h, "%s %s %s\n", k.ID(), k.Version, k.Digest)
	}
	return list, hex.EncodeToString(h.Sum(nil)[:8])
}

// Compare orders skills as List does.
func Compare(a, b *Skill) int {
	if c := cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.ID(), b.ID())); c != 0 {
		return c
	}
	return compareVersions(b.Version, a.Version)
}

// NotFoundError is a skill or a version that a tenant does not have.
type NotFoundError struct {
	ID, Version string
	// Near are ids that may have been meant; Versions those that there are.
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

// Find returns a version of a skill: the highest release where version is "", or
// the highest pre-release where there is no release. The error is a
// *NotFoundError.
func (s *Shelf) Find(tenant, id, version string) (*Skill, error) {
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
	for _, k := range all[:min(len(all), 20)] {
		e.Versions = append(e.Versions, k.Version)
	}
	return nil, e
}

// near returns the visible id that is most like the given one.
func (s *Shelf) near(tenant, id string) []string {
	if len(id) > maxID {
		return nil
	}
	list, _ := s.List(tenant, "")
	best, least := "", len(id)/3+2
	for _, k := range list {
		if d := Distance(id, k.ID(), least); d < least {
			best, least = k.ID(), d
		}
	}
	if best == "" {
		return nil
	}
	return []string{best}
}

// Distance is how many insertions, deletions, replacements and swaps of neighbours
// make b of a, or most if it is no less. The work is bounded for texts of 128
// bytes and less; of longer ones it is most.
func Distance(a, b string, most int) int { return typos.Distance([]byte(a), []byte(b), most) }
