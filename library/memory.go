package library

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/library/internal/listeners"
)

// memory is a store in memory.
type memory struct {
	mu        sync.Mutex
	tenants   map[string]*memoryTenant
	listeners listeners.Listeners
}

type memoryTenant struct {
	seq       int64
	heads     map[string]Head
	revisions map[string][]Revision
	blobs     map[string][]byte
	entries   []Entry
	grants    map[string][]Role
}

var _ source.Notifier = (*memory)(nil)

// NewMemory returns an empty store in memory, for tests and for one process. It implements
// source.Notifier.
func NewMemory() Store {
	return &memory{tenants: map[string]*memoryTenant{}}
}

func (m *memory) tenant(name string) *memoryTenant {
	t := m.tenants[name]
	if t == nil {
		t = &memoryTenant{heads: map[string]Head{}, revisions: map[string][]Revision{}, blobs: map[string][]byte{}, grants: map[string][]Role{}}
		m.tenants[name] = t
	}
	return t
}

// Heads implements [Store].
func (m *memory) Heads(ctx context.Context, tenant string, after int64) ([]Head, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	t := m.tenant(tenant)
	if t.seq <= after {
		return nil, t.seq, nil
	}
	var heads []Head
	for _, h := range t.heads {
		if h.Seq > after {
			h.Front = bytes.Clone(h.Front)
			heads = append(heads, h)
		}
	}
	slices.SortFunc(heads, func(a, b Head) int { return int(a.Seq - b.Seq) })
	return heads, t.seq, nil
}

// Load implements [Store].
func (m *memory) Load(ctx context.Context, tenant, id string, version int) (Revision, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Revision{}, err
	}
	all := m.tenant(tenant).revisions[id]
	for i := len(all) - 1; i >= 0; i-- {
		if version == 0 || all[i].Version == version {
			r := all[i]
			r.Files = slices.Clone(r.Files)
			return r, nil
		}
	}
	return Revision{}, ErrUnknown
}

// Commit implements [Store].
func (m *memory) Commit(ctx context.Context, c Change) (Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Head{}, err
	}
	t := m.tenant(c.Tenant)
	var head Head
	if c.Head != nil {
		head = *c.Head
		if t.heads[head.ID].Version != c.Base {
			return Head{}, ErrConflict
		}
		for _, other := range t.heads {
			if other.ID != head.ID && haveSameName(&other, &head) {
				return Head{}, ErrNameTaken
			}
		}
		t.seq++
		head.Seq, head.Front = t.seq, bytes.Clone(head.Front)
		t.heads[head.ID] = head
		if c.Revision != nil {
			r := *c.Revision
			r.Files = slices.Clone(r.Files)
			t.revisions[r.ID] = append(t.revisions[r.ID], r)
			if all := t.revisions[r.ID]; c.Keep > 0 && len(all) > c.Keep {
				t.revisions[r.ID] = prune(all, c.Keep, head)
			}
			for digest, data := range c.Blobs {
				t.blobs[digest] = bytes.Clone(data)
			}
		}
	}
	for subject, role := range c.Grants {
		t.grants[subject] = []Role{role}
	}
	entry := c.Entry
	entry.N = int64(len(t.entries) + 1)
	t.entries = append(t.entries, entry)
	m.listeners.Notify()
	return head, nil
}

// prune returns the newest keep revisions, and those that are served or reviewed.
func prune(all []Revision, keep int, head Head) []Revision {
	first := len(all) - keep
	var kept []Revision
	for i, r := range all {
		if i >= first || r.Version == head.Served || r.Version == head.Reviewed {
			kept = append(kept, r)
		}
	}
	return kept
}

// haveSameName reports whether two skills of the database may not both exist because of their
// names.
func haveSameName(a, b *Head) bool {
	return a.Plugin == "" && b.Plugin == "" && a.State != stateArchived && b.State != stateArchived && a.NameKey == b.NameKey &&
		a.Shared == b.Shared && (a.Shared || a.Owner == b.Owner)
}

// Blob implements [Store].
func (m *memory) Blob(ctx context.Context, tenant, digest string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, ok := m.tenant(tenant).blobs[digest]
	if !ok {
		return nil, ErrUnknown
	}
	return bytes.Clone(data), nil
}

// Entries implements [Store].
func (m *memory) Entries(ctx context.Context, tenant string, q LogQuery) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if q.Limit < 1 {
		q.Limit = maxEntries
	}
	var out []Entry
	for _, e := range m.tenant(tenant).entries {
		if e.N > q.After && (q.ID == "" || e.ID == q.ID) && len(out) < q.Limit {
			out = append(out, e)
		}
	}
	return out, nil
}

// Grants implements [Store].
func (m *memory) Grants(ctx context.Context, tenant, subject string) ([]Role, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return slices.Clone(m.tenant(tenant).grants[subject]), nil
}

// Notify implements source.Notifier.
func (m *memory) Notify(f func()) (stop func()) { return m.listeners.Add(f) }
