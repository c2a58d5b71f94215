package state

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// Stores are where records and texts are kept: those of the host's sessions in its store,
// and those of sessions that no host named in another one.
type Stores struct {
	Kept      *Records
	Anonymous *Records
	Log       *slog.Logger
}

// Of returns the records among which those of a session are.
func (s *Stores) Of(key core.SessionKey) *Records {
	if key.Anonymous {
		return s.Anonymous
	}
	return s.Kept
}

// Load loads the record of an agent.
func (s *Stores) Load(ctx context.Context, key core.SessionKey) (*Record, error) {
	return s.Of(key).Load(ctx, key)
}

// Pin keeps a text for a session.
func (s *Stores) Pin(ctx context.Context, key core.SessionKey, c catalog.Content) error {
	if err := s.Of(key).Pin(ctx, key.Session, c.Digest, c.Text); err != nil {
		return fmt.Errorf("pin content for session %q: %w", key.Session, err)
	}
	return nil
}

// lostText stands for a pinned text that the store has lost.
const lostText = "(This text is no longer available. Load it again.)"

// Texts returns a function that finds the pinned texts of a session. For a text that the
// store has lost it returns a sentence that says so, and no error.
func (s *Stores) Texts(ctx context.Context, key core.SessionKey) func(digest string) (string, error) {
	return func(digest string) (string, error) {
		text, err := s.Of(key).Pinned(ctx, key.Session, digest)
		if errors.Is(err, session.ErrNotPinned) {
			s.Log.WarnContext(ctx, "pinned content is lost", "session", key.Session, "digest", digest)
			return lostText, nil
		}
		return text, err
	}
}

// Size estimates the tokens of a pinned text of a session.
func (s *Stores) Size(ctx context.Context, key core.SessionKey, digest string) (int, error) {
	text, err := s.Texts(ctx, key)(digest)
	return prompttext.Estimate(text), err
}

// Agents returns the keys of all agents of the session of key.
func (s *Stores) Agents(ctx context.Context, key core.SessionKey) ([]core.SessionKey, error) {
	agents, err := s.Of(key).Agents(ctx, key.Session)
	if err != nil {
		return nil, err
	}
	var keys []core.SessionKey
	for _, key.Agent = range agents {
		keys = append(keys, key)
	}
	return keys, nil
}

// Ended returns the number of the last call of a session that was ended under the id of
// key, 0 for none.
func (s *Stores) Ended(ctx context.Context, key core.SessionKey) (int, error) {
	if key.Anonymous { // no host can send the messages of an anonymous session again
		return 0, nil
	}
	return s.Kept.Ended(ctx, key)
}

// BeginAgain saves and returns the record with which the turn of rec began, and the events of
// the change. Callers use it after an attempt to answer the turn has failed.
func (s *Stores) BeginAgain(ctx context.Context, rec *Record, mode loadmode.Mode) (*Record, []core.Event, error) {
	turn := rec.Turn
	var events []core.Event
	rec, err := s.Of(rec.Key).UpdateFrom(ctx, rec, func(rec *Record) (*Record, error) {
		next := rec.Clone()
		if events = nil; rec.Turn != turn || !next.BeginAgain() {
			return nil, nil
		}
		events = CompletedEvents(rec, next, "again", mode)
		return next, nil
	})
	return rec, events, err
}

// Clear takes from the record of an agent what is loaded and delivered.
func (s *Stores) Clear(ctx context.Context, key core.SessionKey) error {
	_, err := s.Of(key).Update(ctx, key, func(rec *Record) (*Record, error) {
		if len(rec.Active) == 0 && len(rec.Deliveries) == 0 {
			return nil, nil
		}
		next := rec.Clone()
		next.Active, next.Deliveries = nil, nil
		next.Began() // also where the turn is begun again
		return next, nil
	})
	return err
}

// Release unpins the texts that no agent of a session needs once some agents are cleared. It
// keeps all texts if the host has a value of its own in the session, whose pins are not known.
// loaded reports whether another agent has a skill loaded, also if Release cannot unpin.
func (s *Stores) Release(ctx context.Context, in core.SessionKey, cleared func(core.SessionKey) bool) (loaded bool, err error) {
	keys, err := s.Agents(ctx, in)
	if err != nil {
		return true, err
	}
	var pins []string
	foreign := false
	for _, key := range keys {
		rec, err := s.Load(ctx, key)
		if errors.Is(err, session.ErrDamaged) {
			foreign = true
			continue
		}
		if err != nil {
			return true, err
		}
		pins = append(pins, rec.Pins()...)
		loaded = loaded || len(rec.Active) > 0 && !cleared(key)
	}
	if foreign {
		return loaded, nil
	}
	return loaded, s.Of(in).Unpin(ctx, in.Session, pins)
}

// CompletedEvents returns the events of skills that were loaded and are no longer so. It
// leaves out those whose end was reported before, because the model had answered them in
// mode Once.
func CompletedEvents(before, after *Record, why string, mode loadmode.Mode) (events []core.Event) {
	for _, a := range before.Active {
		if after.Find(a.Skill) == nil && (mode != loadmode.Once || !isSpent(before, a.Skill)) {
			events = append(events, core.Event{Kind: core.SkillCompleted, Key: before.Key, Skill: a.Skill, Detail: why})
		}
	}
	return events
}

// isSpent reports whether the model has answered to all that was delivered of a skill.
func isSpent(rec *Record, skill string) bool {
	return !slices.ContainsFunc(rec.Deliveries, func(d Delivery) bool { return d.Skill == skill && !d.Spent })
}

// AnsweredEvents returns the events of loads of mode Once that the model has answered.
func AnsweredEvents(before, after *Record) (events []core.Event) {
	for i := range before.Deliveries {
		d := &before.Deliveries[i]
		if d.Body && !d.Spent && i < len(after.Deliveries) && after.Deliveries[i].Spent && before.Find(d.Skill) != nil {
			events = append(events, core.Event{Kind: core.SkillCompleted, Key: before.Key, Skill: d.Skill, Detail: "answered"})
		}
	}
	return events
}

// Endings returns the events of the loads that end with a session. What the store cannot tell
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
		for _, e := range CompletedEvents(rec, &Record{}, "session", mode) {
			e.Key = key
			events = append(events, e)
		}
	}
	return events
}
