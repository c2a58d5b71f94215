package catalog

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
)

// At returns the catalog with some skills at other revisions than those that it lists.
// They are named by their canonical ids, and count where the source of a skill is a
// [source.Keeper]. What is read of such a skill is of that revision; names and snapshots are
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
	keeper, ok := c.roots[p.root].Source().(source.Keeper)
	if !ok {
		return nil
	}
	e, err := keeper.Entry(ctx, p.entry.ID, revision)
	if err != nil {
		return err
	}
	e.ID = p.entry.ID
	if fault := e.Fault(); fault != "" {
		return fmt.Errorf("its source keeps a revision of it that is not usable: %s", fault)
	}
	s := &scan.Scanner{Config: c.cfg.scan, Name: c.names[p.root]}
	read := s.Parse(".", path.Join(e.ID, e.SkillFile()), e.Head)
	if !read.Usable {
		return fmt.Errorf("its front matter at revision %q cannot be read", scan.Printable(revision))
	}
	then := read.Skill
	then.Name, then.ID, then.Qualified, then.Shadowed = skill.Name, skill.ID, skill.Qualified, skill.Shadowed
	then.Scope, then.Source, then.Editable, then.Revision = skill.Scope, skill.Source, skill.Editable, e.Revision
	then.AllowedTools = slices.Clone(then.AllowedTools)
	if e.Unreviewed {
		unreviewed(&then)
	}
	*skill, p.entry, p.file = then, &e, e.SkillFile()
	return nil
}
