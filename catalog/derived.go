package catalog

import (
	"sync"

	"github.com/satchel-go/satchel/internal/lru"
)

// derive returns the snapshot base as the audience of the catalog sees it, without the skills that
// WithHidden hides.
func (c *Catalog) derive(base *Snapshot) *Snapshot {
	seen := base
	var key derivedKey
	if a := c.audience; a != nil {
		key.hasAudience, key.audience = true, a.key
		seen = c.derived.get(base, key, func() *Snapshot { return base.Filter(a.allow) })
	}
	if h := c.hides; h != nil {
		key.hides, key.hidden = true, h.key
		return c.derived.get(base, key, func() *Snapshot { return seen.hide(h.why) })
	}
	return seen
}

// derivedCache keeps the snapshots that were made from one snapshot for audiences, and with more
// hidden skills. Its zero value is ready to use.
type derivedCache struct {
	mu        sync.Mutex
	base      *Snapshot // the snapshot that the others were made from
	snapshots *lru.Cache[derivedKey, *Snapshot]
}

// derivedKey names a snapshot by the keys of its audience and of WithHidden, if it has them.
type derivedKey struct {
	hasAudience, hides bool
	audience, hidden   string
}

// get returns the snapshot with a key. It calls derive if there is none, or if base has changed.
func (d *derivedCache) get(base *Snapshot, key derivedKey, derive func() *Snapshot) *Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.base != base {
		d.base, d.snapshots = base, lru.New[derivedKey, *Snapshot](maxDerived, nil)
	}
	if s, ok := d.snapshots.Get(key); ok {
		return s
	}
	s := derive()
	d.snapshots.Put(key, s, 1)
	return s
}
