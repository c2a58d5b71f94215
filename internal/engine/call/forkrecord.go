package call

import (
	"context"
	"encoding/json"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// BeginForks notes in the record that skills are about to run as agents of their own. isBegun is
// false if the call has begun or ended before. entry is the entry of the call in the record.
func (s *callRecord) BeginForks(ctx context.Context, skills []namedSkill) (isBegun bool, entry state.Pending, err error) {
	entered, known := s.isOnly(), false
	_, err = s.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		isBegun = false
		if entry, err = s.findPending(rec); err != nil { // another process goes on with the turn
			entry, err = state.Pending{Begun: true}, nil
			return nil, "", nil
		}
		if before, ran := state.FindOnceCall(rec, s.Call); ran && !entry.Begun && !entry.Done {
			entry = before
		}
		if entry.Begun || entry.Done {
			return nil, "", nil
		}
		isBegun = true
		isNew := entry.Fork == 0
		if known = entry.Call != 0; !known {
			entry = state.Pending{Call: rec.Calls + 1, From: state.ShortenCall(s.Call)}
		}
		if entry.Begun = true; isNew {
			entry.Fork = rec.Forks + 1
		}
		next := state.WithAnswer(rec, rec.Clone(), entry)
		if !known {
			next = state.WithFirstAnswer(rec, nil, entry, entered)
		}
		if isNew {
			for i, skill := range skills {
				next.AddFork(state.Forked{Skill: skill.skill.Name, N: entry.Fork + i, Call: entry.Call})
			}
		}
		return next, "", nil
	})
	if err == nil && isBegun && entered && !known {
		s.Place.SetNumber(entry.Call)
	}
	return isBegun, entry, err
}

// EndLostForks notes that a call was answered although it is not known how its forks have ended. The
// same call in a later response then runs them.
func (s *callRecord) EndLostForks(ctx context.Context, entry state.Pending) error {
	if entry.Call == 0 {
		return nil
	}
	entry.Done, entry.Answer, entry.Text = true, forkUnknownEnd, ""
	_, err := s.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		return state.WithAnswer(rec, nil, entry), "", nil
	})
	return err
}

// withForkAnswer returns next with the answer of a call whose forks have ended. It pins an answer that
// is too long for the record.
func (n *Number) withForkAnswer(ctx context.Context, rec, next *state.Record) (*state.Record, error) {
	if answer := n.pending.Answer; len(answer) > maxKeptAnswer {
		pinned := catalog.Content{Text: answer, Digest: session.Digest(answer)}
		if err := n.call.Stores.Pin(ctx, n.call.Key, pinned); err != nil {
			return nil, err
		}
		n.pending.Answer, n.pending.Text = "", pinned.Digest
	}
	if next == nil || next == rec {
		next = rec.Clone()
	}
	next.EndForks(n.pending.Call)
	return state.WithAnswer(rec, next, n.pending), nil
}

// pausedForks returns what the call has kept of its forks when one of them was interrupted.
func (s *callRecord) pausedForks(ctx context.Context, entry state.Pending) pausedForks {
	var p pausedForks
	if entry.Text != "" {
		if text, err := s.Stores.Of(s.Key).Pinned(ctx, s.Key.Session, entry.Text); err == nil {
			_ = json.Unmarshal([]byte(text), &p) // a lost text is as none: the skills run again
		}
	}
	if p.Done == nil {
		p.Done = forked{}
	}
	return p
}

// PauseForks notes that a fork was interrupted, so that the call runs it again when it is repeated.
func (s *callRecord) PauseForks(ctx context.Context, entry state.Pending, p pausedForks) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	entry.Begun, entry.Text = false, session.Digest(string(text))
	if err := s.Stores.Pin(ctx, s.Key, catalog.Content{Text: string(text), Digest: entry.Text}); err != nil {
		return err
	}
	_, err = s.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		return state.WithAnswer(rec, rec.Clone(), entry), "", nil
	})
	return err
}
