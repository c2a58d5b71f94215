package catalog

import (
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// place says where the files of a skill are.
type place struct {
	root      int // index of the root
	area      int // index of the area
	dir, file string
	dirName   string        // the name of the folder, where the skill is the area itself
	entry     *source.Entry // where it is not live
	tree      scan.Tree     // set by within, for one use
	stamp     scan.Stamp    // of the file, where it is live
}

// area is a tree that skills are in: that of a root, or of a link in it.
type area struct {
	tree scan.Tree // nil where each skill has a tree of its own
	// skills are the directories of all skills. A file in one of them belongs to no
	// skill above it.
	skills map[string]string // the id of the skill in it
	hidden map[string]bool   // the directories of hidden skills
}

// state is everything that a catalog knows at one moment. It never changes.
type state struct {
	snapshot     *Snapshot
	places       map[string]place // by id
	roots        []*rootState
	areas        []area
	watchFinding *skillmd.Diagnostic // what a watcher has found
}

// merge makes one state of what the roots gave. extra are findings about whole roots.
func (c *Catalog) merge(roots []*rootState, extra []skillmd.Diagnostic) *state {
	st := &state{places: make(map[string]place), roots: roots}
	var all []candidate
	var diagnostics []skillmd.Diagnostic
	for i, root := range roots {
		if root.isRepeat {
			continue
		}
		diagnostics = append(diagnostics, root.diagnostics...)
		for start := 0; start < len(root.found); {
			end := start + 1
			for end < len(root.found) && root.found[end].Link == root.found[start].Link {
				end++
			}
			all = c.addArea(st, all, i, root.found[start:end])
			start = end
		}
	}
	sortByRank(all)
	all = dropSameFiles(st, all)
	if most := c.cfg.maxSkills; len(all) > most {
		extra = append(extra, skillmd.Diagnostic{
			Code: scan.CodeLimit, Severity: skillmd.Warning,
			Message: fmt.Sprintf("there are %d skills: the %d of the lowest rank are left out", len(all), len(all)-most),
		})
		all = all[:most]
	}
	for i := range all {
		st.places[all[i].skill.ID] = all[i].at
	}
	named := nameSkills(all, c.cfg.collisions)
	st.snapshot = newSnapshot(all, named, append(append(diagnostics, extra...), named.collisions...))
	return st
}

// addArea adds an area with what was found in it, which is not empty.
func (c *Catalog) addArea(st *state, all []candidate, i int, found []foundSkill) []candidate {
	at := len(st.areas)
	a := area{tree: st.roots[i].tree(), skills: make(map[string]string, len(found)), hidden: make(map[string]bool)}
	if l := found[0].Link; l != nil {
		a.tree = l.Tree
	}
	root := c.qualifier(i, st.roots[i])
	kind := c.places[i].Kind()
	for _, f := range found {
		if !f.Usable {
			continue
		}
		folder, dirName := f.Dir, c.places[i].DirName()
		if f.Link != nil {
			folder, dirName = path.Join(f.Link.Name, f.Dir), f.Link.Name
		}
		skill := f.Skill
		skill.Scope, skill.Source = c.roots[i].Scope(), root
		if f.entry != nil {
			folder = f.entry.ID
			skill.Revision, skill.Editable, skill.Origin = f.entry.Revision, f.entry.Editable, f.entry.Origin
			if f.entry.Unreviewed {
				markUnreviewed(&skill)
			}
		}
		skill.ID = c.id(st, kind, root, folder, &skill)
		st.places[skill.ID] = place{} // taken
		a.skills[f.Dir] = skill.ID
		if f.Skill.Hidden && f.entry == nil {
			a.hidden[f.Dir] = true
		}
		all = append(all, candidate{
			skill: skill, key: skilltext.CleanName(skill.Name), root: root, folder: folder,
			at: place{root: i, area: at, dir: f.Dir, file: f.File, dirName: dirName, entry: f.entry, stamp: f.Stamp},
		})
	}
	st.areas = append(st.areas, a)
	return all
}

// id returns the canonical id of a skill.
func (c *Catalog) id(st *state, kind, root, folder string, skill *core.Skill) string {
	id := kind + ":" + root + "/" + folder
	switch {
	case kind == "plugin":
		id = kind + ":" + root + ":" + skill.Name
	case kind == "source" && (strings.HasPrefix(folder, "db:") || strings.HasPrefix(folder, "plugin:") || strings.HasPrefix(folder, "mcp:")):
		id = folder
	case folder == ".":
		id = kind + ":" + root
	}
	for base, n := id, 2; ; n++ {
		if _, taken := st.places[id]; !taken {
			return id
		}
		id = base + "#" + strconv.Itoa(n)
	}
}

// markUnreviewed takes from a skill what only a person can grant it: the tools of its
// list, secrets and the network.
func markUnreviewed(skill *core.Skill) {
	skill.Unreviewed, skill.Repaired = true, true
	skill.Metadata = maps.Clone(skill.Metadata)
	delete(skill.Metadata, "secrets")
	delete(skill.Metadata, "network")
}
