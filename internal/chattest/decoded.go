package chattest

import (
	"context"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// Decoded is a store whose records come as if another process had written them.
type Decoded struct{ session.Store }

// Load implements session.Store.
func (s Decoded) Load(ctx context.Context, key core.SessionKey) (*state.Record, error) {
	rec, err := s.Store.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	data, err := state.Encode(rec)
	if err != nil {
		return nil, err
	}
	return state.Decode(data)
}
