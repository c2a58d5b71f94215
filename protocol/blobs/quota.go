package blobs

import (
	"fmt"
	"sync"
)

// Quota bounds what each tenant may have. A field that is 0 stands for its default: 1 GiB and
// 10,000 blobs.
type Quota struct {
	Bytes int64
	Blobs int
}

// quotas counts the blobs of tenants, those that are being written included.
type quotas struct {
	most Quota

	mu   sync.Mutex
	used map[string]Usage
}

func newQuotas(most Quota) *quotas {
	if most.Bytes < 1 {
		most.Bytes = maxTenantBytes
	}
	if most.Blobs < 1 {
		most.Blobs = maxTenantBlobs
	}
	return &quotas{most: most, used: make(map[string]Usage)}
}

// take reserves room.
func (q *quotas) take(tenant string, bytes int64, blobs int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.used[tenant]
	u.Bytes, u.Blobs = u.Bytes+bytes, u.Blobs+blobs
	switch {
	case bytes > 0 && u.Bytes > q.most.Bytes:
		return fmt.Errorf("%w: %d bytes in all", ErrQuota, q.most.Bytes)
	case blobs > 0 && u.Blobs > q.most.Blobs:
		return fmt.Errorf("%w: %d blobs", ErrQuota, q.most.Blobs)
	}
	q.used[tenant] = u
	return nil
}

// add counts blobs that are there already, or that have gone.
func (q *quotas) add(tenant string, bytes int64, blobs int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.used[tenant]
	if u = (Usage{u.Bytes + bytes, u.Blobs + blobs}); u == (Usage{}) {
		delete(q.used, tenant)
	} else {
		q.used[tenant] = u
	}
}

func (q *quotas) usage(tenant string) Usage {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used[tenant]
}
