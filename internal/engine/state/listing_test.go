package state_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// countedPins counts the bytes that are pinned.
type countedPins struct {
	session.Store
	pins, bytes int
}

func (c *countedPins) Pin(ctx context.Context, id, digest, text string) error {
	c.pins, c.bytes = c.pins+1, c.bytes+len(text)
	return c.Store.Pin(ctx, id, digest, text)
}

func TestListingIsPinnedOnce(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	store := &countedPins{Store: session.NewMemory()}
	records := func() *state.Records { return state.NewRecords(store) }
	const text = "0123456789abcdef pdf\n"
	digest := session.Digest(text)
	pin := func(at time.Time) {
		t.Helper()
		if err := records().PinListing(t.Context(), digest, text, at); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		pin(now)
	}
	if store.pins != 1 || store.bytes != len(text) {
		t.Errorf("%d pins of %d bytes for 100 sessions", store.pins, store.bytes)
	}
	read := func(at time.Time, want error) {
		t.Helper()
		got, err := records().PinnedListing(t.Context(), digest, at)
		if !errors.Is(err, want) || err == nil && got != text {
			t.Errorf("%v later: %q, %v; want %v", at.Sub(now), got, err, want)
		}
	}
	const day = 24 * time.Hour
	read(now, nil)
	read(now.Add(273*day), nil)
	read(now.Add(365*day), session.ErrNotPinned)

	// A listing that is no longer used is removed when a new one is pinned.
	other := "0123456789abcdef docx\n"
	if err := records().PinListing(t.Context(), session.Digest(other), other, now.Add(365*day)); err != nil {
		t.Fatal(err)
	}
	read(now, session.ErrNotPinned)
}
