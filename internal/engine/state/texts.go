package state

import (
	"context"
	"slices"
)

// Pin keeps text for the session under its digest.
func (r *Records) Pin(ctx context.Context, id, digest, text string) error {
	ends := r.endCount()
	if err := r.store.Pin(ctx, id, digest, text); err != nil {
		return err
	}
	r.keepText(id, digest, text, ends)
	return nil
}

// Pinned returns a pinned text, or an error that wraps [session.ErrNotPinned]. A text that
// another process has unpinned may still be returned from memory.
func (r *Records) Pinned(ctx context.Context, id, digest string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if text, ok := r.text(id, digest); ok {
		return text, nil
	}
	ends := r.endCount()
	text, err := r.store.Pinned(ctx, id, digest)
	if err != nil {
		return "", err
	}
	r.keepText(id, digest, text, ends)
	return text, nil
}

// Unpin removes the pins of the session whose digests are not in keep.
func (r *Records) Unpin(ctx context.Context, id string, keep []string) error {
	defer r.forgetTexts(id, keep)
	return r.store.Unpin(ctx, id, keep)
}

// End removes all values and pins of the session.
func (r *Records) End(ctx context.Context, id string) error {
	defer r.forget(id)
	return r.store.End(ctx, id)
}

func (r *Records) text(id, digest string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pins, _ := r.pins.Get(id)
	if _, pinned := pins[digest]; !pinned {
		return "", false
	}
	return r.texts.Get(digest)
}

// keepText remembers a pin, unless the session may have ended since ends were counted.
func (r *Records) keepText(id, digest, text string, ends int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends != ends {
		return
	}
	if _, ok := r.texts.Get(digest); !ok {
		r.texts.Put(digest, text, len(text))
	}
	pins, ok := r.pins.Get(id)
	if !ok {
		pins = make(map[string]struct{})
		r.pins.Put(id, pins, 1)
	}
	pins[digest] = struct{}{}
}

// forgetTexts forgets the pins of a session that are not in keep.
func (r *Records) forgetTexts(id string, keep []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends++
	pins, _ := r.pins.Get(id)
	for digest := range pins {
		if !slices.Contains(keep, digest) {
			delete(pins, digest)
		}
	}
	if len(pins) == 0 {
		r.pins.Remove(id)
	}
}

func (r *Records) endCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ends
}
