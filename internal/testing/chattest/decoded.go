package chattest

import (
	"bytes"
	"context"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// Decoded is a store whose values look as if another process had written them. So the runtime
// decodes each record again instead of using its cache.
type Decoded struct{ session.Store }

// Load implements session.Store.
func (s Decoded) Load(ctx context.Context, key core.SessionKey) (session.Value, error) {
	v, err := s.Store.Load(ctx, key)
	v.Data = append(bytes.Clone(v.Data), " "...) // JSON ignores the trailing blank
	return v, err
}

// Save implements session.Store.
func (s Decoded) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	v, err := s.Store.Save(ctx, key, v)
	return session.Value{Version: v.Version}, err
}

// RecordOf returns the record of an agent in a store.
func RecordOf(t testing.TB, s session.Store, key core.SessionKey) *state.Record {
	t.Helper()
	rec, err := state.NewRecords(s).Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}
