package call

import (
	"context"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/tools"
)

// Scope is what operations of one agent may use of the runtime: within a call, or where a
// turn begins.
type Scope struct {
	skilltools.Scope
	*Calls
	key   core.SessionKey
	agent *state.Agent
	// call is zero where a turn begins. Then saving is nil too, and each step gets the record.
	// awaits says that the call sees the changes of earlier calls of its response.
	call   core.ToolCall
	saving *Saving
	awaits bool
	// Once notes that the command of the call starts; nil notes nothing.
	Once *Once
}

var (
	_ tools.State  = (*Scope)(nil)
	_ tools.View   = (*Scope)(nil)
	_ tools.Files  = (*Scope)(nil)
	_ tools.Events = (*Scope)(nil)
)

// TurnStart returns what operations of one agent may use where a turn begins.
func (cs *Calls) TurnStart(key core.SessionKey, agent *state.Agent) *Scope {
	s := &Scope{Calls: cs, key: key, agent: agent}
	s.Scope = skilltools.Scope{State: s, View: s, Files: s, Events: s, Rules: cs.Rules}
	return s
}

// inCall returns what the operation of a call may use. awaits says that it sees what earlier
// calls of its response have changed.
func (cs *Calls) inCall(agent *state.Agent, saving *Saving, awaits bool) *Scope {
	s := cs.TurnStart(saving.Key, agent)
	s.call, s.saving, s.awaits = saving.Call, saving, awaits
	return s
}

// Key implements [skilltools.State].
func (s *Scope) Key() core.SessionKey { return s.key }

// Number returns 0: the number comes with the answer, see [Number.Scope].
func (s *Scope) Number() int { return 0 }

// Record implements [skilltools.State].
func (s *Scope) Record(ctx context.Context) (*state.Record, error) {
	if s.saving == nil {
		return s.Stores.Load(ctx, s.key)
	}
	rec, err := s.saving.Load(ctx)
	if err != nil || !s.awaits {
		return rec, err
	}
	return s.saving.Place.Sees(rec), nil
}

// Update implements [skilltools.State].
func (s *Scope) Update(ctx context.Context, change skilltools.Change) (answer string, err error) {
	return s.saving.Update(ctx, change)
}

// Begin implements [skilltools.State].
func (s *Scope) Begin(ctx context.Context) error {
	if s.Once == nil {
		return nil
	}
	return s.Once.Begin(ctx)
}

// Catalog implements [skilltools.View].
func (s *Scope) Catalog() *catalog.Catalog { return s.Audiences.SeenBy(s.agent) }

// IsHidden implements [skilltools.View].
func (s *Scope) IsHidden(d *state.Delivery) bool { return s.agent.IsHidden(d) }

// ReadTokens implements [skilltools.View].
func (s *Scope) ReadTokens() (all, inTurn int) { return s.agent.ReadTokens() }

// AddRead implements [skilltools.View].
func (s *Scope) AddRead(tokens, room int) (all, inTurn int, fits bool) {
	return s.agent.AddRead(s.call.ID, tokens, room)
}

// Entry implements [skilltools.View].
func (s *Scope) Entry(skill core.Skill) string { return s.Offer.Text.Entry(skill) }

// Restricted implements [skilltools.View].
func (s *Scope) Restricted(rec *state.Record) string {
	return s.Bounds.Restricted(s.agent, rec)
}

// Pin implements [skilltools.Files].
func (s *Scope) Pin(ctx context.Context, c catalog.Content) error {
	return s.Stores.Pin(ctx, s.key, c)
}

// TextSize implements [skilltools.Files].
func (s *Scope) TextSize(ctx context.Context, digest string) (int, error) {
	return s.Stores.Size(ctx, s.key, digest)
}

// Attached implements [skilltools.Files].
func (s *Scope) Attached() []core.File { return s.agent.Attached() }

// Runs implements [skilltools.Files].
func (s *Scope) Runs() bool { return s.Offer.Runner != nil }

// Workspace implements [skilltools.Files].
func (s *Scope) Workspace(ctx context.Context) (string, error) {
	return s.Offer.Runner.WorkspaceAt(ctx, s.key.Session)
}

// ReadRef implements [skilltools.Files].
func (s *Scope) ReadRef(ctx context.Context, ref string) ([]byte, error) {
	return s.Offer.Runner.ReadRef(ctx, s.Public(), ref)
}

// Sessions implements [skilltools.Files].
func (s *Scope) Sessions() *terminal.Table { return s.Terminals }

// Run implements [skilltools.Files].
func (s *Scope) Run(ctx context.Context, arguments string) (string, error) {
	run := s.Offer.Command
	return run.Call(ctx, s.Public(), run.Decode(arguments))
}

// Emit implements [skilltools.Events].
func (s *Scope) Emit(ctx context.Context, e core.Event) {
	e.Key, e.Call = s.key, s.call
	s.Report.Emit(ctx, e)
}

// Found implements [skilltools.Events].
func (s *Scope) Found(names []string) { s.agent.Found(names) }
