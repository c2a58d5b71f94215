package satchel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// ErrAudience reports an audience without a key.
var ErrAudience = errors.New("an audience that allows not all skills needs a key")

// askAudience asks for the audience of an agent, and keeps its catalog.
func (r *Runtime) askAudience(ctx context.Context, key core.SessionKey, state *agentState) (*catalog.Catalog, error) {
	if r.audience == nil {
		return r.catalog, nil
	}
	a := r.audience(ctx, key)
	skills := r.catalog
	switch {
	case a.Allow != nil && a.Key == "":
		return nil, fmt.Errorf("session %q: %w", key.Session, ErrAudience)
	case a.Allow != nil:
		skills = r.catalog.For(a.Key, a.Allow)
	}
	state.see(skills)
	return skills, nil
}

// knowAudience asks for the audience of an agent where this process has not yet.
func (r *Runtime) knowAudience(ctx context.Context, key core.SessionKey, state *agentState) error {
	if state.skills() != nil {
		return nil
	}
	_, err := r.askAudience(ctx, key, state)
	return err
}

// seenBy is the catalog that an agent sees whose audience is known.
func (r *Runtime) seenBy(state *agentState) *catalog.Catalog {
	if seen := state.skills(); seen != nil || r.audience == nil {
		return seenOr(seen, r.catalog)
	}
	return r.catalog.For("", func(core.Skill) bool { return false })
}

func seenOr(seen, all *catalog.Catalog) *catalog.Catalog {
	if seen != nil {
		return seen
	}
	return all
}

// withdraw takes from a record what its agent may not see any more, and returns the
// names.
func (r *Runtime) withdraw(rec *session.Record, skills *catalog.Catalog) []string {
	if r.audience == nil {
		return nil
	}
	all, seen := r.catalog.Snapshot(), skills.Snapshot()
	withdrawn := func(name, id string) bool {
		if id == "" {
			skill, err := all.Resolve(name)
			if err != nil {
				return false // deleted: what was loaded of it stays
			}
			id = skill.ID
		}
		if _, known := all.Skill(id); !known {
			return false
		}
		_, sees := seen.Skill(id)
		return !sees
	}
	var gone []string
	for _, a := range slices.Clone(rec.Active) {
		if withdrawn(a.Skill, a.ID) {
			rec.Unload(a.Skill)
			gone = append(gone, a.Skill)
		}
	}
	ended := len(rec.Deliveries)
	rec.Deliveries = slices.DeleteFunc(rec.Deliveries, func(d session.Delivery) bool {
		out := rec.Find(d.Skill) == nil && withdrawn(d.Skill, "")
		if out && !slices.Contains(gone, d.Skill) {
			gone = append(gone, d.Skill)
		}
		return out
	})
	if len(rec.Deliveries) < ended {
		rec.Break()
	}
	return gone
}

// takesBack reports whether a listing that the session was told names a skill that it
// may not see any more.
func (r *Runtime) takesBack(listing string, skills *catalog.Catalog) bool {
	if r.audience == nil {
		return false
	}
	all, seen := r.catalog.Snapshot(), skills.Snapshot()
	for line := range strings.Lines(listing) {
		_, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if skill, ok := all.Skill(name); ok {
			if _, sees := seen.Skill(skill.ID); !sees {
				return true
			}
		}
	}
	return false
}

// unstager is a workspace that can give back the files of a skill.
type unstager interface {
	Unstage(ctx context.Context, skill string) error
}

// unstage removes the staged files of skills that a session may not see any more.
func (r *Runtime) unstage(ctx context.Context, key core.SessionKey, names []string) error {
	if r.runner == nil || len(names) == 0 {
		return nil
	}
	ws, err := r.runner.Workspaces.Of(ctx, key.Session)
	if err != nil {
		return err
	}
	defer ws.Release()
	u, ok := ws.(unstager)
	if !ok {
		return nil
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, u.Unstage(ctx, name))
	}
	return errors.Join(errs...)
}
