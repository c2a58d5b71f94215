package satchel

import (
	"context"
	"errors"
	"fmt"
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
	Docs    []string // in selection order
	AllDocs bool     // every doc was asked for
}

// Loaded lists the skills that are loaded now in the session of ctx, in the order in
// which they were loaded. Inside an agent it lists those of that agent, and elsewhere
// those of every agent of the session, by the agents' names. The error wraps
// ErrNoSession where ctx has no session.
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

// Clear unloads every skill that [Runtime.Loaded] would list, drops the texts, and kills the
// commands of those agents that still run. It deletes the workspace too, unless another agent
// of the session has a skill loaded or a command running.
//
// The session itself goes on: it keeps its overview, its turn, the lists of allowed tools that
// hold in it, and its approvals. A load that is made at the same time may be lost.
func (r *Runtime) Clear(ctx context.Context) error {
	keys, err := r.keys(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := r.calls.Stores.Clear(ctx, key); err != nil {
			return err
		}
	}
	own, inAgent := KeyFrom(ctx)
	if !inAgent {
		own, _ = adapter.SessionOf(ctx, "")
	}
	cleared := func(key core.SessionKey) bool { return key == own || !inAgent && key.Session == own.Session }
	if r.calls.Terminals != nil {
		r.calls.Terminals.End(cleared)
	}
	loaded, err := r.calls.Stores.Release(ctx, own, cleared)
	if r.calls.Offer.Runner == nil || loaded || r.calls.Terminals.Any(func(key core.SessionKey) bool { return key.Session == own.Session && !cleared(key) }) {
		return err
	}
	return errors.Join(err, r.endWorkspace(ctx, own.Session))
}

// EndSession drops all state of a session: it kills the commands that still run and
// removes what the agents have loaded and pinned, the overview and the workspace.
// Artifacts stay: they are what the session was for. Ending an unknown session is not
// an error.
//
// A later call under the same id begins a new session. Messages of the old one load
// nothing in it, because the store notes that the session has ended, for 30 days or
// until many thousands of others have ended. Where the note cannot be saved, as on a
// full disk, nothing is ended, and the error says so: try again later.
func (r *Runtime) EndSession(ctx context.Context, id string) error {
	return r.endSession(ctx, core.SessionKey{Session: id})
}

// endSession ends a session, and reports the loads that end with it where somebody wants
// to know.
func (r *Runtime) endSession(ctx context.Context, key core.SessionKey) error {
	if err := admit(key); err != nil {
		return err
	}
	var endings []core.Event
	if r.events != nil {
		endings = r.calls.Stores.Endings(ctx, key, r.loading.Mode)
	}
	id := key.Session
	var err error
	if key.Anonymous {
		err = r.calls.Stores.Of(key).End(ctx, id)
	} else if err := r.calls.Stores.Of(key).MarkEnded(ctx, id); err != nil {
		return err // which names the session
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

func (r *Runtime) endWorkspace(ctx context.Context, id string) error {
	began := time.Now()
	err := r.calls.Offer.Runner.Workspaces.End(id)
	r.calls.Report.Emit(ctx, core.Event{Kind: core.WorkspaceCleanup, Key: core.SessionKey{Session: id}, Duration: time.Since(began)})
	return err
}

// keys returns the key of the agent that ctx runs in, or else of every agent in the
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
	return r.calls.Stores.Kept.Sessions(ctx)
}

// EndSessionsBefore ends, as [Runtime.EndSession] does, the sessions whose state has
// not changed since a time, and returns how many. A session in which somebody only
// talks changes with each user turn. It goes on after a session that cannot be ended.
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

// Compact replaces the text of a skill that is in view by its outline when the next user turn
// begins. This breaks the prompt's prefix once, as an unload would. [steps.Outline] says what
// an outline has; with Loading.Summarize a summary takes its place. Loading the skill again
// brings all of it. Inside an agent only the agent's view changes; elsewhere that of every
// agent of the session of ctx. A skill that is not in view is ignored. The error wraps
// ErrNoSession if ctx has no session. It wraps catalog.ErrUnknownSkill if neither the catalog
// nor a view has the skill.
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
		inView, err := r.turns.Requests.Shortener.Later(ctx, key, skill, found.ID)
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
// Names are escaped as segments of a URL path. What is not loaded or not selected has no key.
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

// ImportKeys saves that key.Agent has loaded the skills that state keys name, before the first
// request of a session that is moved over. The agent's first turn brings them into view. The
// error wraps session.ErrConflict if the agent has stored something already. Without skills
// nothing is saved. More than 10,000 skills are an error.
//
// ImportKeys reads the keys that [Runtime.ExportKeys] returns, also with names that were not
// escaped. It reads the older keys without an agent too (temp:skill:loaded:<skill>): pass
// those for one agent only. A key with an agent wins over one without, and an empty value
// means that the key was cleared. An invalid value means no selection or no order.
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
