package protocol

import "github.com/satchel-go/satchel/protocol/shelf"

// Latest returns the skills that a principal may read, the guide first, each in the version
// that a call without a version means, and a digest of them all. If the digest is still
// the known one, the list is nil.
func (s *Server) Latest(who Principal, known string) (list []*shelf.Skill, digest string) {
	if !who.Has(ScopeRead) {
		return nil, ""
	}
	_ = s.shelf.RefreshIfOld(s.base) // at its end the server answers nothing
	if digest = s.shelf.Digest(who.Tenant); digest == known {
		return nil, digest
	}
	all, digest := s.shelf.List(who.Tenant, "")
	list = append(list, s.guide)
	seen := map[string]bool{guideID: true}
	for _, k := range all {
		if seen[k.ID()] {
			continue
		}
		seen[k.ID()] = true
		if k, err := s.shelf.Find(who.Tenant, k.ID(), ""); err == nil {
			list = append(list, k)
		}
	}
	return list, digest
}
