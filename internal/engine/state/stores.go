package state

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// Stores selects where the records and texts of a session are kept. Sessions that the host
// named are in the host's store, and anonymous sessions in another one.
type Stores struct {
	Named     *Records
	Anonymous *Records
	Log       *slog.Logger

	forks forks
}

// Of returns the Records that holds the session of key.
func (s *Stores) Of(key core.SessionKey) *Records {
	if strings.Contains(key.Agent, forkMark) {
		if records := s.forks.of(key); records != nil {
			return records
		}
	}
	return s.ofSession(key)
}

// ofSession returns the Records of the session of key. In it a fork has nothing.
func (s *Stores) ofSession(key core.SessionKey) *Records {
	if key.Anonymous {
		return s.Anonymous
	}
	return s.Named
}

// AwaitNumbers waits for the saves of the numbers of model calls in the session of in, so that none comes after
// the end of the session.
func (s *Stores) AwaitNumbers(ctx context.Context, in core.SessionKey) {
	s.awaitNumbers(ctx, in, func(key core.SessionKey) bool { return key.Session == in.Session && key.Anonymous == in.Anonymous })
}

func (s *Stores) awaitNumbers(ctx context.Context, in core.SessionKey, isOf func(core.SessionKey) bool) {
	if numbers := s.ofSession(in).Numbers; numbers != nil {
		numbers.waitFor(ctx, isOf)
	}
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

// lostText replaces a pinned text that the store has lost.
const lostText = "(This text is no longer available. Load it again.)"

// Texts returns a function that reads the pinned texts of a session. For a text that the
// store has lost, the function returns a sentence that says so, and no error.
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

// HasOther reports whether the store knows a turn of another agent of the session of key.
func (s *Stores) HasOther(ctx context.Context, key core.SessionKey) bool {
	keys, _ := s.Agents(ctx, key)
	return slices.ContainsFunc(keys, func(other core.SessionKey) bool {
		rec, err := s.Load(ctx, other) // a damaged one may be a value of the host
		return other != key && err == nil && rec.Turn > 0
	})
}

// Ended returns the highest call number of ended sessions with the key's session id and agent,
// 0 if there is none.
func (s *Stores) Ended(ctx context.Context, key core.SessionKey) (int, error) {
	if key.Anonymous { // no host can send the messages of an anonymous session again
		return 0, nil
	}
	return s.Named.Ended(ctx, key)
}

// BeginAgain resets the stored record to the state at the beginning of the turn of rec, after
// an attempt to answer the turn has failed. It returns that record and the events of the change.
func (s *Stores) BeginAgain(ctx context.Context, rec *Record, mode loadmode.Mode) (*Record, []core.Event, error) {
	turn := rec.Turn
	var events []core.Event
	rec, err := s.Of(rec.Key).UpdateFrom(ctx, rec, func(rec *Record) (*Record, error) {
		next := rec.Clone()
		if events = nil; rec.Turn != turn || !next.BeginAgain() {
			return nil, nil
		}
		events = append(CompletedEvents(rec, next, "again", mode), rec.ClearedEvents(next, Clearing{Cause: ClearedByUnload})...)
		return next, nil
	})
	return rec, events, err
}

// Clear removes all loaded skills and deliveries from the record of an agent. It returns the events of
// the change.
func (s *Stores) Clear(ctx context.Context, key core.SessionKey) ([]core.Event, error) {
	var events []core.Event
	_, err := s.Of(key).Update(ctx, key, func(rec *Record) (*Record, error) {
		if events = nil; rec.Capped() == 0 && len(rec.Deliveries) == 0 {
			return nil, nil
		}
		next := rec.Clone()
		next.EndLoads()
		next.NoteBeginning() // a turn that begins again must not restore them
		for _, skill := range endedLoads(rec, next) {
			events = append(events, core.Event{Kind: core.SkillUnloaded, Skill: skill}, core.Event{Kind: core.SkillCompleted, Key: rec.Key, Skill: skill, Detail: "unloaded"})
		}
		events = append(events, rec.ClearedEvents(next, Clearing{Cause: ClearedByUnload})...)
		return next, nil
	})
	return events, err
}

// Release unpins the texts that no agent of a session needs after some agents were cleared.
// It keeps all texts if the host stores a value of its own in the session, because the pins
// of that value are not known. loaded reports whether an agent that was not cleared has a
// skill loaded.
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

// CompletedEvents returns an event for each skill that is loaded before and not after. It leaves out
// skills that the model has answered in mode Once, because [AnsweredEvents] reported them. The host may
// have changed the mode since.
func CompletedEvents(before, after *Record, why string, mode loadmode.Mode) (events []core.Event) {
	for _, skill := range endedLoads(before, after) {
		isOf := func(d Delivery) bool { return d.Skill == skill }
		if IsSpent(before, skill) && (mode == loadmode.Once || slices.ContainsFunc(before.Deliveries, isOf)) {
			continue
		}
		events = append(events, core.Event{Kind: core.SkillCompleted, Key: before.Key, Skill: skill, Detail: why})
	}
	return events
}

// endedLoads returns the skills that are loaded before and not after.
func endedLoads(before, after *Record) (skills []string) {
	for _, a := range before.Active {
		if after.Find(a.Skill) == nil {
			skills = append(skills, a.Skill)
		}
	}
	return skills
}

// IsSpent reports whether the model has answered all deliveries of a skill. In mode Once its load has ended then.
func IsSpent(rec *Record, skill string) bool {
	return !slices.ContainsFunc(rec.Deliveries, func(d Delivery) bool { return d.Skill == skill && !d.Spent })
}

// AnsweredEvents returns an event for each load in mode Once that the model has now answered.
func AnsweredEvents(before, after *Record) (events []core.Event) {
	for i := range before.Deliveries {
		d := &before.Deliveries[i]
		if d.Body && !d.Spent && i < len(after.Deliveries) && after.Deliveries[i].Spent && before.Find(d.Skill) != nil && before.task(d.Skill) == nil {
			events = append(events, core.Event{Kind: core.SkillCompleted, Key: before.Key, Skill: d.Skill, Detail: "answered"})
		}
	}
	return events
}

// EndEvents returns the events of the loads that end with a session. It leaves out agents whose
// records cannot be loaded.
func (s *Stores) EndEvents(ctx context.Context, key core.SessionKey, mode loadmode.Mode) (events []core.Event) {
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
