package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// parallel calls do n times at the same time and reports every error.
func parallel(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			if err := do(i); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
}

func parallelUpdates(t *testing.T, s session.Store) {
	countUpdates(t, s, s)
}

// countUpdates updates one value through all stores at the same time. The stores share their
// content.
func countUpdates(t *testing.T, stores ...session.Store) {
	const goroutines, each = 64, 8
	parallel(t, goroutines, func(i int) error {
		for range each {
			if err := increment(t.Context(), stores[i%len(stores)], key); err != nil {
				return err
			}
		}
		return nil
	})
	for _, s := range stores {
		v := load(t, s, key)
		equal(t, "updates", string(v.Data), strconv.Itoa(goroutines*each))
		equal(t, "version", v.Version, int64(goroutines*each))
	}
}

func parallelFirstSave(t *testing.T, s session.Store) {
	for round := range 8 {
		var won atomic.Int32
		parallel(t, 16, func(i int) error {
			v := number(i)
			v.Version = int64(round)
			_, err := s.Save(t.Context(), key, v)
			if err == nil {
				won.Add(1)
			}
			if errors.Is(err, session.ErrConflict) {
				return nil
			}
			return err
		})
		equal(t, "saves that succeeded", won.Load(), int32(1))
	}
}

func parallelSessions(t *testing.T, s session.Store) {
	const n, each = 24, 6
	parallel(t, n, func(i int) error {
		k := core.SessionKey{Session: fmt.Sprint(i / 2), Agent: fmt.Sprint(i % 2)}
		for j := range each {
			text := fmt.Sprint(i, j)
			if err := s.Pin(t.Context(), k.Session, session.Digest(text), text); err != nil {
				return err
			}
			if err := increment(t.Context(), s, k); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range n {
		k := core.SessionKey{Session: fmt.Sprint(i / 2), Agent: fmt.Sprint(i % 2)}
		equal(t, "updates", string(load(t, s, k).Data), strconv.Itoa(each))
		for j := range each {
			text, err := s.Pinned(t.Context(), k.Session, session.Digest(fmt.Sprint(i, j)))
			equal(t, "pin", must(t, text, err), fmt.Sprint(i, j))
		}
	}
}

// parallelEnd ends a session while others write to it. Content from before the end must never
// have a version from after it. The content is a number that counts the saves, as Version does.
func parallelEnd(t *testing.T, s session.Store) {
	parallel(t, 8, func(i int) error {
		for range 12 {
			if i == 0 {
				if err := s.End(t.Context(), key.Session); err != nil {
					return err
				}
				continue
			}
			if err := s.Pin(t.Context(), key.Session, session.Digest("x"), "x"); err != nil {
				return err
			}
			k := core.SessionKey{Session: key.Session, Agent: fmt.Sprint(i % 3)}
			if err := incrementChecked(t.Context(), s, k); err != nil {
				return err
			}
		}
		return nil
	})
	ok(t, s.End(t.Context(), key.Session))
	agents, err := s.Agents(t.Context(), key.Session)
	equal(t, "agents after the end", len(must(t, agents, err)), 0)
	_, err = s.Pinned(t.Context(), key.Session, session.Digest("x"))
	is(t, err, session.ErrNotPinned)
}

// incrementChecked increments a number once, after a check that it equals the version.
func incrementChecked(ctx context.Context, s session.Store, k core.SessionKey) error {
	v, err := s.Load(ctx, k)
	if err != nil {
		return err
	}
	n, err := numberOf(v)
	if err == nil && int64(n) != v.Version {
		err = fmt.Errorf("version %d with number %d: content of an ended session", v.Version, n)
	}
	if err != nil {
		return err
	}
	next := number(n + 1)
	next.Version = v.Version
	if _, err = s.Save(ctx, k, next); errors.Is(err, session.ErrConflict) {
		return nil
	}
	return err
}
