package blobs

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// Memory is a Store in memory. Make one with NewMemory.
type Memory struct {
	*quotas
	mu    sync.RWMutex
	blobs map[string]map[string]kept // by tenant and id
}

type kept struct {
	Info
	data []byte
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store in memory.
func NewMemory(opts ...Option) *Memory {
	return &Memory{quotas: newQuotas(opts), blobs: make(map[string]map[string]kept)}
}

// Create implements [Store].
func (m *Memory) Create(ctx context.Context, tenant, kind string, r io.Reader, limit int64, expires time.Time) (Info, error) {
	var b bytes.Buffer
	size, sum, err := m.copyBlob(ctx, tenant, &b, r, limit)
	if err != nil {
		return Info{}, err
	}
	info := Info{ID: NewID(), Kind: kind, Size: size, SHA256: sum, Expires: expires}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blobs[tenant] == nil {
		m.blobs[tenant] = make(map[string]kept)
	}
	m.blobs[tenant][info.ID] = kept{info, b.Bytes()}
	return info, nil
}

// Stat implements [Store].
func (m *Memory) Stat(_ context.Context, tenant, id string) (Info, error) {
	b, err := m.find(tenant, id)
	return b.Info, err
}

// Open implements [Store].
func (m *Memory) Open(_ context.Context, tenant, id string, offset, length int64) (io.ReadCloser, Info, error) {
	b, err := m.find(tenant, id)
	if err != nil {
		return nil, Info{}, err
	}
	from, n := section(b.Size, offset, length)
	return io.NopCloser(bytes.NewReader(b.data[from : from+n])), b.Info, nil
}

func (m *Memory) find(tenant, id string) (kept, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	b, ok := m.blobs[tenant][id]
	if !ok || b.HasExpired(time.Now()) {
		return kept{}, unknown(id)
	}
	return b, nil
}

// Delete implements [Store].
func (m *Memory) Delete(_ context.Context, tenant, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.blobs[tenant][id]
	if !ok {
		return unknown(id)
	}
	m.remove(tenant, b)
	return nil
}

// remove expects m.mu to be held.
func (m *Memory) remove(tenant string, b kept) {
	delete(m.blobs[tenant], b.ID)
	if len(m.blobs[tenant]) == 0 {
		delete(m.blobs, tenant)
	}
	m.add(tenant, -b.Size, -1)
}

// List implements [Store].
func (m *Memory) List(_ context.Context, tenant, after string, limit int) (list []Info, _ error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	now := time.Now()
	for _, id := range slices.Sorted(maps.Keys(m.blobs[tenant])) {
		if b := m.blobs[tenant][id]; id > after && len(list) < limit && !b.HasExpired(now) {
			list = append(list, b.Info)
		}
	}
	return list, nil
}

// Usage implements [Store].
func (m *Memory) Usage(_ context.Context, tenant string) (Usage, error) { return m.usage(tenant), nil }

// Sweep implements [Store].
func (m *Memory) Sweep(_ context.Context, now time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	swept := 0
	for tenant, all := range m.blobs {
		for _, b := range all {
			if b.HasExpired(now) {
				m.remove(tenant, b)
				swept++
			}
		}
	}
	return swept, nil
}
