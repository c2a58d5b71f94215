package fairqueue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/internal/fairqueue"
)

// TestTurns: a group that came first with many does not keep another waiting until all of its
// own have run.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fairqueue.New[struct{}](fairqueue.Limits{Places: 1}, nil)
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		for _, name := range []string{"a", "a", "a", "a", "b", "b"} {
			all.Go(func() {
				leave, err := q.Enter(t.Context(), name, struct{}{}, time.Hour, nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				time.Sleep(time.Second)
				leave()
				leave() // does nothing
			})
			synctest.Wait()
		}
		all.Wait()
		if want := []string{"a", "a", "b", "a", "b", "a"}; !slices.Equal(order, want) {
			t.Errorf("order %q, want %q", order, want)
		}
		if !q.IsEmpty() {
			t.Error("something is left")
		}
	})
}

// TestErrors has each error for its reason, and none of them leaves anything behind.
func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		differ := func(a, b string) bool { return a == b }
		q := fairqueue.New(fairqueue.Limits{Places: 1, Waiting: 2, GroupWaiting: 1}, differ)
		first, err := q.Enter(t.Context(), "a", "x", time.Hour, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Join("a", "y"); !errors.Is(err, fairqueue.ErrIncompatible) {
			t.Errorf("join beside another: %v", err)
		}
		joined, err := q.Join("a", "x")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Enter(t.Context(), "a", "y", time.Hour, nil); !errors.Is(err, fairqueue.ErrJoined) {
			t.Errorf("beside one that has joined: %v", err)
		}
		waited, waits := make(chan error, 2), 0
		for _, group := range []string{"a", "b"} {
			go func() {
				_, err := q.Enter(t.Context(), group, "x", time.Minute, func() { waits++ })
				waited <- err
			}()
			synctest.Wait()
		}
		if _, err := q.Enter(t.Context(), "c", "x", time.Hour, nil); !errors.Is(err, fairqueue.ErrFull) {
			t.Errorf("more than two wait: %v", err)
		}
		if running, waiting := q.Counts(); running != 1 || waiting != 2 || waits != 2 {
			t.Errorf("%d run, %d wait, %d were told", running, waiting, waits)
		}
		time.Sleep(time.Minute)
		for range 2 {
			if err := <-waited; !errors.Is(err, fairqueue.ErrTimeout) {
				t.Errorf("after a minute: %v", err)
			}
		}
		go func() {
			_, err := q.Enter(t.Context(), "a", "x", time.Hour, nil)
			waited <- err
		}()
		synctest.Wait()
		if _, err := q.Enter(t.Context(), "a", "x", time.Hour, nil); !errors.Is(err, fairqueue.ErrGroupFull) {
			t.Errorf("more than one of a group waits: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed while one has a place: %v", err)
		}
		if err := <-waited; !errors.Is(err, fairqueue.ErrClosed) {
			t.Errorf("waited when the queue was closed: %v", err)
		}
		if _, err := q.Join("b", "x"); !errors.Is(err, fairqueue.ErrClosed) {
			t.Errorf("join after Close: %v", err)
		}
		joined()
		first()
		if err := q.Close(t.Context()); err != nil || !q.IsEmpty() {
			t.Errorf("after all have left: %v", err)
		}
	})
}

// TestGivesUp: one that gives up no longer keeps others of its group waiting.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fairqueue.New(fairqueue.Limits{Places: 4}, func(a, b string) bool { return a == b })
		leave, err := q.Enter(t.Context(), "s", "x", time.Hour, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		go func() {
			_, err := q.Enter(t.Context(), "s", "alone", time.Second, nil)
			got <- err
		}()
		synctest.Wait()
		began := time.Now()
		second, err := q.Enter(t.Context(), "s", "x", time.Hour, nil)
		if err != nil || time.Since(began) != time.Second || !errors.Is(<-got, fairqueue.ErrTimeout) {
			t.Errorf("%v, after %v", err, time.Since(began))
		}
		second()
		leave()
		if !q.IsEmpty() {
			t.Error("something is left")
		}
	})
}

func Example() {
	ctx := context.Background()
	q := fairqueue.New[struct{}](fairqueue.Limits{Places: 2}, nil)
	leave, err := q.Enter(ctx, "acme", struct{}{}, time.Minute, func() { fmt.Println("waits") })
	fmt.Println(err)
	leave()
	fmt.Println(q.Close(ctx))
	// Output:
	// <nil>
	// <nil>
}
