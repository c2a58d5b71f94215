package satchel

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
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
