package view

import (
	"context"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
)

// Audiences finds the part of a catalog that an agent sees.
type Audiences struct {
	Catalog *catalog.Catalog
	// Of says who sees which skills; a nil allow allows all. Where Of is nil everybody
	// sees all.
	Of func(ctx context.Context, key core.SessionKey) (audience string, allow func(core.Skill) bool, err error)
}

// Ask asks for the audience of an agent, and keeps its catalog.
func (a *Audiences) Ask(ctx context.Context, key core.SessionKey, state *State) (*catalog.Catalog, error) {
	if a.Of == nil {
		return a.Catalog, nil
	}
	audience, allow, err := a.Of(ctx, key)
	if err != nil {
		return nil, err
	}
	skills := a.Catalog
	if allow != nil {
		skills = a.Catalog.For(audience, allow)
	}
	state.see(skills)
	return skills, nil
}

// Know asks for the audience of an agent where this process has not yet.
func (a *Audiences) Know(ctx context.Context, key core.SessionKey, state *State) error {
	if state.skills() != nil {
		return nil
	}
	_, err := a.Ask(ctx, key, state)
	return err
}

// SeenBy is the catalog that an agent sees: nothing while its audience is not known.
func (a *Audiences) SeenBy(state *State) *catalog.Catalog {
	if a.Of != nil && state.skills() == nil {
		return a.Catalog.For("", func(core.Skill) bool { return false })
	}
	return a.KnownOf(state)
}

// KnownOf is SeenBy, but all while the audience of the agent is not known.
func (a *Audiences) KnownOf(state *State) *catalog.Catalog {
	if seen := state.skills(); seen != nil {
		return seen
	}
	return a.Catalog
}
