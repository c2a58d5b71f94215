package session_test

import (
	"context"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// contested is a store in which the first saves meet a conflict, and whose queue gives
// a place only when it is asked for the second time.
type contested struct {
	*session.Memory
	conflicts, asked, left int
}

func (c *contested) Save(ctx context.Context, rec *state.Record) (*state.Record, error) {
	if c.conflicts--; c.conflicts >= 0 {
		return nil, session.ErrConflict
	}
	return c.Memory.Save(ctx, rec)
}

func (c *contested) Queue(context.Context, core.SessionKey) func() {
	if c.asked++; c.asked == 1 {
		return nil
	}
	return func() { c.left++ }
}

// Who has waited in vain waits again after the next conflict, else many writers of one
// record would go on disturbing each other.
func TestUpdateQueuesUntilItHasAPlace(t *testing.T) {
	s := &contested{Memory: session.NewMemory(), conflicts: 4}
	if _, err := session.Update(t.Context(), s, core.SessionKey{Session: "s"}, func(r *state.Record) (*state.Record, error) {
		return r.Clone(), nil
	}); err != nil {
		t.Fatal(err)
	}
	if s.asked != 2 || s.left != 1 {
		t.Errorf("the queue was asked %d times and left %d times", s.asked, s.left)
	}
}
