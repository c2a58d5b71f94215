package workspace

import (
	"maps"
	"slices"
	"sync"
)

// callbacks are functions that others have registered. The zero value has none.
type callbacks[F any] struct {
	mu    sync.Mutex
	byKey map[int]F
	last  int // the last key
}

// add registers f until stop is called.
func (c *callbacks[F]) add(f F) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil {
		c.byKey = map[int]F{}
	}
	c.last++
	key := c.last
	c.byKey[key] = f
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.byKey, key)
	}
}

// all returns the registered functions.
func (c *callbacks[F]) all() []F {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.byKey))
}
