package protocol

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/files/lazyfs"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// Source returns the skills that a principal may read as a source, for a server of another
// protocol. The guide comes first. Each skill is listed once, under its id, in the version that a
// call without a version gets. Reading a file fails if it has changed since the listing.
func (s *Server) Source(who Principal) catalog.Source { return &principalSource{server: s, who: who} }

// principalSource lists the skills of one principal.
type principalSource struct {
	server *Server
	who    Principal

	mu      sync.Mutex
	listing *source.Listing // the last one
	digest  string          // of the skills in it
	skills  map[string]*skillset.Skill
}

// Scan implements catalog.Source. It returns the last listing again until a skill changes.
func (s *principalSource) Scan(ctx context.Context, _ *source.Listing) (*source.Listing, error) {
	if err := s.server.skills.RefreshIfOld(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	digest := ""
	if s.who.Has(ScopeRead) {
		digest = s.server.skills.Digest(s.who.Tenant)
	}
	if s.listing == nil || s.digest != digest {
		s.list()
	}
	return s.listing, ctx.Err()
}

// list makes a new listing. The caller holds s.mu.
func (s *principalSource) list() {
	s.listing, s.skills, s.digest = &source.Listing{}, make(map[string]*skillset.Skill), ""
	if !s.who.Has(ScopeRead) {
		return
	}
	all, digest := s.server.skills.List(s.who.Tenant, "")
	s.digest = digest
	s.add(s.server.guide)
	for _, k := range all {
		if s.skills[k.ID()] != nil {
			continue
		}
		if k, err := s.server.skills.Find(s.who.Tenant, k.ID(), ""); err == nil {
			s.add(k)
		}
	}
}

func (s *principalSource) add(k *skillset.Skill) {
	s.skills[k.ID()] = k
	s.listing.Entries = append(s.listing.Entries, source.Entry{ID: k.ID(), Revision: k.Digest, Head: k.Head, Files: k.Files, Origin: k.Origin})
}

// Open implements catalog.Source.
func (s *principalSource) Open(ctx context.Context, id, revision string) (fs.FS, error) {
	s.mu.Lock()
	k := s.skills[id]
	s.mu.Unlock()
	if k == nil || k.Digest != revision {
		return nil, fmt.Errorf("skill %q: %w", id, errors.Join(source.ErrGone, skillset.ErrChanged))
	}
	files := make([]lazyfs.File, len(k.Files))
	for i, f := range k.Files {
		files[i] = lazyfs.File{Path: f.Path, Size: f.Size}
	}
	return lazyfs.New(files, func(name string) ([]byte, error) { return k.ReadFile(ctx, name) }), nil
}

// Place returns where the files of a listed skill are, for diagnostics: a folder, or the id if
// there is none.
func (s *principalSource) Place(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.skills[id]; k != nil {
		return k.Place()
	}
	return id
}
