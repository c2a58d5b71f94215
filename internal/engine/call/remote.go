package call

import (
	"cmp"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/permission"
)

// RunsBesideRemote reports whether a call that would do q runs code where some of the
// skills are served from afar.
func RunsBesideRemote(skills *catalog.Snapshot, q *permission.Request) bool {
	runs := q.Takes == permission.Command || q.Takes != permission.Inert && slices.Contains(q.Tool.As, "Bash")
	return runs && !q.Idle && slices.ContainsFunc(skills.Skills(), func(k core.Skill) bool { return k.Origin != "" })
}

// Remote are the skills that are served from afar and have a text in view.
func Remote(skills *catalog.Snapshot, rec *state.Record) (all []core.Skill) {
	add := func(name string) {
		k, ok := skills.Skill(name)
		if ok && k.Origin != "" && !slices.ContainsFunc(all, func(have core.Skill) bool { return have.ID == k.ID }) {
			all = append(all, k)
		}
	}
	for _, a := range rec.Active {
		add(cmp.Or(a.ID, a.Skill))
	}
	for _, d := range rec.Deliveries {
		add(d.Skill)
	}
	return all
}
