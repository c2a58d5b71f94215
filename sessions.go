package satchel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// Loaded is a skill that an agent has loaded.
type Loaded struct {
	Agent   string
	Skill   string
	Digest  string   // hex SHA-256 of the body that was delivered
	Docs    []string // in selection order; a section is "forms.md#fill-in"
	AllDocs bool     // every doc was asked for
}

// Loaded lists the skills that are loaded now in the session of ctx, in the order in which they
// were loaded. If ctx belongs to an agent, it lists those of that agent. Otherwise it lists
// those of all agents of the session, sorted by agent. The error wraps ErrNoSession if ctx has
// no session.
func (r *Runtime) Loaded(ctx context.Context) ([]Loaded, error) {
	keys, err := r.keys(ctx)
	if err != nil {
		return nil, err
	}
	var all []Loaded
	for _, key := range keys {
		rec, err := r.calls.Stores.Load(ctx, key)
		if err != nil {
			return nil, err
		}
		for _, a := range rec.Active {
			all = append(all, Loaded{key.Agent, a.Skill, a.Digest, slices.Clone(a.Docs), a.All})
		}
	}
	return all, nil
}

// Unmet returns the skills that Overview.Needs hides from the agent of ctx, by canonical id, with what
// each lacks: "program ffmpeg; variable API_KEY". If ctx belongs to no agent, it returns those that
// are hidden from every agent of the session. Before the first request of a session, these are the
// skills that it would hide now. The error wraps ErrNoSession if ctx has no session.
func (r *Runtime) Unmet(ctx context.Context) (map[string]string, error) {
	keys, err := r.keys(ctx)
	if err != nil || r.calls.Hiding == nil {
		return nil, err
	}
	if len(keys) == 0 {
		return r.calls.Hiding.Why(ctx, &state.Record{}, r.catalog)
	}
	var all map[string]string
	for i, key := range keys {
		rec, err := r.calls.Stores.Load(ctx, key)
		if err != nil {
			return nil, err
		}
		why, err := r.calls.Hiding.Why(ctx, rec, r.catalog)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all = why
		}
		maps.DeleteFunc(all, func(id, _ string) bool { return why[id] == "" })
	}
	return all, nil
}

// Clear unloads every skill that [Runtime.Loaded] would list, and removes their texts from
// view. It kills the running commands of the same agents. It also deletes the workspace, unless
// another agent of the session has a skill loaded or a command running.
//
// The session itself continues: it keeps its overview, its turn, the allowed-tools lists that
// hold in it, and its approvals. A load that runs at the same time may be lost.
func (r *Runtime) Clear(ctx context.Context) error {
	keys, err := r.keys(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		events, err := r.calls.Stores.Clear(ctx, key)
		if err != nil {
			return err
		}
		r.calls.Report.EmitAll(ctx, key, events)
	}
	own, inAgent := KeyFrom(ctx)
	if !inAgent {
		own, _ = adapter.SessionOf(ctx, "")
	}
	isCleared := func(key core.SessionKey) bool { return key == own || !inAgent && key.Session == own.Session }
	isOther := func(key core.SessionKey) bool { return key.Session == own.Session && !isCleared(key) }
	if r.calls.Terminals != nil {
		r.calls.Terminals.End(isCleared)
	}
	othersLoad, err := r.calls.Stores.Release(ctx, own, isCleared)
	if r.calls.Offer.Runner == nil || othersLoad || r.calls.Terminals.HasLive(isOther) {
		return err
	}
	return errors.Join(err, r.endWorkspace(ctx, own.Session))
}

// EndSession removes all state of a session: it kills the commands that still run, and removes
// loads, pinned texts, the overview and the workspace. Artifacts stay. Ending an unknown
// session is not an error.
//
// A later call under the same id begins a new session. Messages of the old one load nothing in
// it, because the store keeps a tombstone for 30 days, or until many thousands of other
// sessions have ended. If the store cannot save the tombstone, for example on a full disk,
// EndSession changes nothing and returns an error; try again later.
func (r *Runtime) EndSession(ctx context.Context, id string) error {
	return r.endSession(ctx, core.SessionKey{Session: id})
}

// endSession ends a session. If the host uses WithEvents or WithTrace, it reports the loads that end with
// it.
func (r *Runtime) endSession(ctx context.Context, key core.SessionKey) error {
	if err := admit(key); err != nil {
		return err
	}
	r.calls.Stores.AwaitNumbers(ctx, key)
	var endings []core.Event
	if r.calls.Report.Hook != nil {
		endings = r.calls.Stores.EndEvents(ctx, key, r.loading.Mode)
	}
	id, records := key.Session, r.calls.Stores.Of(key)
	var err error
	if r.fork != nil {
		if err = r.calls.Stores.EndForks(ctx, key); err != nil {
			return err
		}
	}
	if key.Anonymous {
		err = records.End(ctx, id)
	} else if err = records.MarkEnded(ctx, id); err != nil {
		return err
	}
	for _, e := range endings {
		r.calls.Report.Emit(ctx, e)
	}
	r.calls.Agents.End(id)
	r.turns.Requests.End(id)
	if r.calls.Offer.Runner != nil {
		r.calls.Terminals.EndSession(id)
		err = errors.Join(err, r.endWorkspace(ctx, id))
	}
	return err
}

// endWorkspace deletes the workspace of a session, and reports that.
func (r *Runtime) endWorkspace(ctx context.Context, id string) error {
	began := time.Now()
	err := r.calls.Offer.Runner.Workspaces.End(id)
	r.calls.Report.Emit(ctx, core.Event{Kind: core.WorkspaceCleanup, Key: core.SessionKey{Session: id}, Duration: time.Since(began)})
	return err
}

// keys returns the key of the agent that ctx belongs to, or else the keys of all agents in the
// session of ctx.
func (r *Runtime) keys(ctx context.Context) ([]core.SessionKey, error) {
	if key, ok := KeyFrom(ctx); ok {
		return []core.SessionKey{key}, admit(key)
	}
	key, ok := adapter.SessionOf(ctx, "")
	if !ok {
		return nil, ErrNoSession
	}
	if err := admit(key); err != nil {
		return nil, err
	}
	return r.calls.Stores.Agents(ctx, key)
}

// Sessions lists the sessions of the store, sorted by id. The error wraps
// errors.ErrUnsupported if the store of [WithStore] is no session.Lister.
func (r *Runtime) Sessions(ctx context.Context) ([]session.Info, error) {
	return r.calls.Stores.Named.Sessions(ctx)
}

// EndSessionsBefore ends the sessions whose state has not changed since a time, as
// [Runtime.EndSession] does, and returns how many it ended. Each user turn changes the state of
// its session. If a session cannot be ended, EndSessionsBefore continues with the others and
// returns all errors joined.
func (r *Runtime) EndSessionsBefore(ctx context.Context, before time.Time) (ended int, err error) {
	all, err := r.Sessions(ctx)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, s := range all {
		if !s.Changed.Before(before) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return ended, errors.Join(append(errs, err)...)
		}
		if err := r.EndSession(ctx, s.ID); err != nil {
			errs = append(errs, err)
			continue
		}
		ended++
	}
	return ended, errors.Join(errs...)
}

// Compact replaces the text of a skill that is in view by a shorter one when the next user turn
// begins. This breaks the prompt's prefix once, as an unload would. The shorter text is the
// summary of Loading.Summarize, or an outline: the headings, the first sentence below each, and
// the lines with MUST, NEVER or the like. A later load of the skill brings the whole text.
//
// If ctx belongs to an agent, only that agent's view changes, otherwise that of every agent of
// the session. A skill that is not in view is ignored. The error wraps ErrNoSession if ctx has
// no session. It wraps catalog.ErrUnknownSkill if neither the catalog nor a view has the skill.
func (r *Runtime) Compact(ctx context.Context, skill string) error {
	keys, err := r.keys(ctx)
	if err != nil {
		return err
	}
	found, known := r.catalog.Snapshot().Skill(skill)
	if known {
		skill = found.Name
	}
	for _, key := range keys {
		inView, err := r.turns.Requests.Shortener.ShortenLater(ctx, key, skill, found.ID)
		if err != nil {
			return err
		}
		known = known || inView
	}
	if !known {
		return fmt.Errorf("compact: %w %q", catalog.ErrUnknownSkill, skill)
	}
	return nil
}

// ExportKeys returns the skills that an agent has loaded as the state keys of older
// frameworks, which keep strings in the state of a session:
//
//	temp:skill:loaded_by_agent:<agent>/<skill>  "1"
//	temp:skill:docs_by_agent:<agent>/<skill>    "*", or a JSON array of names
//	temp:skill:loaded_order_by_agent:<agent>    a JSON array of skills in load order
//
// Names are escaped as segments of a URL path. An unloaded skill and an empty selection have
// no key.
func (r *Runtime) ExportKeys(ctx context.Context, key core.SessionKey) (map[string]string, error) {
	if err := admit(key); err != nil {
		return nil, err
	}
	rec, err := r.calls.Stores.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	return state.WriteKeys(rec), nil
}

// ImportKeys records that key.Agent has loaded the skills that state keys name. The host calls
// it before the first request of a session that it moves to Satchel. The agent's first turn
// brings the skills into view. The error wraps session.ErrConflict if the store already has
// state of the agent. If keys name no skill, ImportKeys saves nothing. More than 10,000 skills
// are an error.
//
// ImportKeys reads the keys that [Runtime.ExportKeys] returns, also with names that are not
// escaped. It also reads the older keys without an agent (temp:skill:loaded:<skill>): pass
// those for one agent only. A key with an agent wins over one without. An empty value means
// that the key was cleared, an invalid one that there is no selection or no order.
func (r *Runtime) ImportKeys(ctx context.Context, key core.SessionKey, keys map[string]string) error {
	if err := admit(key); err != nil {
		return err
	}
	rec, err := state.ReadKeys(key, keys)
	if err != nil || len(rec.Active) == 0 {
		return err
	}
	_, err = r.calls.Stores.Of(key).Save(ctx, rec)
	return err
}
