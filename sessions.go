package satchel

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/skillmd"
	"github.com/satchel-go/satchel/workspace"
)

// anonymousPrefix begins the ids of sessions that no host named.
const anonymousPrefix = "\x00run-"

func isAnonymous(id string) bool { return strings.HasPrefix(id, anonymousPrefix) }

// Anonymous opens a session that only its holder knows, for one run of a host
// that named none. It is kept in memory, never in the host's store. End it with
// [Runtime.EndSession].
func (r *Runtime) Anonymous(agent string) core.SessionKey {
	id := anonymousPrefix + strconv.FormatInt(r.runs.Add(1), 10)
	return core.SessionKey{Session: id, Agent: agent}
}

// Loaded is a skill that an agent has loaded.
type Loaded struct {
	Agent   string
	Skill   string
	Digest  string   // hex SHA-256 of the body that was delivered
	Docs    []string // in selection order
	AllDocs bool     // every doc was asked for
}

// Loaded lists what is loaded now in the session of ctx: by the agent that ctx
// runs in, or by each agent of the session in the order of their names. Skills
// are in load order. The error wraps ErrNoSession where ctx has no session.
func (r *Runtime) Loaded(ctx context.Context) ([]Loaded, error) {
	keys, err := r.keys(ctx)
	if err != nil {
		return nil, err
	}
	var all []Loaded
	for _, key := range keys {
		rec, err := r.storeOf(key).Load(ctx, key)
		if err != nil {
			return nil, err
		}
		for _, a := range rec.Active {
			all = append(all, Loaded{key.Agent, a.Skill, a.Digest, slices.Clone(a.Docs), a.All})
		}
	}
	return all, nil
}

// Clear drops what the agents that [Runtime.Loaded] would list have in the session
// of ctx: what they have loaded, with its texts, and their commands that go on. The
// workspace goes too, unless another agent of the session has something loaded or a
// command that goes on. The session itself goes on: it keeps its overview, its
// turn, the lists of allowed tools that hold in it, and its approvals. A load that
// is made at the same time may have to be made again.
func (r *Runtime) Clear(ctx context.Context) error {
	keys, err := r.keys(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		_, err := session.Update(ctx, r.storeOf(key), key, func(rec *session.Record) (*session.Record, error) {
			if len(rec.Active) == 0 && len(rec.Deliveries) == 0 {
				return nil, nil
			}
			next := rec.Clone()
			next.Active, next.Deliveries = nil, nil
			return next, nil
		})
		if err != nil {
			return err
		}
	}
	own, inAgent := KeyFrom(ctx)
	id, _ := SessionID(ctx)
	if inAgent {
		id = own.Session
	}
	cleared := func(key core.SessionKey) bool { return key == own || !inAgent && key.Session == id }
	if r.terminals != nil {
		r.terminals.End(cleared)
	}
	return r.release(ctx, id, cleared)
}

// release lets go of what no agent of a session needs after some were cleared.
func (r *Runtime) release(ctx context.Context, id string, cleared func(core.SessionKey) bool) error {
	store := r.storeOf(core.SessionKey{Session: id})
	agents, err := store.Agents(ctx, id)
	if err != nil {
		return err
	}
	var pins []string
	working := false
	for _, a := range agents {
		key := core.SessionKey{Session: id, Agent: a}
		rec, err := store.Load(ctx, key)
		if err != nil {
			return err
		}
		pins = append(pins, rec.Pins()...)
		working = working || len(rec.Active) > 0 && !cleared(key)
	}
	err = store.Unpin(ctx, id, pins)
	if r.runner == nil || working || r.terminals.Any(func(key core.SessionKey) bool { return key.Session == id && !cleared(key) }) {
		return err
	}
	return errors.Join(err, r.endWorkspace(ctx, id))
}

// EndSession drops all state of a session: what its agents have loaded, what
// they pinned, its overview and its workspace, after it has killed the commands
// that go on. Artifacts stay: they are what the session was for. A later call
// under the same id begins a new session, into which the messages of the old one
// bring nothing back: that the session has ended is known for 30 days, as long as
// not many thousands of others end. Ending an unknown session is not an error.
func (r *Runtime) EndSession(ctx context.Context, id string) error {
	err := errors.Join(r.noteEnd(ctx, id), r.storeOf(core.SessionKey{Session: id}).End(ctx, id))
	r.live.end(id)
	if r.runner != nil {
		r.terminals.EndSession(id)
		err = errors.Join(err, r.endWorkspace(ctx, id))
	}
	return err
}

func (r *Runtime) endWorkspace(ctx context.Context, id string) error {
	began := time.Now()
	err := r.runner.Workspaces.End(id)
	r.Emit(ctx, core.Event{Kind: core.WorkspaceCleanup, Key: core.SessionKey{Session: id}, Duration: time.Since(began)})
	return err
}

// swept reports a workspace that nobody had used for long.
func (r *Runtime) swept(s workspace.Swept) {
	detail := "idle"
	if s.Err != nil {
		detail += ": " + s.Err.Error()
	}
	r.Emit(context.Background(), core.Event{Kind: core.WorkspaceCleanup, Key: core.SessionKey{Session: s.Session}, Duration: s.Took, Detail: detail})
}

// Diagnostics are the problems of the skills as they are now, by file.
func (r *Runtime) Diagnostics() []skillmd.Diagnostic {
	return r.catalog.Snapshot().Diagnostics()
}

// keys are the records that ctx speaks of.
func (r *Runtime) keys(ctx context.Context) ([]core.SessionKey, error) {
	if key, ok := KeyFrom(ctx); ok {
		return []core.SessionKey{key}, nil
	}
	id, ok := SessionID(ctx)
	if !ok {
		return nil, ErrNoSession
	}
	agents, err := r.store.Agents(ctx, id)
	if err != nil {
		return nil, err
	}
	var keys []core.SessionKey
	for _, a := range agents {
		keys = append(keys, core.SessionKey{Session: id, Agent: a})
	}
	return keys, nil
}
