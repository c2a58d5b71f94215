package protocol

import "github.com/satchel-go/satchel/protocol/shelf"

// Latest returns, of each skill that a principal may read, the version that is meant
// where none is named; the guide is among them. The order is that of list_skills.
func (s *Server) Latest(who Principal) []*shelf.Skill {
	if !who.Has(ScopeRead) {
		return nil
	}
	all, _ := s.shelf.List(who.Tenant, "")
	list, seen := []*shelf.Skill{s.guide}, map[string]bool{GuideID: true}
	for _, k := range all {
		if seen[k.ID()] {
			continue
		}
		seen[k.ID()] = true
		if k, err := s.shelf.Find(who.Tenant, k.ID(), ""); err == nil {
			list = append(list, k)
		}
	}
	return list
}
