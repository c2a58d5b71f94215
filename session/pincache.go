package session

import (
	"context"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
)

// DefaultPinCacheBytes is how many bytes of pinned text a [PinCache] keeps unless
// its owner says otherwise.
const DefaultPinCacheBytes = 64 << 20

// maxCachedSessions bounds the sessions whose pins a PinCache knows, maxWholes the
// records that it keeps as they were before the store made them shorter.
const maxCachedSessions, maxWholes = 10_000, 1_000

// PinCache is a [Store] that keeps the texts pinned in another store in memory,
// so that a request that changes nothing reads no pin. Each text is kept once for
// all sessions, and the least recently used texts are dropped first. All calls
// but Pinned go to the store below, whose guarantees hold, with one exception: a
// pin that another process has removed, or that was damaged on disk, may still be
// returned from memory.
type PinCache struct {
	Store

	mu     sync.Mutex
	texts  *lru.Cache[string, string]              // by digest
	pins   *lru.Cache[string, map[string]struct{}] // digests by session
	wholes *lru.Cache[core.SessionKey, unshelved]
	ends   int // counts End and Unpin
}

var _ Store = (*PinCache)(nil)

// NewPinCache returns a cache of at most limit bytes of text over store; a limit
// below 1 is [DefaultPinCacheBytes]. It needs no closing of its own.
func NewPinCache(store Store, limit int) *PinCache {
	if limit < 1 {
		limit = DefaultPinCacheBytes
	}
	return &PinCache{
		Store:  store,
		texts:  lru.New[string, string](limit, nil),
		pins:   lru.New[string, map[string]struct{}](maxCachedSessions, nil),
		wholes: lru.New[core.SessionKey, unshelved](maxWholes, nil),
	}
}

// Pin implements [Store].
func (c *PinCache) Pin(ctx context.Context, session, digest, text string) error {
	ends := c.endCount()
	if err := c.Store.Pin(ctx, session, digest, text); err != nil {
		return err
	}
	c.keep(session, digest, text, ends)
	return nil
}

// Pinned implements [Store]. It asks the store below only for a text that is not
// in memory.
func (c *PinCache) Pinned(ctx context.Context, session, digest string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if text, ok := c.get(session, digest); ok {
		return text, nil
	}
	ends := c.endCount()
	text, err := c.Store.Pinned(ctx, session, digest)
	if err != nil {
		return "", err
	}
	c.keep(session, digest, text, ends)
	return text, nil
}

// Unpin implements [Store].
func (c *PinCache) Unpin(ctx context.Context, session string, keep []string) error {
	defer c.forget(session, keep)
	return c.Store.Unpin(ctx, session, keep)
}

// End implements [Store].
func (c *PinCache) End(ctx context.Context, session string) error {
	defer c.forget(session, nil)
	return c.Store.End(ctx, session)
}

func (c *PinCache) get(session, digest string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pins, _ := c.pins.Get(session)
	if _, pinned := pins[digest]; !pinned {
		return "", false
	}
	return c.texts.Get(digest)
}

// keep records a pin, unless End or Unpin was called since there were ends calls.
func (c *PinCache) keep(session, digest, text string, ends int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends != ends {
		return
	}
	if _, ok := c.texts.Get(digest); !ok {
		c.texts.Put(digest, text, len(text))
	}
	pins, ok := c.pins.Get(session)
	if !ok {
		pins = make(map[string]struct{})
		c.pins.Put(session, pins, 1)
	}
	pins[digest] = struct{}{}
}

// forget removes the pins of a session that are not in keep.
func (c *PinCache) forget(session string, keep []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends++
	pins, _ := c.pins.Get(session)
	for digest := range pins {
		if !slices.Contains(keep, digest) {
			delete(pins, digest)
		}
	}
	if len(pins) == 0 {
		c.pins.Remove(session)
	}
}

func (c *PinCache) endCount() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ends
}

// Queue implements [Queuer] where the store below does, and lets nobody wait elsewhere.
func (c *PinCache) Queue(ctx context.Context, key core.SessionKey) (leave func()) {
	if q, ok := c.Store.(Queuer); ok {
		return q.Queue(ctx, key)
	}
	return nil
}
