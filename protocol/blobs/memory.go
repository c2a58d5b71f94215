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

// memory is a Store in memory.
type memory struct {
	*quotas
	mu    sync.RWMutex
	blobs map[string]map[string]memoryBlob // by tenant and id
}

// memoryBlob is a blob in memory.
type memoryBlob struct {
	Info
	data chunks
}

var _ Store = (*memory)(nil)

// chunks is a content in pieces. One growing buffer would take up to twice the memory that the
// quota counts.
type chunks [][]byte

// Write implements io.Writer.
func (c *chunks) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		last := len(*c) - 1
		if last < 0 || len((*c)[last]) == cap((*c)[last]) {
			size := minChunk
			if last >= 0 {
				size = min(2*cap((*c)[last]), maxChunk)
			}
			*c, last = append(*c, make([]byte, 0, size)), last+1
		}
		piece := &(*c)[last]
		n := min(len(rest), cap(*piece)-len(*piece))
		*piece, rest = append(*piece, rest[:n]...), rest[n:]
	}
	return len(p), nil
}

// clip frees the unused end of the last piece.
func (c chunks) clip() chunks {
	if last := len(c) - 1; last >= 0 {
		c[last] = slices.Clip(append(make([]byte, 0, len(c[last])), c[last]...))
	}
	return slices.Clip(c)
}

// section returns a reader of n bytes from an offset.
func (c chunks) section(from, n int64) io.Reader {
	var parts []io.Reader
	for _, piece := range c {
		size := int64(len(piece))
		if from < size && n > 0 {
			part := piece[from:min(size, from+n)]
			parts, n = append(parts, bytes.NewReader(part)), n-int64(len(part))
		}
		from = max(0, from-size)
	}
	return io.MultiReader(parts...)
}

// NewMemory returns an empty store in memory.
func NewMemory(quota Quota) Store {
	return &memory{quotas: newQuotas(quota), blobs: make(map[string]map[string]memoryBlob)}
}

// Create implements [Store].
func (m *memory) Create(ctx context.Context, tenant, kind string, r io.Reader, limit int64, expires time.Time) (Info, error) {
	var b chunks
	size, sum, err := m.copyBlob(ctx, tenant, &b, r, limit)
	if err != nil {
		return Info{}, err
	}
	info := Info{ID: NewID(), Kind: kind, Size: size, SHA256: sum, Expires: expires}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blobs[tenant] == nil {
		m.blobs[tenant] = make(map[string]memoryBlob)
	}
	m.blobs[tenant][info.ID] = memoryBlob{info, b.clip()}
	return info, nil
}

// Stat implements [Store].
func (m *memory) Stat(_ context.Context, tenant, id string) (Info, error) {
	b, err := m.find(tenant, id)
	return b.Info, err
}

// Open implements [Store].
func (m *memory) Open(_ context.Context, tenant, id string, offset, length int64) (io.ReadCloser, Info, error) {
	b, err := m.find(tenant, id)
	if err != nil {
		return nil, Info{}, err
	}
	from, n := section(b.Size, offset, length)
	return io.NopCloser(b.data.section(from, n)), b.Info, nil
}

func (m *memory) find(tenant, id string) (memoryBlob, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	b, ok := m.blobs[tenant][id]
	if !ok || b.HasExpired(time.Now()) {
		return memoryBlob{}, unknown(id)
	}
	return b, nil
}

// Delete implements [Store].
func (m *memory) Delete(_ context.Context, tenant, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.blobs[tenant][id]
	if !ok {
		return unknown(id)
	}
	m.remove(tenant, b)
	return nil
}

// remove removes a blob and gives its room back to the quota. The caller holds m.mu.
func (m *memory) remove(tenant string, b memoryBlob) {
	delete(m.blobs[tenant], b.ID)
	if len(m.blobs[tenant]) == 0 {
		delete(m.blobs, tenant)
	}
	m.add(tenant, -b.Size, -1)
}

// List implements [Store].
func (m *memory) List(_ context.Context, tenant, after string, limit int) (list []Info, _ error) {
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
func (m *memory) Usage(_ context.Context, tenant string) (Usage, error) { return m.usage(tenant), nil }

// Sweep implements [Store].
func (m *memory) Sweep(_ context.Context, now time.Time) (int, error) {
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
