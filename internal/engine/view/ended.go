package view

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// Completed are the events of skills that were loaded and are no longer so, but for those
// whose end was told before: where the model had answered them, in mode Once.
func Completed(before, after *state.Record, why string, mode loadmode.Mode) (events []core.Event) {
	for _, a := range before.Active {
		if after.Find(a.Skill) == nil && (mode != loadmode.Once || !isSpent(before, a.Skill)) {
			events = append(events, core.Event{Kind: core.SkillCompleted, Key: before.Key, Skill: a.Skill, Detail: why})
		}
	}
	return events
}

// isSpent reports whether the model has answered to all that was delivered of a skill.
func isSpent(rec *state.Record, skill string) bool {
	return !slices.ContainsFunc(rec.Deliveries, func(d state.Delivery) bool { return d.Skill == skill && !d.Spent })
}

// Answered are the events of loads of mode Once that the model has answered.
func Answered(before, after *state.Record) (events []core.Event) {
	for i := range before.Deliveries {
		d := &before.Deliveries[i]
		if d.Body && !d.Spent && i < len(after.Deliveries) && after.Deliveries[i].Spent && before.Find(d.Skill) != nil {
			events = append(events, core.Event{Kind: core.SkillCompleted, Key: before.Key, Skill: d.Skill, Detail: "answered"})
		}
	}
	return events
}

// Endings are the events of the loads that end with a session. What the store cannot tell
// of them is left out.
func (s *Stores) Endings(ctx context.Context, key core.SessionKey, mode loadmode.Mode) (events []core.Event) {
	keys, err := s.Agents(ctx, key)
	if err != nil {
		return nil
	}
	for _, key := range keys {
		rec, err := s.Load(ctx, key)
		if err != nil {
			continue
		}
		for _, e := range Completed(rec, &state.Record{}, "session", mode) {
			e.Key = key
			events = append(events, e)
		}
	}
	return events
}
