package catalog

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/satchel-go/satchel/core"
)

// Keeper is a [Source] that still knows skills at revisions which it lists no more.
type Keeper interface {
	Source
	// Entry returns a skill as it was listed at a revision. One that is not kept is
	// ErrGone.
	Entry(ctx context.Context, id, revision string) (Entry, error)
}

// At returns the catalog with some skills at other revisions than those that it lists.
// They are named by their canonical ids, and count where the source of a skill is a
// [Keeper]. What is read of such a skill is of that revision; names and snapshots are
// those of the catalog.
func (c *Catalog) At(revisions map[string]string) *Catalog {
	if len(revisions) == 0 {
		return c
	}
	return &Catalog{library: c.library, audience: c.audience, revisions: revisions, called: c.called}
}

// Called returns the catalog in which some names mean the skills of these ids, whatever
// they mean to others. Names whose skill is gone mean what they always do.
func (c *Catalog) Called(ids map[string]string) *Catalog {
	if len(ids) == 0 {
		return c
	}
	called := maps.Clone(ids)
	for name, id := range c.called {
		if _, again := called[name]; !again {
			called[name] = id
		}
	}
	return &Catalog{library: c.library, audience: c.audience, revisions: c.revisions, called: called}
}

// Front returns what the front matter of a skill says, at the revision that is read.
func (c *Catalog) Front(ctx context.Context, name string) (core.Skill, error) {
	var front core.Skill
	err := c.within(ctx, name, func(_ *state, _ place, skill core.Skill) error {
		front = skill
		return nil
	})
	return front, err
}

// at moves a place to the revision that is to be read.
func (c *Catalog) at(ctx context.Context, p *place, skill *core.Skill) error {
	revision, set := c.revisions[skill.ID]
	if !set || p.entry == nil || revision == p.entry.Revision {
		return nil
	}
	keeper, ok := c.sources[p.root].(Keeper)
	if !ok {
		return nil
	}
	e, err := keeper.Entry(ctx, p.entry.ID, revision)
	if err != nil {
		return err
	}
	e.ID = p.entry.ID
	if fault := e.fault(); fault != "" {
		return fmt.Errorf("its source keeps a revision of it that is not usable: %s", fault)
	}
	s := &scanner{cfg: c.cfg, name: c.names[p.root]}
	read := s.parse(".", path.Join(e.ID, e.skillFileOf()), e.Head)
	if !read.usable {
		return fmt.Errorf("its front matter at revision %q cannot be read", printable(revision))
	}
	then := read.skill
	then.Name, then.ID, then.Qualified, then.Shadowed = skill.Name, skill.ID, skill.Qualified, skill.Shadowed
	then.Scope, then.Source, then.Editable, then.Revision = skill.Scope, skill.Source, skill.Editable, e.Revision
	then.AllowedTools = slices.Clone(then.AllowedTools)
	if e.Unreviewed {
		unreviewed(&then)
	}
	*skill, p.entry, p.file = then, &e, e.skillFileOf()
	return nil
}
