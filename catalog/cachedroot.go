package catalog

import (
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/plainfile"
	"github.com/satchel-go/satchel/skillmd"
)

// cachedRoot is the entry of a root in the cache. It is empty unless the root is a directory.
type cachedRoot struct {
	ID          plainfile.ID // of the directory
	MustSearch  bool         // Open must search the root before it uses the skills
	PluginName  string
	Dirs        []string
	Skills      []cachedSkill
	Diagnostics []skillmd.Diagnostic
}

// cachedSkill is the entry of a SKILL.md in the cache.
type cachedSkill struct {
	Dir, File          string
	Size, Modified     int64
	ID                 plainfile.ID
	Settled            bool
	Usable, OwnsFolder bool
	Agent              scan.Stamp // of agents/openai.yaml
	Skill              core.Skill
	AllowsNothing      bool // allowed-tools is empty; gob cannot tell that from a missing one
	Diagnostics        []skillmd.Diagnostic
}

// newCachedRoot returns the entry of root i for the cache.
func (c *catalogData) newCachedRoot(i int, root *rootState) cachedRoot {
	dir, ok := root.tree().(*scan.DirTree)
	if !ok {
		return cachedRoot{}
	}
	live := root.live
	entry := cachedRoot{
		ID:          plainfile.IDOf(dir.Info),
		MustSearch:  len(live.Links) > 0 || c.roots[i].IsArchive(),
		PluginName:  live.PluginName,
		Dirs:        live.Dirs,
		Diagnostics: live.Diagnostics,
	}
	for _, f := range live.Found {
		if f.Link != nil {
			continue
		}
		nanos := f.Stamp.Modified.UnixNano()
		entry.Skills = append(entry.Skills, cachedSkill{
			Dir: f.Dir, File: f.File,
			Size: f.Stamp.Size, Modified: nanos, ID: f.Stamp.ID,
			Settled: f.Stamp.Settled && time.Unix(0, nanos).Equal(f.Stamp.Modified),
			Usable:  f.Usable, OwnsFolder: f.OwnsFolder, Agent: f.Agent,
			Skill: f.Skill, AllowsNothing: f.Skill.AllowedTools != nil && len(f.Skill.AllowedTools) == 0,
			Diagnostics: f.Diagnostics,
		})
	}
	return entry
}

// restore returns the state of root i from the cache, nil for none. isUsable says that it can be
// used before the root is searched. If not, the state makes the search faster.
func (c *catalogData) restore(i int) (root *rootState, isUsable bool) {
	if c.cache == nil || c.cache.roots == nil {
		return nil, false
	}
	kept := &c.cache.roots[i]
	if kept.ID == (plainfile.ID{}) {
		return nil, false
	}
	listing := kept.listing()
	if kept.MustSearch {
		return &rootState{live: &scan.Listing{Known: listing.Known}}, false
	}
	t, err := scan.OpenTree(c.places[i], nil)
	if t == nil || err != nil {
		return nil, false
	}
	if dir, ok := t.(*scan.DirTree); !ok || plainfile.IDOf(dir.Info) != kept.ID {
		_ = t.Close()
		return nil, false
	}
	listing.Tree = t
	return parseLive(listing), true
}

func (k *cachedRoot) listing() *scan.Listing {
	l := &scan.Listing{
		Found:       make([]*scan.Found, len(k.Skills)),
		Diagnostics: k.Diagnostics,
		Known:       make(map[string]*scan.Record, len(k.Skills)),
		PluginName:  k.PluginName,
		Dirs:        k.Dirs,
	}
	for i := range k.Skills {
		s := &k.Skills[i]
		if s.AllowsNothing {
			s.Skill.AllowedTools = []string{}
		}
		l.Found[i] = &scan.Found{Dir: s.Dir, File: s.File, Record: scan.Record{
			Stamp: scan.Stamp{Size: s.Size, Modified: time.Unix(0, s.Modified), ID: s.ID, Settled: s.Settled},
			Skill: s.Skill, Diagnostics: s.Diagnostics, Usable: s.Usable, OwnsFolder: s.OwnsFolder, Agent: s.Agent,
		}}
		l.Known[s.File] = &l.Found[i].Record
	}
	return l
}
