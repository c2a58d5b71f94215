//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"testing"
)

// TestSpawnerTurns checks that others wait while a child is being started.
func TestSpawnerTurns(t *testing.T) {
	n, free := newSpawner(), make(chan struct{})
	n.begin.Do(func() { go n.serve() })
	n.requests <- func() { <-free }
	begin := func(ctx context.Context) <-chan error {
		told := make(chan error, 1)
		go func() {
			_, err := n.start(ctx, nil, nil)
			told <- err
		}()
		return told
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := begin(ctx)
	cancel()
	if err := <-told; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it waited: %v", err)
	}
	told = begin(t.Context())
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		n.close()
	}()
	if err := <-told; !errors.Is(err, errClosed) {
		t.Errorf("closed while it waited: %v", err)
	}
	close(free)
	<-closed
	if err := <-begin(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("after it was closed: %v", err)
	}
	n.close()
}

func TestSpawnerWithoutCaller(t *testing.T) {
	n := newSpawner()
	n.close()
	if _, err := n.start(t.Context(), nil, nil); !errors.Is(err, errClosed) {
		t.Errorf("after it was closed: %v", err)
	}
}
