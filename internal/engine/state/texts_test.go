package state_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// countedReads counts the reads of pins that reach a store.
type countedReads struct {
	session.Store
	reads int
	then  func() // called after a read, before the result is returned
}

func (c *countedReads) Pinned(ctx context.Context, id, digest string) (string, error) {
	c.reads++
	text, err := c.Store.Pinned(ctx, id, digest)
	if c.then != nil {
		c.then()
	}
	return text, err
}

func TestTextsAreReadOnce(t *testing.T) {
	below := &countedReads{Store: session.NewMemory()}
	c := state.NewRecords(below).WithTexts(100)
	pin := func(s interface {
		Pin(ctx context.Context, id, digest, text string) error
	}, id, text string) string {
		t.Helper()
		if err := s.Pin(t.Context(), id, session.Digest(text), text); err != nil {
			t.Fatal(err)
		}
		return session.Digest(text)
	}
	read := func(what, id, digest string, want int) {
		t.Helper()
		below.reads = 0
		if _, err := c.Pinned(t.Context(), id, digest); err != nil || below.reads != want {
			t.Errorf("%s: %d reads, want %d; error %v", what, below.reads, want, err)
		}
	}
	a := pin(c, "one", strings.Repeat("a", 60))
	read("pinned here", "one", a, 0)
	pin(below.Store, "two", strings.Repeat("a", 60))
	read("pinned elsewhere", "two", a, 1)
	read("read before", "two", a, 0)
	b := pin(c, "one", strings.Repeat("b", 60))
	read("no room for both", "one", a, 1)
	read("no room for both", "one", b, 1)
	huge := pin(c, "one", strings.Repeat("h", 1000))
	read("larger than the limit", "one", huge, 0)
}

// A text that was read while its session ended is not cached.
func TestTextsThatEndMeanwhile(t *testing.T) {
	below := &countedReads{Store: session.NewMemory()}
	c := state.NewRecords(below).WithTexts(100)
	digest := session.Digest("x")
	if err := below.Pin(t.Context(), "s", digest, "x"); err != nil {
		t.Fatal(err)
	}
	below.then = func() {
		if err := c.End(t.Context(), "s"); err != nil {
			t.Error(err)
		}
	}
	if text, err := c.Pinned(t.Context(), "s", digest); text != "x" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := c.Pinned(t.Context(), "s", digest); !errors.Is(err, session.ErrNotPinned) {
		t.Errorf("after the end: %v", err)
	}
}
