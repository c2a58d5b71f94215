package view

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// countingSource has no skills. It counts its listings, and reports changes.
type countingSource struct {
	listed  atomic.Int64
	listing func(ctx context.Context) error // called by each listing, nil for none
	changed func()
}

func (s *countingSource) Scan(ctx context.Context, _ *source.Listing) (*source.Listing, error) {
	s.listed.Add(1)
	if s.listing != nil {
		if err := s.listing(ctx); err != nil {
			return nil, err
		}
	}
	return &source.Listing{}, nil
}

func (s *countingSource) Open(context.Context, string, string) (fs.FS, error) {
	return nil, source.ErrGone
}

func (s *countingSource) Notify(changed func()) (stop func()) {
	s.changed = changed
	return func() { s.changed = nil }
}

// listings checks the number of listings since the last check.
func (s *countingSource) listings(t *testing.T, when string, want int64) {
	t.Helper()
	synctest.Wait()
	if got := s.listed.Swap(0); got != want {
		t.Errorf("%s: %d listings, want %d", when, got, want)
	}
}

// followed returns the refresher of a catalog with the source.
func followed(t *testing.T, s *countingSource, log *slog.Logger) (r *Refresher, stop func() error) {
	t.Helper()
	skills, err := catalog.Open(t.Context(), []source.Root{source.From("counted", s)}, catalog.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = skills.Close() })
	r = NewRefresher(skills, &Reporter{Log: log, Agents: state.NewAgents(1)}, log)
	stop = r.Follow([]catalog.Source{s})
	s.listed.Store(0)
	return r, stop
}

// Changes that come together are followed by one refresh more, and none comes after stop.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &countingSource{}
		_, stop := followed(t, s, slog.New(slog.DiscardHandler))
		s.changed()
		s.changed()
		s.listings(t, "before the change is answered", 0)
		time.Sleep(refreshDelay)
		s.listings(t, "after it", 1)
		s.changed()
		s.changed()
		changed := s.changed
		s.listings(t, "at once", 0)
		time.Sleep(2 * (refreshPause + refreshDelay))
		s.listings(t, "after changes that came together", 1)
		if err := stop(); err != nil || s.changed != nil {
			t.Errorf("stopped: %v, reports still: %t", err, s.changed != nil)
		}
		changed()
		time.Sleep(2 * (refreshPause + refreshDelay))
		s.listings(t, "after the end", 0)
	})
}

// A source that reports nothing is not followed.
func TestFollowNothing(t *testing.T) {
	if err := NewRefresher(nil, nil, nil).Follow([]catalog.Source{nil})(); err != nil {
		t.Error(err)
	}
}

// Finish refreshes once for all changes before it, and the background then has nothing to do.
func TestFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &countingSource{}
		r, stop := followed(t, s, slog.New(slog.DiscardHandler))
		finish := func() {
			t.Helper()
			if err := r.Finish(t.Context()); err != nil {
				t.Error(err)
			}
		}
		finish()
		s.listings(t, "without a change", 0)
		s.changed()
		s.changed()
		for range 3 {
			finish()
		}
		s.listings(t, "after two changes", 1)
		s.changed() // in the pause of the background
		finish()
		s.listings(t, "after another change", 1)
		time.Sleep(3 * (refreshPause + refreshDelay))
		s.listings(t, "in the background", 0)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// Finish waits for a refresh that runs, but not longer than its context. A refresh whose
// context has ended does not count.
func TestFinishWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, released := make(chan struct{}, 10), make(chan struct{})
		s := &countingSource{}
		r, stop := followed(t, s, slog.New(slog.DiscardHandler))
		s.listing = func(ctx context.Context) error {
			begun <- struct{}{}
			select {
			case <-released:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		s.changed()
		canceled, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- r.Finish(canceled) }()
		<-begun
		waiting, cancelWaiting := context.WithCancel(t.Context())
		go func() { ended <- r.Finish(waiting) }()
		synctest.Wait()
		cancelWaiting()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a wait that was cancelled: %v", err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a refresh that was cancelled: %v", err)
		}
		go func() { ended <- r.Finish(t.Context()) }()
		<-begun // the change still counts
		go func() { ended <- r.Finish(t.Context()) }()
		synctest.Wait()
		if len(ended) != 0 {
			t.Error("a call did not wait for the refresh that runs")
		}
		close(released)
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		s.listings(t, "one that was cancelled, and one", 2)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// A failure is logged and not repeated before the next change. Calls go on with the skills that
// the catalog has.
func TestFinishFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &countingSource{}
		r, stop := followed(t, s, slog.New(slog.NewTextHandler(&log, nil)))
		if err := r.catalog.Close(); err != nil {
			t.Fatal(err)
		}
		s.changed()
		for range 2 {
			if err := r.Finish(t.Context()); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(3 * (refreshPause + refreshDelay))
		synctest.Wait()
		if n := strings.Count(log.String(), "the skills cannot be read again"); n != 1 {
			t.Errorf("%d lines: %s", n, log.String())
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
