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
	sources []catalog.Source // the caller's
	created *created         // nil without a directory

	remotes  sync.Mutex // held while sources from afar are listed
	stale    atomic.Bool
	watchers atomic.Int32 // how many Watch has begun
	relisted sync.Mutex   // held while the sources of this machine are listed
	began    time.Time    // the last time, and how long that took
	took     time.Duration
	entries  []map[string]entrySkill // by id and revision

	suggesting sync.Mutex
	index      *search.Index // of the ids and descriptions of the list with indexOf as its digest
	indexOf    string

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

// entrySkill is the skill of an entry of a source, with the findings about it.
type entrySkill struct {
	skill    *Skill // nil if the entry is no usable skill
	findings []skillmd.Diagnostic
}

// byID are the versions of each id, highest first.
type byID map[string][]*Skill

// Open lists the skills of the sources. Of two with the same id and version the first counts.
// base is the directory of created skills; if it is "", none can be created. Skills that cannot
// be used are diagnostics. Close the set after use; the sources stay open.
func Open(ctx context.Context, base string, sources ...catalog.Source) (*Set, error) {
	s := &Set{sources: sources, listings: make([]listing, len(sources)), entries: make([]map[string]entrySkill, len(sources))}
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
// not exist any more has no skills. Another source that fails keeps the skills it had. Both are
// diagnostics. The error is that of ctx.
func (s *Set) Refresh(ctx context.Context) error {
	s.remotes.Lock()
	defer s.remotes.Unlock()
	for i, source := range s.sources {
		if _, ok := source.(*remote); !ok {
			continue
		}
		if err := s.scan(ctx, i); err != nil {
			return err
		}
	}
	s.relisted.Lock()
	defer s.relisted.Unlock()
	return s.relist(ctx)
}

// RefreshIfOld lists the sources of this machine again. It does nothing if no source has
// reported a change and the last listing was a moment ago. It also does nothing if no source
// has reported a change, the set is large, and [Set.Watch] watches it. The error is that
// of ctx.
func (s *Set) RefreshIfOld(ctx context.Context) error {
	return s.refreshNear(ctx, func() bool {
		return !s.stale.Load() && (time.Since(s.began) < 2*s.took || s.took > longRefresh && s.watchers.Load() > 0)
	})
}

// RefreshNear lists the sources of this machine again, once for all calls that wait for it.
// The error is that of ctx.
func (s *Set) RefreshNear(ctx context.Context) error {
	return s.refreshNear(ctx, func() bool { return false })
}

func (s *Set) refreshNear(ctx context.Context, isNew func() bool) error {
	called := time.Now()
	s.relisted.Lock()
	defer s.relisted.Unlock()
	if s.began.After(called) || isNew() {
		return nil
	}
	return s.relist(ctx)
}

// scan lists one source. The error is that of ctx.
func (s *Set) scan(ctx context.Context, i int) error {
	s.mu.RLock()
	old := s.listings[i]
	s.mu.RUnlock()
	found, err := s.sources[i].Scan(ctx, old.Listing)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	next := listing{found, nil}
	if err != nil || found == nil {
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

// relist lists the sources of this machine, and puts all skills together. It expects
// s.relisted to be held.
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
		source, listing := s.sources[i], listings[i]
		if listing.fault != nil {
			diagnostics = append(diagnostics, *listing.fault)
		}
		if listing.Listing == nil {
			continue
		}
		diagnostics = append(diagnostics, listing.Diagnostics...)
		entries := make(map[string]entrySkill, len(listing.Entries))
		for _, e := range listing.Entries {
			key := e.ID + "\x00" + e.Revision
			found, ok := s.entries[i][key]
			if r, isRemote := source.(*remote); !ok && isRemote {
				found.skill, found.findings = r.skill(e)
			} else if !ok {
				found.skill, found.findings = newSkill(ctx, source, e, false)
			}
			if found.skill != nil { // what is none is looked at again
				entries[key] = found
			}
			diagnostics = append(diagnostics, found.findings...)
			if found.skill != nil && !next.add(found.skill) {
				diagnostics = append(diagnostics, skillmd.Diagnostic{File: found.skill.Place(), Code: catalog.CodeCollision, Severity: skillmd.Warning,
					Message: fmt.Sprintf("%q %s is there already: left out; give it another name or version", found.skill.ID(), found.skill.Version)})
			}
		}
		s.entries[i] = entries
	}
	if err := ctx.Err(); err != nil { // then skills may not have been read
		s.stale.Store(true)
		return err
	}
	list, digest := visibleOf(next, nil)
	s.began, s.took = began, time.Since(began)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skills, s.list, s.digest, s.diagnostics = next, list, digest, diagnostics
	return nil
}

// order returns the order of the sources: remote ones come last.
func (s *Set) order() (order []int) {
	for _, far := range []bool{false, true} {
		for i, source := range s.sources {
			if _, ok := source.(*remote); ok == far {
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
	i, taken := slices.BinarySearchFunc(all, skill, func(a, b *Skill) int { return compareVersions(b.Version, a.Version) })
	if taken {
		return false
	}
	b[skill.ID()] = slices.Insert(slices.Clone(all), i, skill)
	return true
}

// Diagnostics returns the findings of the last listing.
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

// all returns the tenant's skills; callers must not modify the list. It is rebuilt only for
// tenants with created skills.
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

// visibleOf returns the visible skills of the sources and of one tenant in order, and their
// digest.
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
