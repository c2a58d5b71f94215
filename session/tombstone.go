package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// A transcript shows what was loaded, and a record that was lost is rebuilt from
// it. A session that was ended must not come back in this way, in any process. So
// the store keeps for a while which sessions have ended, and after which call. A
// store with Tombs does that itself; otherwise some notes are kept in each of 256
// records, so that many sessions can end at the same time.
const (
	buriedSession = "satchel:closed"
	maxBuried     = 64 // in one record
	buriedAge     = 30 * 24 * time.Hour
)

// buriedIn returns the record that would say that a session has ended, and the
// name of an agent of the session in it.
func buriedIn(key core.SessionKey) (in core.SessionKey, name string) {
	session, agent := Digest(key.Session), Digest(key.Agent)
	return core.SessionKey{Session: buriedSession, Agent: session[:2]}, session[:16] + agent[:16]
}

// Closed notes that the session of an agent was ended.
type Closed = state.Closed

// Tombs is a [Store] that itself notes which sessions have ended, see [Bury],
// without a bound on their number.
type Tombs interface {
	// Bury ends a session and records last, its agents, in one step. Earlier
	// notes of agents that last does not name stay. Notes are kept for 30 days.
	Bury(ctx context.Context, session string, last []state.Closed) error

	// Buried returns the highest number that the agent has given to a call in
	// ended sessions of that id, 0 if none is known.
	Buried(ctx context.Context, key core.SessionKey) (calls int, err error)
}

// NewClosed returns the note that the session of an agent ends now, after so many
// calls.
func NewClosed(key core.SessionKey, calls int) state.Closed {
	return state.Closed{Agent: ClosedName(key), Calls: calls, At: time.Now().Unix()}
}

// ClosedName returns how a [Closed] names an agent of a session.
func ClosedName(key core.SessionKey) string {
	_, name := buriedIn(key)
	return name
}

// tombsOf returns the store as Tombs, or nil if it keeps no notes of its own.
func tombsOf(s Store) Tombs {
	if c, ok := s.(*PinCache); ok {
		s = c.Store
	}
	t, _ := s.(Tombs)
	return t
}

// Bury records the highest number that each agent of a session has given to a
// call. Call it before the session is ended: from then on [Buried] says what a
// transcript of the session must not bring back. A store that has [Tombs] ends
// the session in the same step. Sessions without calls, and damaged ones, are not
// recorded. A note lasts 30 days, in a store without Tombs only unless many
// thousands of other sessions end. Decision 14 says why.
func Bury(ctx context.Context, s Store, session string) error {
	last, err := lastCalls(ctx, s, session)
	if err != nil {
		return err
	}
	if t := tombsOf(s); t != nil {
		if c, ok := s.(*PinCache); ok {
			defer c.forget(session, nil)
		}
		return t.Bury(ctx, session, last)
	}
	if len(last) == 0 {
		return nil
	}
	in, _ := buriedIn(core.SessionKey{Session: session})
	_, err = Update(ctx, s, in, func(rec *state.Record) (*state.Record, error) {
		next := rec.Clone()
		next.Closed = merged(next.Closed, last)
		next.Closed = next.Closed[max(0, len(next.Closed)-maxBuried):]
		return next, nil
	})
	if err != nil {
		return fmt.Errorf("note that session %q ends: %w", session, err)
	}
	return nil
}

// merged returns the notes that still count, with those of the same agents
// replaced by last.
func merged(notes, last []state.Closed) []state.Closed {
	notes = slices.DeleteFunc(notes, func(c state.Closed) bool {
		return isOver(c) || slices.ContainsFunc(last, func(now state.Closed) bool { return now.Agent == c.Agent })
	})
	return append(notes, last...)
}

// Buried returns the highest number that the agent has given to a call in ended
// sessions of that id, 0 if none is known.
func Buried(ctx context.Context, s Store, key core.SessionKey) (calls int, err error) {
	if t := tombsOf(s); t != nil {
		return t.Buried(ctx, key)
	}
	return buriedInRecord(ctx, s, key)
}

func buriedInRecord(ctx context.Context, s Store, key core.SessionKey) (calls int, err error) {
	in, name := buriedIn(key)
	rec, err := s.Load(ctx, in)
	if err != nil {
		return 0, err
	}
	return callsOf(rec.Closed, name), nil
}

func callsOf(notes []state.Closed, name string) int {
	for _, c := range notes {
		if c.Agent == name && !isOver(c) {
			return c.Calls
		}
	}
	return 0
}

func isOver(c state.Closed) bool { return time.Since(time.Unix(c.At, 0)) > buriedAge }

// lastCalls returns the agents of a session that have made calls. For a damaged
// session, which is ended because it is damaged, it returns none.
func lastCalls(ctx context.Context, s Store, session string) (last []state.Closed, err error) {
	agents, err := s.Agents(ctx, session)
	for _, a := range agents {
		var rec *state.Record
		key := core.SessionKey{Session: session, Agent: a}
		if rec, err = s.Load(ctx, key); err != nil {
			break
		}
		if rec.Calls > 0 {
			last = append(last, NewClosed(key, rec.Calls))
		}
	}
	if errors.Is(err, ErrDamaged) {
		err = nil
	}
	return last, err
}
