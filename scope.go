package satchel

import (
	"context"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/agentstate"
	"github.com/satchel-go/satchel/tools"
)

// scope returns what operations of one agent may use: its catalog, files, sessions
// and events.
func (r *Runtime) scope(key core.SessionKey, state *agentstate.State) *tools.Scope {
	s := &tools.Scope{
		Key: key, Catalog: r.audiences.SeenBy(state), Mode: r.loading.Mode, Max: r.loading.Max, Victim: r.loading.Victim, Limits: r.limits,
		Budget:     r.budget,
		TextSize:   func(ctx context.Context, digest string) (int, error) { return r.stores.Size(ctx, key, digest) },
		Sessions:   r.terminals,
		Library:    r.offer.Library,
		Files:      state.Attached,
		Hidden:     state.IsHidden,
		Restricted: r.bounds.Restricted(state),
		Entry:      r.offer.Text.Entry,
		Found:      state.Found,
		References: r.overview.References,
		Pin:        func(ctx context.Context, c catalog.Content) error { return r.stores.Pin(ctx, key, c) },
		Emit: func(ctx context.Context, e core.Event) {
			e.Key = key
			r.tell.Emit(ctx, e)
		},
	}
	if r.offer.Vocabulary != nil {
		s.Loads, s.Evicts = r.offer.Vocabulary.Loads(), r.offer.Vocabulary.Evicts
	}
	if r.offer.Runner != nil {
		s.ReadRef = func(ctx context.Context, ref string) ([]byte, error) { return r.offer.Runner.ReadRef(ctx, s, ref) }
		s.WorkspaceAt = func(ctx context.Context) (string, error) { return r.offer.Runner.WorkspaceAt(ctx, key.Session) }
	}
	return s
}
