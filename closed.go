package satchel

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// A transcript tells what was loaded, and a record that was lost is rebuilt from
// it. A session that was ended must not come back in this way, in no process, so
// the store keeps for a while which sessions ended after which call: some in each
// of 256 records, so that many sessions may end at one time.
const (
	closedSession = "satchel:closed"
	maxClosed     = 64
	closedAge     = 30 * 24 * time.Hour
)

// closedKey returns the record that may tell that a session ended, and the name of
// an agent of the session in it.
func closedKey(key core.SessionKey) (in core.SessionKey, name string) {
	session, agent := session.Digest(key.Session), session.Digest(key.Agent)
	return core.SessionKey{Session: closedSession, Agent: session[:2]}, session[:16] + agent[:16]
}

// noteEnd notes the highest number that each agent has given to a call in a
// session that is about to end. Nobody can send the messages of an anonymous
// session again.
func (r *Runtime) noteEnd(ctx context.Context, id string) error {
	if isAnonymous(id) {
		return nil
	}
	closed, err := r.lastCalls(ctx, id)
	if len(closed) == 0 || err != nil {
		return err
	}
	in, _ := closedKey(core.SessionKey{Session: id})
	_, err = session.Update(ctx, r.store, in, func(rec *session.Record) (*session.Record, error) {
		next := rec.Clone()
		next.Closed = slices.DeleteFunc(next.Closed, func(c session.Closed) bool {
			return tooOld(c) || slices.ContainsFunc(closed, func(now session.Closed) bool { return now.Agent == c.Agent })
		})
		next.Closed = append(next.Closed, closed...)
		next.Closed = next.Closed[max(0, len(next.Closed)-maxClosed):]
		return next, nil
	})
	return err
}

func tooOld(c session.Closed) bool { return time.Since(time.Unix(c.At, 0)) > closedAge }

// lastCalls returns the agents of a session that have made calls. A session that
// is damaged is ended to be rid of it: there is nothing to know.
func (r *Runtime) lastCalls(ctx context.Context, id string) (last []session.Closed, err error) {
	agents, err := r.store.Agents(ctx, id)
	for _, a := range agents {
		var rec *session.Record
		key := core.SessionKey{Session: id, Agent: a}
		if rec, err = r.store.Load(ctx, key); err != nil {
			break
		}
		if _, name := closedKey(key); rec.Calls > 0 {
			last = append(last, session.Closed{Agent: name, Calls: rec.Calls, At: time.Now().Unix()})
		}
	}
	if errors.Is(err, session.ErrDamaged) {
		err = nil
	}
	return last, err
}

// closedAfter returns the highest number that an agent has given to a call in
// sessions of that id which ended, 0 where none is known.
func (r *Runtime) closedAfter(ctx context.Context, key core.SessionKey) (int, error) {
	if isAnonymous(key.Session) {
		return 0, nil
	}
	in, name := closedKey(key)
	rec, err := r.store.Load(ctx, in)
	if err != nil {
		return 0, err
	}
	for _, c := range rec.Closed {
		if c.Agent == name && !tooOld(c) {
			return c.Calls, nil
		}
	}
	return 0, nil
}
