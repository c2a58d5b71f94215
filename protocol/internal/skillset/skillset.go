package skillset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/text/search"
	"github.com/satchel-go/satchel/skillmd"
)

// Set holds the skills of a server. Its methods may be called concurrently.
type Set struct {
	sources []catalog.Source
	created *created // nil without a directory

	scanningRemotes sync.Mutex   // held while remote sources are listed
	stale           atomic.Bool  // a source of this machine has reported a change
	watchers        atomic.Int32 // calls of Watch that have not been stopped

	relisting   sync.Mutex // held by relist, for the fields below
	relistBegan time.Time  // the last time
	relistTook  time.Duration
	entrySkills []map[string]entrySkill // of each source, by id and revision

	indexing    sync.Mutex    // held for the fields below
	index       *search.Index // of ids and descriptions
	indexDigest string        // of the list in index

	mu          sync.RWMutex
	listings    []listing
	skills      byID     // of the sources
	list        []*Skill // the visible ones of them, in order
	digest      string   // of list
	diagnostics []skillmd.Diagnostic
}

// listing is the last listing of a source.
type listing struct {
	*source.Listing // nil if the source was never listed
	fault           *skillmd.Diagnostic
}

// entrySkill is the skill of an entry of a source, with diagnostics.
type entrySkill struct {
	skill       *Skill // nil if the entry is no usable skill
	diagnostics []skillmd.Diagnostic
}

// byID has the versions of each id, highest first.
type byID map[string][]*Skill

// Open lists the skills of the sources. Of two with the same id and version it takes the first.
// base is the directory of created skills; if it is "", none can be created. Diagnostics name the
// skills that cannot be used. The caller closes the set after use; the sources stay open.
func Open(ctx context.Context, base string, sources ...catalog.Source) (*Set, error) {
	s := &Set{sources: sources, listings: make([]listing, len(sources)), entrySkills: make([]map[string]entrySkill, len(sources))}
	if base != "" {
		var err error
		if s.created, err = openCreated(ctx, base); err != nil {
			return nil, fmt.Errorf("created skills: %w", err)
		}
	}
	if err := s.Refresh(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close releases the directory of created skills.
func (s *Set) Close() error {
	if s.created == nil {
		return nil
	}
	return s.created.root.Close()
}

// Refresh lists the sources again and reads the skills that have changed. A directory that does
// not exist any more has no skills. If another source fails, the set keeps the skills it had.
// Diagnostics report both. The error is that of ctx.
func (s *Set) Refresh(ctx context.Context) error {
	s.scanningRemotes.Lock()
	defer s.scanningRemotes.Unlock()
	for i, source := range s.sources {
		if _, ok := source.(*remote); !ok {
			continue
		}
		if err := s.scan(ctx, i); err != nil {
			return err
		}
	}
	s.relisting.Lock()
	defer s.relisting.Unlock()
	return s.relist(ctx)
}

// RefreshIfOld lists the sources of this machine again if one has reported a change. Without a
// report it also lists them, unless the last listing was a moment ago, or listing takes long and
// [Set.Watch] watches the set. The error is that of ctx.
func (s *Set) RefreshIfOld(ctx context.Context) error {
	return s.refreshNear(ctx, func() bool {
		return !s.stale.Load() && (time.Since(s.relistBegan) < 2*s.relistTook || s.relistTook > longRefresh && s.watchers.Load() > 0)
	})
}

// RefreshNear lists the sources of this machine again, once for all calls that wait for it.
// The error is that of ctx.
func (s *Set) RefreshNear(ctx context.Context) error {
	return s.refreshNear(ctx, func() bool { return false })
}

// refreshNear lists the sources of this machine, unless another call has begun to do so since, or
// the last listing is new enough.
func (s *Set) refreshNear(ctx context.Context, isNew func() bool) error {
	called := time.Now()
	s.relisting.Lock()
	defer s.relisting.Unlock()
	if s.relistBegan.After(called) || isNew() {
		return nil
	}
	return s.relist(ctx)
}

// scan lists one source. The error is that of ctx.
func (s *Set) scan(ctx context.Context, i int) error {
	s.mu.RLock()
	old := s.listings[i]
	s.mu.RUnlock()
	scanned, err := s.sources[i].Scan(ctx, old.Listing)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	next := listing{scanned, nil}
	if err != nil || scanned == nil {
		next.Listing = old.Listing
		next.fault = &skillmd.Diagnostic{File: placeOf(s.sources[i]), Code: catalog.CodeSourceFailed, Severity: skillmd.Error, Message: fmt.Sprintf("skills cannot be listed, those listed last are served: %v", err)}
		if _, ok := s.sources[i].(*remote); !ok && errors.Is(err, fs.ErrNotExist) {
			next.Listing, next.fault.Message = nil, fmt.Sprintf("skills cannot be listed: %v", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listings[i] = next
	return nil
}

// relist lists the sources of this machine, and puts the skills of all sources together. The
// caller holds s.relisting.
func (s *Set) relist(ctx context.Context) error {
	began := time.Now()
	s.stale.Store(false)
	for i, source := range s.sources {
		if _, ok := source.(*remote); ok {
			continue
		}
		if err := s.scan(ctx, i); err != nil {
			s.stale.Store(true)
			return err
		}
	}
	if s.created != nil {
		s.created.refresh(ctx)
	}
	s.mu.RLock()
	listings := slices.Clone(s.listings)
	s.mu.RUnlock()
	next, diagnostics := byID{}, []skillmd.Diagnostic(nil)
	for _, i := range s.order() {
		if fault := listings[i].fault; fault != nil {
			diagnostics = append(diagnostics, *fault)
		}
		if listings[i].Listing != nil {
			diagnostics = append(diagnostics, s.addEntries(ctx, next, i, listings[i].Listing)...)
		}
	}
	if err := ctx.Err(); err != nil { // then skills may not have been read
		s.stale.Store(true)
		return err
	}
	list, digest := visibleOf(next, nil)
	s.relistBegan, s.relistTook = began, time.Since(began)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skills, s.list, s.digest, s.diagnostics = next, list, digest, diagnostics
	return nil
}

// addEntries adds the skills in a listing of one source to next. It reads only entries that are
// new or were no usable skill. The caller holds s.relisting.
func (s *Set) addEntries(ctx context.Context, next byID, i int, listing *source.Listing) []skillmd.Diagnostic {
	diagnostics := slices.Clone(listing.Diagnostics)
	entries := make(map[string]entrySkill, len(listing.Entries))
	for _, e := range listing.Entries {
		key := e.ID + "\x00" + e.Revision
		entry, isKnown := s.entrySkills[i][key]
		if r, isRemote := s.sources[i].(*remote); !isKnown && isRemote {
			entry.skill, entry.diagnostics = r.skill(e)
		} else if !isKnown {
			entry.skill, entry.diagnostics = newSkill(ctx, s.sources[i], e, false)
		}
		diagnostics = append(diagnostics, entry.diagnostics...)
		k := entry.skill
		if k == nil {
			continue
		}
		entries[key] = entry
		if !next.add(k) {
			diagnostics = append(diagnostics, skillmd.Diagnostic{File: k.Place(), Code: catalog.CodeCollision, Severity: skillmd.Warning,
				Message: fmt.Sprintf("%q %s is there already: left out; give it another name or version", k.ID(), k.Version)})
		}
	}
	s.entrySkills[i] = entries
	return diagnostics
}

// order returns the indexes of the sources, with remote ones last.
func (s *Set) order() (order []int) {
	for _, wantRemote := range []bool{false, true} {
		for i, source := range s.sources {
			if _, ok := source.(*remote); ok == wantRemote {
				order = append(order, i)
			}
		}
	}
	return order
}

// add adds a skill to the versions of its id. It reports false if the version exists, or if
// skills of another origin have the id.
func (b byID) add(skill *Skill) bool {
	all := b[skill.ID()]
	if len(all) > 0 && all[0].Origin != skill.Origin {
		return false
	}
	i, exists := slices.BinarySearchFunc(all, skill, func(a, b *Skill) int { return compareVersions(b.Version, a.Version) })
	if exists {
		return false
	}
	b[skill.ID()] = slices.Insert(slices.Clone(all), i, skill)
	return true
}

// Diagnostics returns the diagnostics of the last listing.
func (s *Set) Diagnostics() []skillmd.Diagnostic {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.diagnostics
}

// List returns all versions of the skills that a tenant sees, except hidden ones. They are
// ordered bytewise by namespace and id, and by version, highest first. The digest changes when
// the list without a namespace does. A namespace includes those below it; "" includes all.
// Callers must not modify the list.
func (s *Set) List(tenant, namespace string) (list []*Skill, digest string) {
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

// Digest returns the digest of List.
func (s *Set) Digest(tenant string) string {
	_, digest := s.all(tenant)
	return digest
}

// all returns the tenant's skills and their digest. Callers must not modify the list. Each call
// builds it again for a tenant with created skills.
func (s *Set) all(tenant string) ([]*Skill, string) {
	s.mu.RLock()
	ids, list, digest := s.skills, s.list, s.digest
	s.mu.RUnlock()
	if s.created != nil {
		if own := s.created.all(tenant); len(own) > 0 {
			return visibleOf(ids, own)
		}
	}
	return list, digest
}

// visibleOf returns the skills that are not hidden, in order, and their digest. ids are the skills
// of the sources, own those that a tenant has created.
func visibleOf(ids, own byID) (list []*Skill, digest string) {
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
