package catalog

import (
	"io/fs"
	"sync/atomic"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
)

// fetchedSkill holds the skill in a SKILL.md that was fetched after its source had listed it. It is
// nil before that.
type fetchedSkill struct{ atomic.Pointer[core.Skill] }

// cachedSource is a source that keeps the files that it has fetched, also for later processes.
type cachedSource interface {
	// OpenCached is Open for files that were fetched before. It sends no request.
	OpenCached(id, revision string) (fs.FS, error)
}

// isFetchedWhole reports whether an entry is fetched when its files are first read, and describes
// none of them before. Its head then has the name and the description, and perhaps no other field.
func isFetchedWhole(e *source.Entry) bool { return e.OnDemand && e.Files == nil }

// parseCached returns the record of an entry of root i by its SKILL.md, if that is cached. If not, it
// returns listed, the record of the entry's head.
func (c *Catalog) parseCached(i int, e *source.Entry, listed scan.Record) (scan.Record, *fetchedSkill) {
	if s, ok := c.roots[i].Source().(cachedSource); ok {
		if files, err := s.OpenCached(e.ID, e.Revision); err == nil {
			if rec, err := c.readFetched(i, e, &scan.FSTree{FS: files}); err == nil && rec.Usable {
				rec.Skill.Name, rec.Skill.Description = listed.Skill.Name, listed.Skill.Description
				return rec, nil
			}
		}
	}
	return listed, &fetchedSkill{}
}

// readFetched returns the record of the SKILL.md of an entry of root i.
func (c *Catalog) readFetched(i int, e *source.Entry, files scan.Tree) (scan.Record, error) {
	s := &scan.Scanner{Config: c.cfg.scan, Name: c.names[i], Tree: files}
	return s.ReadTree(e.SkillFile(), e.ID)
}

// addFetched replaces the fields of a skill by those of its SKILL.md in the tree of p. The listing
// decides about its name and its description.
func (c *Catalog) addFetched(p *place, skill *core.Skill) error {
	fields := p.fetched.Load()
	if fields == nil {
		rec, err := c.readFetched(p.root, p.entry, p.tree)
		if err != nil {
			return scan.Cause(err)
		}
		if !rec.Usable {
			return nil // Body returns the error
		}
		fields = &rec.Skill
		p.fetched.Store(fields)
	}
	read := withFields(*skill, *fields, p.entry)
	read.Description, read.Hidden = skill.Description, skill.Hidden || read.Hidden
	*skill = read
	return nil
}
