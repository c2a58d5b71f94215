package blobs

import (
	"fmt"
	"sync"
)

// Quota bounds what each tenant may store. A zero field means its default: 1 GiB and 10,000 blobs.
type Quota struct {
	Bytes int64
	Blobs int
}

// quotas counts the blobs of tenants, with those that are being written.
type quotas struct {
	most Quota

	mu     sync.Mutex
	usages map[string]Usage // by tenant
}

func newQuotas(most Quota) *quotas {
	if most.Bytes < 1 {
		most.Bytes = maxTenantBytes
	}
	if most.Blobs < 1 {
		most.Blobs = maxTenantBlobs
	}
	return &quotas{most: most, usages: make(map[string]Usage)}
}

// take adds to the usage of a tenant. If a bound would be exceeded, it adds nothing and its error
// wraps ErrQuota.
func (q *quotas) take(tenant string, bytes int64, blobs int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.usages[tenant]
	u.Bytes, u.Blobs = u.Bytes+bytes, u.Blobs+blobs
	switch {
	case bytes > 0 && u.Bytes > q.most.Bytes:
		return fmt.Errorf("%w: %d bytes in all", ErrQuota, q.most.Bytes)
	case blobs > 0 && u.Blobs > q.most.Blobs:
		return fmt.Errorf("%w: %d blobs", ErrQuota, q.most.Blobs)
	}
	q.usages[tenant] = u
	return nil
}

// add adds to the usage of a tenant without a check. Negative numbers are blobs that were removed.
func (q *quotas) add(tenant string, bytes int64, blobs int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.usages[tenant]
	if u = (Usage{u.Bytes + bytes, u.Blobs + blobs}); u == (Usage{}) {
		delete(q.usages, tenant)
	} else {
		q.usages[tenant] = u
	}
}

func (q *quotas) usage(tenant string) Usage {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.usages[tenant]
}
