package blobs

import (
	"fmt"
	"sync"
)

// Option sets a bound of a store.
type Option func(*quotas)

// WithQuota sets what each tenant may have; the default is maxTenantBytes and
// maxTenantBlobs. Numbers below 1 mean the default.
func WithQuota(bytes int64, blobs int) Option {
	return func(q *quotas) {
		if bytes > 0 {
			q.bytes = bytes
		}
		if blobs > 0 {
			q.blobs = blobs
		}
	}
}

// quotas count what tenants have and what is being written.
type quotas struct {
	bytes int64
	blobs int

	mu   sync.Mutex
	used map[string]Usage
}

func newQuotas(opts []Option) *quotas {
	q := &quotas{bytes: maxTenantBytes, blobs: maxTenantBlobs, used: make(map[string]Usage)}
	for _, opt := range opts {
		opt(q)
	}
	return q
}

// take reserves room.
func (q *quotas) take(tenant string, bytes int64, blobs int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.used[tenant]
	u.Bytes, u.Blobs = u.Bytes+bytes, u.Blobs+blobs
	switch {
	case bytes > 0 && u.Bytes > q.bytes:
		return fmt.Errorf("%w: %d bytes in all", ErrQuota, q.bytes)
	case blobs > 0 && u.Blobs > q.blobs:
		return fmt.Errorf("%w: %d blobs", ErrQuota, q.blobs)
	}
	q.used[tenant] = u
	return nil
}

// add counts what is there already, and what has gone.
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
