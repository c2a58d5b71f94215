// Package lru holds a bounded number of values and drops the least recently
// used one when a new value does not fit.
package lru

import (
	"container/list"
	"iter"
)

// Cache maps keys to values up to a total weight. It is not safe for concurrent use: its users
// have a lock of their own. Make one with [New].
type Cache[K comparable, V any] struct {
	limit, weight int
	dropped       func(K, V)
	order         *list.List // of *item, most recently used first
	items         map[K]*list.Element
}

type item[K comparable, V any] struct {
	key    K
	value  V
	weight int
}

// New returns an empty cache. The weights of its values add up to at most limit, except that the
// newest value always stays. A limit below 1 is no bound. dropped, if not nil, is called for each
// value after the cache has dropped it. It is not called for values that the caller removes or
// replaces.
func New[K comparable, V any](limit int, dropped func(K, V)) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, dropped: dropped, order: list.New(), items: make(map[K]*list.Element)}
}

// Get returns the value of key and makes it the most recently used one.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	e, ok := c.items[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*item[K, V]).value, true
}

// Put sets the value of key, makes it the most recently used one, and drops the least recently
// used values that no longer fit. For a bound on the number of values, every weight is 1.
func (c *Cache[K, V]) Put(key K, value V, weight int) {
	if e, ok := c.items[key]; ok {
		i := e.Value.(*item[K, V])
		c.weight += weight - i.weight
		i.value, i.weight = value, weight
		c.order.MoveToFront(e)
	} else {
		c.items[key] = c.order.PushFront(&item[K, V]{key, value, weight})
		c.weight += weight
	}
	for c.limit > 0 && c.weight > c.limit && c.order.Len() > 1 {
		oldest := c.order.Back().Value.(*item[K, V])
		c.Remove(oldest.key)
		if c.dropped != nil {
			c.dropped(oldest.key, oldest.value)
		}
	}
}

// Remove removes key and reports whether it was there.
func (c *Cache[K, V]) Remove(key K) bool {
	e, ok := c.items[key]
	if !ok {
		return false
	}
	c.weight -= c.order.Remove(e).(*item[K, V]).weight
	delete(c.items, key)
	return true
}

// Len returns the number of values.
func (c *Cache[K, V]) Len() int { return c.order.Len() }

// All yields the keys and values, the most recently used first. The loop may remove the current
// key.
func (c *Cache[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for e := c.order.Front(); e != nil; {
			next, i := e.Next(), e.Value.(*item[K, V])
			if !yield(i.key, i.value) {
				return
			}
			e = next
		}
	}
}
