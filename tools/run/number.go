package run

import (
	"context"

	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/terminal"
)

// given returns the highest number that was given to a session command of this
// agent, on any machine.
func given(ctx context.Context, s *skilltools.Scope) (int, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return 0, err
	}
	return rec.Terminals, nil
}

// number saves the number of a session that is about to start, so that no other
// machine gives it to another command. If one has done so meanwhile, number opens
// the session again under the next number. After an error the session is
// abandoned.
func number(ctx context.Context, s *skilltools.Scope, live *terminal.Session) (*terminal.Session, error) {
	for {
		after := 0
		_, err := s.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
			if after = rec.Terminals; after >= live.Number() {
				return nil, "", nil
			}
			next := rec.Clone()
			next.Terminals = live.Number()
			return next, "", nil
		})
		if err == nil && after < live.Number() {
			return live, nil
		}
		live.Abandon()
		if err != nil {
			return nil, err
		}
		if live, err = s.Sessions().Open(s.Key(), after); err != nil {
			return nil, err
		}
	}
}
