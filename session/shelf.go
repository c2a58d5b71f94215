package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// Load implements [Store]. What is on the shelf of the record is among its deliveries. A
// list that the store has lost counts as empty: the texts leave the view.
func (c *PinCache) Load(ctx context.Context, key core.SessionKey) (*state.Record, error) {
	rec, err := c.Store.Load(ctx, key)
	if err != nil || rec.Shelf.List == "" {
		return rec, err
	}
	if known, ok := c.whole(rec); ok {
		return known, nil
	}
	shelved := rec.Shelved()
	if shelved == nil {
		text, err := c.Pinned(ctx, key.Session, rec.Shelf.List)
		if errors.Is(err, ErrNotPinned) {
			lost := *rec
			lost.Shelf, lost.Before = state.Shelf{}, nil
			return &lost, nil
		}
		if err == nil {
			shelved, err = state.ReadShelf(text)
		}
		if err != nil {
			return nil, fmt.Errorf("read the list of texts in view: %w", err)
		}
	}
	return c.unshelve(rec, shelved), nil
}

// Save implements [Store]. Once for a few texts that stay in view it pins a list.
func (c *PinCache) Save(ctx context.Context, rec *state.Record) (*state.Record, error) {
	if rec == nil {
		return c.Store.Save(ctx, rec)
	}
	stored, list := rec.Shelve()
	if list != "" {
		if err := c.Pin(ctx, rec.Key.Session, stored.Shelf.List, list); err != nil {
			return nil, err
		}
	}
	saved, err := c.Store.Save(ctx, stored)
	if err != nil || saved.Shelf.List == "" {
		return saved, err
	}
	return c.unshelve(saved, stored.Shelved()), nil
}

// unshelved is a record as it was stored, and with what is on its shelf.
type unshelved struct{ stored, whole *state.Record }

// whole returns a record that unshelve has made of the very same one.
func (c *PinCache) whole(stored *state.Record) (*state.Record, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.wholes.Get(stored.Key)
	return known.whole, ok && known.stored == stored
}

func (c *PinCache) unshelve(stored *state.Record, shelved []state.Delivery) *state.Record {
	whole := stored.Whole(shelved)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wholes.Put(stored.Key, unshelved{stored, whole}, 1)
	return whole
}
