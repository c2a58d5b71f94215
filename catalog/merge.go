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
	dirName   string        // the name of the folder if the skill is the area itself
	entry     *source.Entry // of a skill of a source, else nil
	fetched   *fetchedSkill // nil if the front matter is known
	tree      scan.Tree     // set by withPlace, for one use
	stamp     scan.Stamp    // of the file, unless the skill is from a source
}

// area is a tree with skills: the tree of a root, or of a link in it.
type area struct {
	tree scan.Tree // nil if each skill has a tree of its own
	// skills maps the directory of each skill to its id. A file in one of these directories
	// belongs to no skill above it.
	skills map[string]string
	hidden map[string]bool // the directories of hidden skills
}

// state is everything that a catalog knows at one moment. It never changes.
type state struct {
	snapshot     *Snapshot
	places       map[string]place // by id
	roots        []*rootState
	areas        []area
	watchFinding *skillmd.Diagnostic // that of catalogData when the state was made
}

// merge builds the state from the states of all roots. extra are findings about whole roots.
func (c *Catalog) merge(roots []*rootState, extra []skillmd.Diagnostic) *state {
	most := 0
	for _, root := range roots {
		most += len(root.found)
	}
	st := &state{places: make(map[string]place, most), roots: roots}
	all := make([]candidate, 0, most)
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

// addArea adds the area of the skills in found to st, and the skills to all. found holds at
// least one skill, and all are behind the same link of root i, or behind none.
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
			skill.OnDemand = f.entry.OnDemand
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
			at: place{root: i, area: at, dir: f.Dir, file: f.File, dirName: dirName, entry: f.entry, fetched: f.fetched, stamp: f.Stamp},
		})
	}
	st.areas = append(st.areas, a)
	return all
}

// id returns the canonical id of a skill, which no skill of st has yet.
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

// markUnreviewed marks a skill that no person has approved. It removes the fields that ask for
// secrets and the network. Repaired makes the list of tools grant nothing.
func markUnreviewed(skill *core.Skill) {
	skill.Unreviewed, skill.Repaired = true, true
	skill.Metadata = maps.Clone(skill.Metadata)
	delete(skill.Metadata, "secrets")
	delete(skill.Metadata, "network")
}
