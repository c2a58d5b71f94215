package view

import (
	"context"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// Offering returns the event about the skills that an agent is offered. ok is false if they are those
// of the last event, or if there are none and there was no event.
func (v *Overviews) Offering(ctx context.Context, agent *state.Agent, skills *catalog.Catalog, scan *state.Scan) (e core.Event, ok bool, err error) {
	o := v.Of(skills)
	if !agent.NoteOverview(o.Snapshot) {
		return e, false, nil
	}
	e = core.Event{Kind: core.SkillsOffered}
	visible := o.Snapshot.Visible()
	switch {
	case v.IsUnlisted: // agents find the skills by tools
	case v.Renderer != nil:
		for i := range visible {
			e.Skills = append(e.Skills, visible[i].Name)
		}
	default:
		text, err := v.rankedOverview(ctx, o, skills, scan)
		if err != nil {
			return e, false, err
		}
		e.Skills, e.Named = text.Shown(visible)
	}
	e.Left = len(visible) - len(e.Skills) - len(e.Named)
	return e, agent.NoteOffered(state.Offered{Described: e.Skills, Named: e.Named, Left: e.Left}), nil
}
