package blobs

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// census holds the blobs that are counted. Other processes may write and remove blobs, so a sweep
// compares the census with the files that exist. Each comparison is a turn.
type census struct {
	quotas *quotas

	mu      sync.Mutex
	turn    int
	tenants map[string]map[string]*censusEntry // by id
}

// censusEntry is a blob that is counted. seen is the last turn in which it existed.
type censusEntry struct {
	Info
	seen int
}

func newCensus(q *quotas) *census {
	return &census{quotas: q, tenants: make(map[string]map[string]*censusEntry)}
}

// put counts a blob whose room was reserved. Until settle is called, the blob cannot count as
// missing.
func (c *census) put(tenant string, info Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(tenant, info, math.MaxInt)
}

// settle marks a blob as one that a turn can see.
func (c *census) settle(tenant, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.tenants[tenant][id]; b != nil {
		b.seen = c.turn
	}
}

// keep expects c.mu to be held.
func (c *census) keep(tenant string, info Info, seen int) {
	if c.tenants[tenant] == nil {
		c.tenants[tenant] = make(map[string]*censusEntry)
	}
	c.tenants[tenant][info.ID] = &censusEntry{Info{Size: info.Size, Expires: info.Expires}, seen}
}

// drop gives back the room of a blob, once.
func (c *census) drop(tenant, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lose(tenant, id)
}

// lose expects c.mu to be held.
func (c *census) lose(tenant, id string) {
	b := c.tenants[tenant][id]
	if b == nil {
		return
	}
	delete(c.tenants[tenant], id)
	if len(c.tenants[tenant]) == 0 {
		delete(c.tenants, tenant)
	}
	c.quotas.add(tenant, -b.Size, -1)
}

// begin begins a turn.
func (c *census) begin() (turn int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn++
	return c.turn
}

// markSeen reports whether a blob is counted, and marks it as seen in a turn.
func (c *census) markSeen(tenant, id string, turn int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.tenants[tenant][id]
	if b != nil {
		b.seen = max(b.seen, turn)
	}
	return b != nil
}

// addForeign counts a blob that another process has written.
func (c *census) addForeign(tenant string, info Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tenants[tenant][info.ID] == nil {
		c.keep(tenant, info, c.turn)
		c.quotas.add(tenant, info.Size, 1)
	}
}

// end drops the blobs that a turn has not seen.
func (c *census) end(turn int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for tenant, all := range c.tenants {
		for id, b := range all {
			if b.seen < turn {
				c.lose(tenant, id)
			}
		}
	}
}

// list returns the ids of a tenant's blobs after one of them, in order.
func (c *census) list(tenant, after string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.tenants[tenant])), func(id string) bool { return id <= after })
}

// expired returns the ids of expired blobs, by tenant.
func (c *census) expired(now time.Time) map[string][]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := make(map[string][]string)
	for tenant, all := range c.tenants {
		for id, b := range all {
			if b.HasExpired(now) {
				old[tenant] = append(old[tenant], id)
			}
		}
	}
	return old
}
