package catalog

import (
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/plainfile"
	"github.com/satchel-go/satchel/skillmd"
)

// cachedRoot is what is kept of a directory.
type cachedRoot struct {
	// ID is that of the directory; without one nothing is kept.
	ID plainfile.ID
	// Searched: the root is searched by Open all the same.
	Searched    bool
	Called      string
	Dirs        []string
	Skills      []cachedSkill
	Diagnostics []skillmd.Diagnostic
}

// cachedSkill is a SKILL.md that was read.
type cachedSkill struct {
	Dir, File      string
	Size, Modified int64
	ID             plainfile.ID
	Settled        bool
	Usable, Closed bool
	Skill          core.Skill
	AllowsNothing  bool // its list is empty, which differs from having none
	Diagnostics    []skillmd.Diagnostic
}

// cachedRoot makes what is kept of a root.
func (c *library) cachedRoot(i int, root *sourced) cachedRoot {
	dir, ok := root.tree().(*dirTree)
	if !ok {
		return cachedRoot{}
	}
	live := root.listing.live
	kept := cachedRoot{
		ID:          plainfile.IDOf(dir.info),
		Searched:    len(live.links) > 0 || c.roots[i].archive != nil,
		Called:      live.called,
		Dirs:        live.dirs,
		Diagnostics: root.listing.Diagnostics,
	}
	for _, e := range root.listing.Entries {
		f := e.live
		if f.linked != nil {
			continue
		}
		nanos := f.stamp.modified.UnixNano()
		kept.Skills = append(kept.Skills, cachedSkill{
			Dir: f.dir, File: f.file,
			Size: f.stamp.size, Modified: nanos, ID: f.stamp.id,
			Settled: f.stamp.settled && time.Unix(0, nanos).Equal(f.stamp.modified),
			Usable:  f.usable, Closed: f.closed,
			Skill: f.skill, AllowsNothing: f.skill.AllowedTools != nil && len(f.skill.AllowedTools) == 0,
			Diagnostics: f.diagnostics,
		})
	}
	return kept
}

// restore returns what the cache has of a root, and whether it can be served before the
// root is searched. If not, the search is faster with it.
func (c *library) restore(i int) (root *sourced, served bool) {
	if c.cache == nil || c.cache.roots == nil {
		return nil, false
	}
	kept := &c.cache.roots[i]
	if kept.ID == (plainfile.ID{}) {
		return nil, false
	}
	listing := kept.listing()
	if kept.Searched {
		return &sourced{listing: &Listing{live: &liveTree{known: listing.live.known}}}, false
	}
	t, err := openTree(c.roots[i], nil)
	if t == nil || err != nil {
		return nil, false
	}
	if dir, ok := t.(*dirTree); !ok || plainfile.IDOf(dir.info) != kept.ID {
		_ = t.close()
		return nil, false
	}
	listing.live.tree = t
	return parseLive(listing), true
}

func (k *cachedRoot) listing() *Listing {
	l := &Listing{
		Entries:     make([]Entry, len(k.Skills)),
		Diagnostics: k.Diagnostics,
		live:        &liveTree{known: make(map[string]record, len(k.Skills)), called: k.Called, dirs: k.Dirs},
	}
	for i := range k.Skills {
		s := &k.Skills[i]
		if s.AllowsNothing {
			s.Skill.AllowedTools = []string{}
		}
		f := &found{dir: s.Dir, file: s.File, record: record{
			stamp: stamp{s.Size, time.Unix(0, s.Modified), s.ID, s.Settled},
			skill: s.Skill, diagnostics: s.Diagnostics, usable: s.Usable, closed: s.Closed,
		}}
		l.Entries[i] = Entry{ID: f.dir, live: f}
		l.live.known[f.file] = f.record
	}
	return l
}
