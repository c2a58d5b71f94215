package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

// place is where a skill of the catalog lives.
type place struct {
	root      int // index of the root
	dir, file string
}

// state is everything a catalog knows at one moment. It never changes.
type state struct {
	snapshot *Snapshot
	places   map[string]place // by skillmd.CleanName
	trees    []tree           // by root; nil for a root that is absent or repeated
	files    []map[string]record
	// skillDirs are the directories of all skills of a root: what is in them
	// belongs to no skill above them. hidden are those of hidden skills.
	skillDirs, hidden []map[string]bool
}

// merge makes one catalog of what the roots gave. Of two skills with one name,
// that of the earlier root wins, and in one root that of the lexically smaller
// path. extra are findings about whole roots.
func merge(trees []tree, scans []scan, extra []skillmd.Diagnostic) *state {
	st := &state{
		places:    make(map[string]place),
		trees:     trees,
		files:     make([]map[string]record, len(scans)),
		skillDirs: make([]map[string]bool, len(scans)),
		hidden:    make([]map[string]bool, len(scans)),
	}
	var skills []core.Skill
	var diagnostics, collisions []skillmd.Diagnostic
	winners := make(map[string]string) // key -> location
	for i, scan := range scans {
		diagnostics = append(diagnostics, scan.diagnostics...)
		st.files[i] = make(map[string]record, len(scan.found))
		st.skillDirs[i] = make(map[string]bool, len(scan.found))
		st.hidden[i] = make(map[string]bool)
		for _, f := range scan.found {
			st.files[i][f.file] = f.record
			if !f.usable {
				continue
			}
			st.skillDirs[i][f.dir] = true
			if f.skill.Hidden {
				st.hidden[i][f.dir] = true
			}
			key := skillmd.CleanName(f.skill.Name)
			if winner, taken := winners[key]; taken {
				collisions = append(collisions, collision(f.skill, winner))
				continue
			}
			winners[key] = f.skill.Location
			st.places[key] = place{root: i, dir: f.dir, file: f.file}
			skills = append(skills, f.skill)
		}
	}
	slices.SortFunc(skills, func(a, b core.Skill) int { return strings.Compare(a.Name, b.Name) })
	diagnostics = append(append(diagnostics, extra...), collisions...)
	st.snapshot = newSnapshot(skills, diagnostics)
	return st
}

// collision tells that a skill is not in the catalog because another one has
// its name.
func collision(loser core.Skill, winner string) skillmd.Diagnostic {
	return skillmd.Diagnostic{
		File:     loser.Location,
		Code:     CodeCollision,
		Severity: skillmd.Warning,
		Message:  fmt.Sprintf("skill %q is already taken from %s; %s is ignored", loser.Name, winner, loser.Location),
	}
}
