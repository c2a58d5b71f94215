package protocol

import "github.com/satchel-go/satchel/protocol/shelf"

// Latest returns the skills that a principal may read, and a digest of the list. The guide
// comes first. Each skill has the version that a call without a version gets. If the digest
// equals known, the list is nil.
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
