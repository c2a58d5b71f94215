package blobs

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// census holds the blobs that count for the quotas. Other processes may write and remove blobs, so
// a sweep compares the census with the files that exist. Each comparison is a round.
type census struct {
	quotas *quotas

	mu      sync.Mutex
	round   int
	tenants map[string]map[string]*censusEntry // by id
}

// censusEntry is a blob that counts, and the last round in which it existed.
type censusEntry struct {
	Info
	lastSeen int
}

func newCensus(q *quotas) *census {
	return &census{quotas: q, tenants: make(map[string]map[string]*censusEntry)}
}

// put adds a blob that the quotas have counted. No round drops it until settle is called: its
// files may not exist yet.
func (c *census) put(tenant string, info Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(tenant, info, math.MaxInt)
}

// settle says that the files of a blob exist. A later round drops the blob if they do not.
func (c *census) settle(tenant, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.tenants[tenant][id]; b != nil {
		b.lastSeen = c.round
	}
}

// keep adds a blob. The caller holds c.mu.
func (c *census) keep(tenant string, info Info, lastSeen int) {
	if c.tenants[tenant] == nil {
		c.tenants[tenant] = make(map[string]*censusEntry)
	}
	c.tenants[tenant][info.ID] = &censusEntry{Info{Size: info.Size, Expires: info.Expires}, lastSeen}
}

// drop removes a blob and gives its room back to the quota. It ignores an unknown blob.
func (c *census) drop(tenant, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked(tenant, id)
}

// dropLocked is drop for a caller that holds c.mu.
func (c *census) dropLocked(tenant, id string) {
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

// begin begins a round.
func (c *census) begin() (round int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.round++
	return c.round
}

// markSeen reports whether the census has a blob, and marks it as seen in a round.
func (c *census) markSeen(tenant, id string, round int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.tenants[tenant][id]
	if b != nil {
		b.lastSeen = max(b.lastSeen, round)
	}
	return b != nil
}

// addForeign adds a blob that another process has written, and counts it for the quota.
func (c *census) addForeign(tenant string, info Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tenants[tenant][info.ID] == nil {
		c.keep(tenant, info, c.round)
		c.quotas.add(tenant, info.Size, 1)
	}
}

// end drops the blobs that were not seen in a round.
func (c *census) end(round int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for tenant, all := range c.tenants {
		for id, b := range all {
			if b.lastSeen < round {
				c.dropLocked(tenant, id)
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
