package catalog

import (
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
)

// audience is who looks at a catalog.
type audience struct {
	key   string
	allow func(core.Skill) bool
}

// For returns the catalog as an audience sees it: as if there were only the skills that
// allow reports true for. It is pure, and the same for one key: what it has said is kept
// for the key until the skills change. It is asked about each skill under the name that
// its front matter spells.
//
// The catalogs of all audiences share everything else, so closing one closes all.
func (c *Catalog) For(key string, allow func(core.Skill) bool) *Catalog {
	return &Catalog{library: c.library, audience: &audience{key, allow}}
}

// Whole returns the catalog with all its skills, without an audience.
func (c *Catalog) Whole() *Catalog { return &Catalog{library: c.library} }

// seen returns a snapshot as the audience of the catalog sees it.
func (c *Catalog) seen(s *Snapshot) *Snapshot {
	if c.audience == nil {
		return s
	}
	return c.derived.of(s, c.audience)
}

// derived keeps the snapshots of audiences. The zero derived is ready to use.
type derived struct {
	mu   sync.Mutex
	base *Snapshot
	kept *lru.Cache[string, *Snapshot]
}

func (d *derived) of(base *Snapshot, a *audience) *Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.base != base {
		d.base, d.kept = base, lru.New[string, *Snapshot](maxDerived, nil)
	}
	if s, ok := d.kept.Get(a.key); ok {
		return s
	}
	s := base.Allowed(a.allow)
	d.kept.Put(a.key, s, 1)
	return s
}
